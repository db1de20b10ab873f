"""How often the order that is best without privacy is chosen, against epsilon, for three utilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from chronodp.privacy import User
from chronodp.selection import (
    ChoiceMechanism,
    ClippedRegret,
    LeastSquares,
    MonotoneUtilities,
    Order,
    Utilities,
    Validation,
    design_choice,
    losses_of,
    probabilities,
    tally,
)

ORDERS = tuple(Order(*order) for order in ((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)))
LARGEST_ERROR = 5.0
REGRET = 0.05
HOLDOUT = 30

Floats = NDArray[np.float64]


def generated_people(people: int = 120, length: int = 150, seed: int = 1) -> list[Floats]:
    """Return series x_t = 1.1 x_{t-1} - 0.5 x_{t-2} + e_t: the right order is (2, 0, 0)."""
    shocks = np.random.default_rng(seed).normal(size=(people, length + 50))
    return list(lfilter([1.0], [1.0, -1.1, 0.5], shocks, axis=1)[:, 50:])


def people_losses(people: list[Floats]) -> Floats:
    """Return the losses of each person's own fits."""
    return losses_of(people, ORDERS, Validation(LeastSquares(), HOLDOUT, 1000, LARGEST_ERROR))


def utilities_of(losses: Floats) -> dict[str, Floats]:
    """Return what the orders are chosen by; all change by at most 1 with one person."""
    raw = (1 - np.minimum(losses, 1.0)).sum(axis=0)
    return {"raw loss": raw, "clipped regret": tally(losses, ClippedRegret(REGRET)), "votes": tally(losses)}


def accuracy(values: Floats, mechanism: ChoiceMechanism, epsilon: float, *, replaced: bool = False) -> float:
    """Return the probability that the candidate with the largest utility is chosen, computed and not simulated."""
    names = tuple(str(order) for order in ORDERS)
    unit = User(relation="replace") if replaced else User()
    design = design_choice(mechanism, names, unit=unit, change=1.0, monotone=not replaced, epsilon=epsilon)
    bounded = Utilities(values, change=1.0) if replaced else MonotoneUtilities(values, change=1.0)
    return float(probabilities(design, bounded)[int(np.argmax(values))])
