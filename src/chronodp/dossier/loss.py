"""What one person has lost in all, by the sums that the ledger keeps.

The promise is the opened budget, whoever asks and in whatever order. What is spent so far is read from the same sums by
the same theorems; it is a bound of its own where no price was chosen by looking at earlier answers ("Deciding" of
``docs/explanation/proofs/ledger.md``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from chronodp.accounting import gaussian
from chronodp.ledger import ORDERS, Status

__all__ = ["Loss", "loss_of"]

_UP = 1 + 1e-12  # more than a few roundings of floats can take away
_RESERVED = "reserved delta"
_LAPLACE_ONLY = "epsilon without Gaussian noise"


@dataclass(frozen=True, slots=True)
class Loss:
    """What one unit has lost so far, and what it can lose at most.

    Attributes:
        epsilon: so far; infinite where no sum stayed within what can be converted.
        delta: at which.
        theorem: by which the sums were converted.
        most: the (epsilon, delta) that the budget holds to whatever is still asked; None for one that renews, where
            every further period adds to it.
        note: when the first two are a bound by themselves.
    """

    epsilon: float
    delta: float
    theorem: str
    most: tuple[float, float] | None
    note: str

    def __str__(self) -> str:
        return f"({self.epsilon:.4g}, {self.delta:.3g})" if self.delta else f"{self.epsilon:.4g}"


def loss_of(statuses: Sequence[Status]) -> Loss:
    """Return the loss that the statuses of one dataset add up to.

    Args:
        statuses: of the whole budget, one for each period of one that renews, and of every part that the whole does not
            pay for.
    """
    by_payer: dict[str, list[Status]] = {}
    for status in statuses:
        by_payer.setdefault(status.analyst, []).append(status)
    parts = [_spent(some) for some in by_payer.values()]
    epsilon = math.fsum(part[0] for part in parts)
    delta = min(1.0, math.fsum(part[1] for part in parts))
    theorem = "; ".join(dict.fromkeys(part[2] for part in parts))
    if len(parts) > 1:
        theorem += "; parts that the whole does not pay for, by basic composition"
    budget = statuses[0].budget
    forever = all(status.budget.renews is None for status in statuses)
    terms = [some[0].budget for some in by_payer.values()]
    most = (math.fsum(one.epsilon for one in terms), min(1.0, math.fsum(one.delta for one in terms)))
    return Loss(epsilon, delta, theorem, most if forever else None, _note(budget.rule))


def _spent(statuses: Sequence[Status]) -> tuple[float, float, str]:
    """Return (epsilon, delta, theorem) of one payer over all of its periods."""
    budget = statuses[0].budget
    names = [part.name for part in statuses[0].sums]
    sums = {
        name: math.fsum(part.spent for status in statuses for part in status.sums if part.name == name)
        for name in names
        if all(any(part.name == name for part in status.sums) for status in statuses)
    }
    reserved = sums.pop(_RESERVED, 0.0)
    native = budget.delta - (budget.reserve or 0.0)
    if not any(sums.values()):
        return 0.0, reserved, "nothing was spent" if not reserved else "deltas add up (basic composition)"
    if budget.rule == "pure":
        return sums["epsilon"], reserved, "epsilons add up (basic composition)"
    ways: list[tuple[float, float, str]] = []
    if _LAPLACE_ONLY in sums:
        ways.append((sums[_LAPLACE_ONLY], reserved, "epsilons add up (basic composition)"))
    if "mu squared" in sums:
        value = gaussian.epsilon_of(math.sqrt(sums["mu squared"] * _UP), native)
        ways.append((value, native + reserved, "μ² adds up, converted exactly (Gaussian differential privacy)"))
    for order in ORDERS:
        if (divergence := sums.get(f"divergence of order {order}")) is not None:
            value = (divergence + math.log(1 / native) / (order - 1)) * _UP
            ways.append((value, native + reserved, f"divergences of order {order} add up (Rényi)"))
    return min(ways, key=lambda way: way[0], default=(math.inf, 1.0, "no sum stayed within what can be converted"))


def _note(rule: str | None) -> str:
    if rule == "pure":
        return "Epsilons that add up are a bound whatever was asked, and in whatever order."
    return (
        "A bound by itself where no price was chosen by looking at earlier answers; the budget's own terms hold in "
        "any case."
    )
