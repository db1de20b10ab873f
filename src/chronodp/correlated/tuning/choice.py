"""What tuning weighs and returns: an age, a noise, what they leak, what they cost in error, and what to make of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.exact import Adversary
from chronodp.correlated.leakage_model import LeakageModel, Released
from chronodp.correlated.query import QueryTable

__all__ = ["Objective", "Tuned", "certified_leakage", "notes_on"]

Objective: TypeAlias = Callable[[LeakageModel, QueryTable, NDArray[np.int64], float], float]
"""What is made small: from the model, the query, ages and ε_C."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """The ages and the noise with the least leakage about the present among those within an error.

    Attributes:
        ages: one a sequence.
        epsilon: of each release (ε_C).
        leakage: about the present, by the objective that was made small; certified unless told otherwise.
        record: about the released record: ε_C.
        error: mean squared error of the answer as an answer about the present.
        stale: the part of it that is due to age.
        notes: whether ageing helped, and whether a constant would do.
    """

    ages: tuple[int, ...]
    epsilon: float
    leakage: float
    record: float
    error: float
    stale: float
    notes: tuple[str, ...]

    def __str__(self) -> str:
        old = f"age {self.ages[0]}" if len(set(self.ages)) == 1 else f"ages {min(self.ages)} to {max(self.ages)}"
        text = (
            f"{old}, ε_C = {self.epsilon:.4g}: {self.leakage:.4g} about the present, {self.record:.4g} about the record"
        )
        return "; ".join([text, *self.notes])


def certified_leakage(adversary: Adversary = "knows_others") -> Objective:
    """Return the objective that tuning uses: leakage about the present, certified."""

    def measure(gauge: LeakageModel, outputs: QueryTable, ages: NDArray[np.int64], epsilon: float) -> float:
        return gauge.certify_quickly(Released(outputs, ages, epsilon), adversary)[0]

    return measure


def notes_on(choice_ages: tuple[int, ...], *, variance: float, error: float) -> tuple[str, ...]:
    """Return what a data owner should know about a choice."""
    notes = []
    if error >= variance:
        notes.append(
            f"a constant would do: the mean of the query, which is public, errs by {variance:.4g} and reveals nothing"
        )
    if not any(choice_ages):
        notes.append("ageing does not help here")
    elif error > 2 * variance - 1e-12 and math.isfinite(variance):
        notes.append("so much error is allowed that ages which tell nothing of the present keep it: try older ones")
    return tuple(notes)
