"""What a model predicts of a person, and how wrong it was: one number a person, whatever is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.federated.models.inputs import Column
from chronodp.privacy import as_numbers, check_fraction, check_whole, document, settle

if TYPE_CHECKING:
    import torch

__all__ = ["Forecast", "Outcome", "Risk", "loss_of", "slope_of"]


@document("risk")
@dataclass(frozen=True, slots=True)
class Risk:
    """One thing that happens to a person or does not: 1, 0, or not known.

    Attributes:
        prevalence: a public guess of how many it happens to. Training weighs people so that both outcomes count alike.
    """

    prevalence: float = 0.5

    def __post_init__(self) -> None:
        settle(self, prevalence=check_fraction("prevalence", self.prevalence))

    @property
    def width(self) -> int:
        """How many numbers a model answers with."""
        return 1

    def prepare(self, targets: ArrayLike) -> NDArray[np.float32]:
        """Return (people, 1) of zeros and ones; what is neither counts as not known."""
        numbers = as_numbers("targets", targets, "one number a person").astype(np.float64)
        if numbers.ndim != 1:
            raise InvalidArgument("targets", targets, "one number a person", private=True)
        known = np.where((numbers == 0) | (numbers == 1), numbers, np.nan)
        return known.astype(np.float32)[:, None]


@document("forecast")
@dataclass(frozen=True, slots=True)
class Forecast:
    """The next ``horizon`` values of one column."""

    column: Column
    horizon: int

    def __post_init__(self) -> None:
        if not isinstance(self.column, Column):
            raise InvalidArgument("column", self.column, "a Column")
        check_whole("horizon", self.horizon)

    @property
    def width(self) -> int:
        """How many numbers a model answers with."""
        return self.horizon

    def prepare(self, targets: ArrayLike) -> NDArray[np.float32]:
        """Return (people, horizon) of scaled values; what is not a number stays so and counts for nothing."""
        allowed = f"numbers of the shape (people, {self.horizon})"
        numbers = as_numbers("targets", targets, allowed).astype(np.float64)
        if numbers.ndim != 2 or numbers.shape[1] != self.horizon:
            raise InvalidArgument("targets", targets, allowed, private=True)
        return self.column.scaled(numbers).astype(np.float32)


Outcome: TypeAlias = Risk | Forecast


def loss_of(outcome: Outcome, answers: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the loss of one person, or of several along the first axis: the mean over what is known, 0 if nothing is.

    Cross-entropy for a risk; half the squared error for a forecast.
    """
    import torch

    known = ~torch.isnan(targets)
    filled = torch.where(known, targets, 0.0)
    match outcome:
        case Risk(prevalence):
            each = _weights(prevalence, filled) * (
                torch.clamp(answers, min=0) - answers * filled + torch.log1p(torch.exp(-torch.abs(answers)))
            )
        case Forecast():
            each = (answers - filled) ** 2 / 2
        case never:
            assert_never(never)
    counted = torch.where(known, each, 0.0).sum(-1)
    return counted / known.sum(-1).clamp(min=1)


def slope_of(outcome: Outcome, answers: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return how the sum of `loss_of` changes with each answer, by its formula, which takes less time than a pass back.

    The slope of log(1 + e^a) - a y in a is 1 / (1 + e^-a) - y, and that of (a - y)^2 / 2 is a - y.
    """
    import torch

    known = ~torch.isnan(targets)
    match outcome:
        case Risk(prevalence):
            # Not torch.sigmoid: it takes another exponential for the last few of an array than for the others.
            chances = 1 / (1 + torch.exp(-answers))
            each = _weights(prevalence, targets) * (chances - targets)
        case Forecast():
            each = answers - targets
        case never:
            assert_never(never)
    return torch.where(known, each, 0.0) / known.sum(-1, keepdim=True).clamp_(min=1)


def _weights(prevalence: float, targets: torch.Tensor) -> torch.Tensor:
    """Return each person's weight, by which both outcomes count alike."""
    import torch

    return torch.where(targets == 1, 0.5 / prevalence, 0.5 / (1 - prevalence))
