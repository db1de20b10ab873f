"""What native sums amount to in what people ask in: an epsilon, at the part of the budget's delta that is not reserved.

For readers: what is granted is decided by the sums themselves. As each is converted by a function that rises, a price
is above what is left of a sum here where it is there. "What is spent so far" in ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from chronodp.accounting import gaussian
from chronodp.ledger.filters import CAP, ORDERS, Amounts, Filter

__all__ = ["Told", "apart", "in_epsilon", "open_sums", "tell"]

_UP = 1 + 1e-12  # over what sums lose when they are written as floats
_DOWN = 1 - 1e-9  # so that what is said to fit does, also after noise was found for it


@dataclass(frozen=True, slots=True)
class Told:
    """What is spent and left of a budget, in what people ask in.

    Attributes:
        name: what is counted: an epsilon at a delta, or the delta that is reserved.
        spent: what all charges together amount to; informative, as the guarantee is the limit.
        limit: what the budget allows.
        left: what may still come, by itself.
        adds: whether amounts simply add up. Epsilons of noise add up to less than their sum, so that what is spent and
            what is left are together more than the limit.
    """

    name: str
    spent: float
    limit: float
    left: float
    adds: bool

    def __str__(self) -> str:
        name, _, at = self.name.partition(" at ")
        spent = f"{name} {self.spent:.4g} of {self.limit:.4g} spent{f' at {at}' if at else ''}"
        return f"{spent}, {self.left:.4g} left" if self.adds else f"{spent}; one more of up to {self.left:.4g} fits"


def tell(rule: Filter, spent: Amounts, places: tuple[int, ...]) -> Told:
    """Return what is spent and left, each by the sum, of those at some places, that says most for the budget."""
    quanta = [(place, spent[place], max(0, rule.ceilings[place] - spent[place])) for place in places]
    used = min(in_epsilon(rule, place, amount) for place, amount, _ in quanta)
    left = max(in_epsilon(rule, place, amount) for place, _, amount in quanta)
    if rule.kind != "pure":
        left = min(left * _DOWN, rule.epsilon)
    within = any(spent[place] <= rule.ceilings[place] for place in places)
    pure = rule.kind == "pure"
    return Told(
        name="epsilon" if pure else f"epsilon at delta {_native(rule):g}",
        spent=min(used, rule.epsilon) if within else used,
        limit=rule.epsilon,
        left=left,
        adds=pure,
    )


def open_sums(rule: Filter, spent: Amounts) -> tuple[int, ...]:
    """Return which native sums can still decide, by their places."""
    limited = tuple(place for place, most in enumerate(rule.ceilings[:-1]) if most > 0)
    # What can never fit again, since its sum ran over, is not worth a line.
    return tuple(place for place in limited if spent[place] < CAP) or limited


@lru_cache(maxsize=4096)  # by the sums themselves: pages ask while nothing is spent
def in_epsilon(rule: Filter, place: int, quanta: int) -> float:
    """Return about the epsilon that so much of a sum amounts to by itself, from above; 0 for nothing."""
    amount = rule.components[place].value(quanta)
    if not quanta or rule.kind == "pure" or (rule.kind == "gaussian" and place == 1):
        return amount
    if rule.kind == "gaussian":
        return gaussian.epsilon_of(math.sqrt(amount * _UP), _native(rule))
    return (amount - math.log(_native(rule)) / (ORDERS[place] - 1)) * _UP


def apart(asked: float, left: float) -> tuple[str, str]:
    """Return two amounts with as many digits as tell them apart, and at most all."""
    pairs = [(f"{asked:.{digits}g}", f"{left:.{digits}g}") for digits in (6, 9, 12, 15, 17)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[-1])


def _native(rule: Filter) -> float:
    return rule.delta - rule.reserve
