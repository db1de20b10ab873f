"""How one price is split among the private steps of a release: choices, the numbers themselves, figures beside them.

"One price" in ``docs/explanation/proofs/finding.md``: all parts are fixed before any data is read, so the debit is the
same whatever is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal

from scipy.special import log_ndtr

from chronodp.accounting import gaussian
from chronodp.postprocess import Law
from chronodp.privacy import (
    BoundedRangeCost,
    Cost,
    GaussianCost,
    PureCost,
    SequenceCost,
    decimal_value,
    document,
)

__all__ = ["Split", "split_price"]

_DIGITS = 6  # of a choice's epsilon: short numbers in certificates, and what is cut off goes to the noise
_MARGIN = 1e-12  # relative, of noise that `calibrated` makes wider; a part's claim stays above what it costs


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
    """

    law: Law
    noise: float
    choices: tuple[float, ...] = ()
    figures: tuple[float, ...] = ()

    @property
    def cost(self) -> Cost:
        """What all steps cost together, whatever they turn out to be."""
        if self.law == "laplace":
            return SequenceCost(tuple(PureCost(part) for part in (*self.choices, *self.figures, self.noise)))
        choices = tuple(BoundedRangeCost(part) for part in self.choices)
        # Relative noise: one unit moves the numbers by 1 of their sensitivity, whichever bounds that follows from.
        noises = (GaussianCost(1.0, (1 + _MARGIN / 2) / part) for part in (*self.figures, self.noise))
        return SequenceCost((*choices, *noises))


def split_price(epsilon: float, delta: float, *, choices: Sequence[float] = (), figures: Sequence[float] = ()) -> Split:
    """Return the split in which choices and figures have these parts of the price, and the numbers the rest.

    >>> split = split_price(1.0, 1e-6, choices=[0.05])
    >>> split.choices, round(split.noise / 0.236705, 4)
    ((0.0844646,), 0.9747)
    """
    if not delta:
        small = [_down(Decimal(str(part)) * Decimal(str(epsilon))) for part in (*choices, *figures)]
        left = decimal_value(epsilon) - sum(map(decimal_value, small))
        noise = math.nextafter(float(left), 0.0)
        return Split("laplace", noise, tuple(small[: len(choices)]), tuple(small[len(choices) :]))
    whole = gaussian.mu_for(epsilon, delta)
    chosen = tuple(_range_of(whole * math.sqrt(part)) for part in choices)
    beside = tuple(_down(Decimal(whole * math.sqrt(part))) for part in figures)
    spent = math.fsum([*(gaussian.mu_of_bounded(part / 2) ** 2 for part in chosen), *(part**2 for part in beside)])
    return Split("gaussian", math.sqrt(whole**2 - spent) * (1 - _MARGIN), chosen, beside)


def _range_of(mu: float) -> float:
    """Return the epsilon of a choice that costs mu: 2 Φ⁻¹(1 / (1 + e^(-epsilon / 2))) = mu, rounded down."""
    return _down(Decimal(2 * float(log_ndtr(mu / 2) - log_ndtr(-mu / 2))))


def _down(value: Decimal) -> float:
    return float(value.quantize(Decimal(1).scaleb(value.adjusted() - _DIGITS + 1), rounding=ROUND_FLOOR))
