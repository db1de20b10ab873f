"""How one price is split among the private steps of a release: choices, the numbers themselves, figures beside them.

"One price" in ``docs/explanation/proofs/finding.md``: all parts are fixed before any data is read, so the debit is the
same whatever is chosen, and whichever keys are found.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction

from scipy.special import log_ndtr

from chronodp.accounting import gaussian
from chronodp.postprocess import Law
from chronodp.privacy import (
    LATER,
    BoundedRangeCost,
    Cost,
    GaussianCost,
    PureCost,
    SequenceCost,
    decimal_value,
    document,
)
from chronodp.selection.keys import OptimalRule, PublishedCounts, Rounds

__all__ = ["KeysAsked", "Split", "choice_price", "choice_prices", "numbers_within", "split_price"]

_DIGITS = 6  # of a choice's epsilon: short numbers in certificates, and what is cut off goes to the noise
_MARGIN = 1e-12  # relative, of noise that `calibrated` makes wider; a part's claim stays above what it costs


@dataclass(frozen=True, slots=True)
class KeysAsked:
    """How keys are to be found.

    Attributes:
        share: the part of the price; 0 where the numbers decide themselves.
        delta: the probability that a key of one unit alone is published.
        held: how many keys of a unit's block count at most.
        blocks: how many blocks one unit can change.
        replace: whether a unit is replaced, and does not only come or go.
    """

    share: float
    delta: float
    held: int
    blocks: int
    replace: bool


@document("split")
@dataclass(frozen=True, slots=True)
class Split:
    """What each private step of one release costs.

    Attributes:
        law: of all noise; choices are drawn by the exponential mechanism beside Gaussian noise, by permute-and-flip
            beside Laplace's.
        noise: what is left for the released numbers: mu of Gaussian noise, an epsilon of Laplace's.
        choices: epsilon of each choice, in order.
        figures: what each figure beside the numbers may cost, mu or epsilon as the law is.
        keys: what decides which keys are published, where they are found; its cost comes first.
    """

    law: Law
    noise: float
    choices: tuple[float, ...] = ()
    figures: tuple[float, ...] = ()
    keys: Rounds | OptimalRule | PublishedCounts | None = field(default=None, metadata=LATER)

    @property
    def finding(self) -> str:
        """How keys are found, in words; empty where all were declared."""
        if isinstance(self.keys, Rounds):
            rounds = len(self.keys.rounds)
            return f"{'one round' if rounds == 1 else f'{rounds} rounds'} of weighted counts with Gaussian noise"
        if isinstance(self.keys, PublishedCounts):
            return "the published counts themselves, from a threshold on"
        return "" if self.keys is None else "the optimal rule of a count of people"

    @property
    def cost(self) -> Cost:
        """What all steps cost together, whatever they turn out to be."""
        found = () if self.keys is None else (self.keys.cost,)
        if self.law == "laplace":
            pure = tuple(PureCost(part) for part in (*self.choices, *self.figures, self.noise))
            return SequenceCost((*found, *pure))
        choices = tuple(BoundedRangeCost(part) for part in self.choices)
        # Relative noise: one unit moves the numbers by 1 of their sensitivity, whichever bounds that follows from.
        noises = (GaussianCost(1.0, (1 + _MARGIN / 2) / part) for part in (*self.figures, self.noise))
        return SequenceCost((*found, *choices, *noises))


def split_price(
    epsilon: float,
    delta: float,
    *,
    choices: Sequence[float] = (),
    figures: Sequence[float] = (),
    keys: KeysAsked | None = None,
) -> Split:
    """Return the split in which choices and figures have these parts of the price, and the numbers the rest.

    Where keys are found, what a key of one unit alone is published with is taken from delta first; without a delta it
    stands beside epsilon.

    >>> split = split_price(1.0, 1e-6, choices=[0.05])
    >>> split.choices, round(split.noise / 0.236705, 4)
    ((0.0844646,), 0.9747)
    """
    if not delta:
        return _split_pure(epsilon, choices, figures, keys)
    # The failure adds to delta, in the numbers as written: the float is rounded down.
    left = delta if keys is None else _float_below(decimal_value(delta) - decimal_value(keys.delta))
    whole = gaussian.mu_for(epsilon, left)
    rule: Rounds | PublishedCounts | None = None
    found = 0.0
    if keys is not None and not keys.share:
        rule = _published(keys)
    elif keys is not None:
        mu = _down(Decimal(whole * math.sqrt(keys.share)))
        rule = Rounds(mu, keys.delta, keys.held, blocks=keys.blocks, replace=keys.replace)
        found = mu**2 * (1 + _MARGIN)
    chosen = choice_prices("gaussian", whole, choices)
    beside = tuple(_down(Decimal(whole * math.sqrt(part))) for part in figures)
    spent = math.fsum([*(gaussian.mu_of_bounded(part / 2) ** 2 for part in chosen), *(part**2 for part in beside)])
    return Split("gaussian", math.sqrt(whole**2 - spent - found) * (1 - _MARGIN), chosen, beside, rule)


def choice_price(epsilon: float, delta: float, count: int) -> float:
    """Return epsilon of each of so many choices that cost (epsilon, delta) together: of bounded range with a delta.

    >>> choice_price(1.0, 0.0, 4), choice_price(1.0, 1e-6, 4)
    (0.25, 0.188892)
    """
    if not delta:
        return _down(Decimal(str(epsilon)) / count)
    return _range_of(gaussian.mu_for(epsilon, delta) * (1 - _MARGIN) / math.sqrt(count))


def _split_pure(epsilon: float, choices: Sequence[float], figures: Sequence[float], keys: KeysAsked | None) -> Split:
    shares = [*choices, *figures, *(() if keys is None or not keys.share else (keys.share,))]
    small = choice_prices("laplace", epsilon, shares)
    left = decimal_value(epsilon) - sum(map(decimal_value, small))
    noise = math.nextafter(float(left), 0.0)
    beside = tuple(small[len(choices) : len(choices) + len(figures)])
    rule: OptimalRule | PublishedCounts | None = None
    if keys is not None and not keys.share:
        rule = _published(keys)
    elif keys is not None:
        # One key at a time, each as its own release: replacing takes some and brings others.
        held = keys.held * keys.blocks * (2 if keys.replace else 1)
        rule = OptimalRule(small[-1], keys.delta, held)
    return Split("laplace", noise, tuple(small[: len(choices)]), beside, rule)


def choice_prices(law: Law, whole: float, shares: Sequence[float]) -> tuple[float, ...]:
    """Return the epsilons of choices that have these parts of a whole, which is mu or an epsilon as the law is."""
    if law == "gaussian":
        return tuple(_range_of(whole * math.sqrt(part)) for part in shares)
    return tuple(_down(Decimal(str(part)) * Decimal(str(whole))) for part in shares)


def numbers_within(law: Law, whole: float) -> Split:
    """Return a split in which numbers have all of a whole, mu or an epsilon; what chose their bounds is paid elsewhere.

    Its cost is of relative noise, and so the same whichever bounds were found.
    """
    return Split(law, whole * (1 - _MARGIN) if law == "gaussian" else math.nextafter(whole, 0.0))


def _published(keys: KeysAsked) -> PublishedCounts:
    return PublishedCounts(keys.delta, keys.held, keys.blocks, keys.replace)


def _float_below(exact: Fraction) -> float:
    nearest = float(exact)
    return nearest if Fraction(nearest) <= exact else math.nextafter(nearest, 0.0)


def _range_of(mu: float) -> float:
    """Return the epsilon of a choice that costs mu: 2 Φ⁻¹(1 / (1 + e^(-epsilon / 2))) = mu, rounded down."""
    return _down(Decimal(2 * float(log_ndtr(mu / 2) - log_ndtr(-mu / 2))))


def _down(value: Decimal) -> float:
    return float(value.quantize(Decimal(1).scaleb(value.adjusted() - _DIGITS + 1), rounding=ROUND_FLOOR))
