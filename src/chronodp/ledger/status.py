"""What is spent and what is left, told so that nobody takes it for the guarantee."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache

from chronodp.display import shown, shown_html
from chronodp.ledger.budget import Budget
from chronodp.ledger.filters import Amounts, Filter
from chronodp.ledger.in_epsilon import Told, open_sums, tell
from chronodp.ledger.outlook import Outlook, look_ahead
from chronodp.privacy import Cost, GaussianCost, LaplaceCost, PureCost, counted

__all__ = ["NativeSum", "Status", "make_status", "share_of"]

_RESERVED = "reserved delta"
_PARAMETERS = (1e-9, 1e9)
_NEAR = 1e-6
_GUESSES = 16


@dataclass(frozen=True, slots=True)
class NativeSum:
    """One running sum of a budget, in its own measure."""

    name: str
    spent: float
    limit: float

    @property
    def left(self) -> float:
        """What remains."""
        return max(0.0, self.limit - self.spent)


@dataclass(frozen=True, slots=True, repr=False)
class Status:
    """A budget as it stands.

    Attributes:
        dataset: whose budget.
        analyst: whose part; empty for the whole.
        period: of a budget that renews; empty otherwise.
        budget: its terms; they are the guarantee.
        charges: how many were granted.
        sums: native sums; by the Renyi rule only one of them has to stay within its limit.
        share: how much of the budget is used, from 0 to 1, by the sum that has most left.
        largest_pure: the largest epsilon that still fits in one charge, None if none does.
        smallest_laplace: the smallest Laplace scale that still fits at l1 sensitivity 1.
        smallest_sigma: the smallest Gaussian sigma that still fits at l2 sensitivity 1.
        unreleased: requests that were debited and never released.
        outlook: how long it lasts if it goes on being spent as it was.
        told: what is spent and left in what people ask in: an epsilon at the budget's delta, and the delta reserved.
    """

    dataset: str
    analyst: str
    period: str
    budget: Budget
    charges: int
    sums: tuple[NativeSum, ...]
    share: float
    largest_pure: float | None
    smallest_laplace: float | None
    smallest_sigma: float | None
    unreleased: tuple[str, ...]
    outlook: Outlook
    told: tuple[Told, ...] = ()

    @property
    def guarantee(self) -> str:
        """What is promised, whatever is spent so far."""
        text = f"The guarantee is the opened one: {self.budget}. It is the promise, whatever was spent so far."
        if self.analyst and self.budget.collusion == "excluded":
            text += " It holds against each analyst alone, assuming that analysts do not pool what they learn."
        elif self.analyst:
            text += " Analysts may pool what they learn: this part is charged to the whole as well."
        return text

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {
            "dataset": self.dataset,
            "analyst": self.analyst or None,
            "period": self.period or None,
            "guarantee": self.guarantee,
            "lifetime": self.budget.lifetime,
            "epsilon": self.budget.epsilon,
            "delta": self.budget.delta,
            "rule": self.budget.rule,
            "charges": self.charges,
            "share": self.share,
            "told": [asdict(part) for part in self.told],
            "sums": [{**asdict(part), "left": part.left} for part in self.sums],
            "largest_pure": self.largest_pure,
            "smallest_laplace": self.smallest_laplace,
            "smallest_sigma": self.smallest_sigma,
            "unreleased": list(self.unreleased),
            "outlook": self.outlook.to_dict(),
        }

    def __repr__(self) -> str:
        part = f", analyst={self.analyst!r}" if self.analyst else ""
        told = "; ".join(map(str, self.told))
        return f"Status({self.dataset!r}{part}: {counted(self.charges, 'charge')}; {told})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: how much is used as a bar, then the same in words."""
        said = "".join(f"<li>{shown_html(line)}</li>" for line in str(self).splitlines())
        return f"<div><p><b>{shown_html(self.dataset)}</b></p>{self.bar()}{self.outlook.picture()}<ul>{said}</ul></div>"

    def bar(self) -> str:
        """Return how much is used as HTML."""
        used = min(1.0, max(0.0, self.share))
        return (
            f'<div role="img" aria-label="{used:.1%} used" style="max-width:480px;border:1px solid currentColor">'
            f'<div style="width:{100 * used:.1f}%;height:12px;background:currentColor;opacity:0.5"></div></div>'
        )

    def __str__(self) -> str:
        # Of noise epsilon grows more slowly than what it uses up: both shares side by side would contradict each other.
        adds = all(part.adds for part in self.told)
        used = f"{self.share:.1%} used" if adds else f"{self.share:.1%} of what it can pay for is used"
        lines = [self.guarantee, self.budget.lifetime, f"{counted(self.charges, 'charge')}, {used}."]
        lines += [f"{part}." for part in self.told]
        if self.largest_pure is None:
            lines.append("Nothing fits any more.")
        else:
            lines.append(
                f"One more release of up to pure ε {self.largest_pure:.4g} fits (Laplace scale "
                f"{self.smallest_laplace:.4g} a unit)."
            )
        if self.smallest_sigma is not None:
            lines.append(f"Or one with Gaussian noise of σ {self.smallest_sigma:.4g} a unit.")
        lines.append(self.outlook.words)
        lines += [f"Debited but never released: {shown(request)}" for request in self.unreleased]
        return "\n".join(lines)


def make_status(
    budget: Budget,
    spent: Amounts,
    charges: int,
    *,
    dataset: str,
    analyst: str,
    period: str,
    unreleased: tuple[str, ...],
    since: dt.date | None,
    today: dt.date,
) -> Status:
    """Return the status of an account from its native sums."""
    rule = budget.filter
    sums, places = [], open_sums(rule, spent)
    told = [tell(rule, spent, places)]
    for place in places:
        part = rule.components[place]
        sums.append(NativeSum(part.name, part.value(spent[place]), part.value(rule.ceilings[place])))
    if rule.reserve:
        sums.append(NativeSum(_RESERVED, rule.reserved.value(spent[-1]), rule.reserve))
        told.append(Told(_RESERVED, sums[-1].spent, sums[-1].limit, sums[-1].left, adds=True))
    least = _least(rule, spent, _pure)
    share = share_of(rule, spent)
    reserved = sum(part.spent / part.limit for part in sums if part.name == _RESERVED)
    return Status(
        dataset=dataset,
        analyst=analyst,
        period=period,
        budget=budget,
        charges=charges,
        sums=tuple(sums),
        share=share,
        largest_pure=None if least is None else 1 / least,
        smallest_laplace=_least(rule, spent, _laplace),
        smallest_sigma=None if budget.rule == "pure" else _least(rule, spent, _gaussian),
        unreleased=unreleased,
        told=tuple(told),
        outlook=look_ahead(budget, share=share, reserved=reserved, charges=charges, since=since, today=today),
    )


def share_of(rule: Filter, spent: Amounts) -> float:
    """Return how much of a budget is used, from 0 to 1, by the sum that has most left."""
    return min(1.0, *(spent[place] / rule.ceilings[place] for place in open_sums(rule, spent)))


def _pure(strength: float) -> Cost:
    return PureCost(1 / strength)


def _laplace(scale: float) -> Cost:
    return LaplaceCost(1.0, scale)


def _gaussian(sigma: float) -> Cost:
    return GaussianCost(1.0, sigma)


@lru_cache(maxsize=1024)  # by what was read of the account, never by when: pages ask while nothing is spent
def _least(rule: Filter, spent: Amounts, cost_at: Callable[[float], Cost]) -> float | None:
    """Return the least parameter, to six digits, whose cost still fits.

    It was put to the test, and so was one just below it, which does not fit. In between stand guesses: amounts are
    nearly powers of the parameter, so that a line through two of their logarithms soon tells where they are what is
    left.
    """
    low, high = _PARAMETERS
    tried: list[tuple[float, float]] = []
    while not tried or high / low > 1 + _NEAR:
        guess = _guess(tried[-2:], low, high)
        # Where guesses lead nowhere, halving does.
        value = guess if low < guess <= high and len(tried) < _GUESSES else math.sqrt(low * high)
        amounts = rule.amounts(cost_at(value))
        low, high = (low, value) if rule.admits(spent, amounts) else (value, high)
        if low == high:
            return None
        tried.append((math.log(value), math.log(rule.fullness(spent, amounts))))
    return high


def _guess(tried: Sequence[tuple[float, float]], low: float, high: float) -> float:
    """Return about where amounts are what is left, by the two parameters tried last; 0 where these do not tell."""
    if not tried:
        return high  # nothing fits if this does not
    (one, there), (other, here) = tried[0], tried[-1]
    slope = (here - there) / (other - one) if other != one else -2.0
    if not -4 <= slope <= -0.25:  # amounts stop at a cap
        return 0.0
    meets = other - here / slope
    # A little to the side that is farther off: once the guess is near, both ends close in on it.
    aside = 0.4 * _NEAR * (1 if math.log(high) - meets > meets - math.log(low) else -1)
    return math.exp(min(max(meets + aside, math.log(low)), math.log(high)))
