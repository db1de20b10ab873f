"""Models for series as they are designed: what they read, what they predict, and how. All of it is public.

Fixed before any data is seen. The networks themselves, which need torch, are in `chronodp.federated.networks`.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.extras import check_extra
from chronodp.privacy import as_numbers, check_fraction, check_number, check_whole, document, dump, settle

if TYPE_CHECKING:
    import torch
    from torch import nn

__all__ = [
    "Architecture",
    "Column",
    "Convolution",
    "Forecast",
    "Inputs",
    "Linear",
    "ModelDesign",
    "Outcome",
    "Recurrent",
    "Risk",
    "loss_of",
    "slope_of",
]


@document("model_column")
@dataclass(frozen=True, slots=True)
class Column:
    """A measured quantity with public bounds: values outside count as the nearest bound."""

    name: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidArgument("name", self.name, "a text that is not empty")
        lower, upper = check_number("lower", self.lower), check_number("upper", self.upper)
        if not lower < upper:
            raise InvalidArgument("upper", self.upper, f"above lower, {lower:g}")

    def scaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values with the bounds at -1 and 1; what is not a number stays so."""
        half = (self.upper - self.lower) / 2
        moved: NDArray[np.float64] = (np.clip(values, self.lower, self.upper) - self.lower) / half - 1
        return moved

    def unscaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what `scaled` made, in the column's own unit."""
        back: NDArray[np.float64] = (values + 1) * ((self.upper - self.lower) / 2) + self.lower
        return back


@document("model_inputs")
@dataclass(frozen=True, slots=True)
class Inputs:
    """The columns that a model reads, over the last ``length`` periods of a person.

    >>> heart = Inputs((Column("rate", 40.0, 160.0),), length=3)
    >>> heart.prepare([[[100.0], [float("nan")], [900.0], [40.0]]])[0].tolist()     # value, and whether there is one
    [[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0]]
    """

    columns: tuple[Column, ...]
    length: int

    def __post_init__(self) -> None:
        if not isinstance(self.columns, tuple) or not self.columns:
            raise InvalidArgument("columns", self.columns, "a tuple of at least one Column")
        if not all(isinstance(column, Column) for column in self.columns):
            raise InvalidArgument("columns", self.columns, "a tuple of Column")
        check_whole("length", self.length)

    @property
    def channels(self) -> int:
        """How many numbers a model sees in one period: each column's value, and whether there is one."""
        return 2 * len(self.columns)

    def prepare(self, values: ArrayLike) -> NDArray[np.float32]:
        """Return (people, length, channels): the last periods, earlier ones that are lacking as missing.

        A missing value is 0 with its second channel 0. No value is refused: that would tell of it.
        """
        allowed = f"numbers of the shape (people, periods, {len(self.columns)})"
        numbers = as_numbers("values", values, allowed)
        if numbers.ndim != 3 or numbers.shape[2] != len(self.columns):
            raise InvalidArgument("values", values, allowed, private=True)
        kept = numbers[:, -self.length :].astype(np.float64)
        made = np.zeros((len(kept), self.length, self.channels), dtype=np.float32)
        if not kept.shape[1]:
            return made
        place = slice(self.length - kept.shape[1], None)
        for index, column in enumerate(self.columns):
            known = ~np.isnan(kept[:, :, index])
            made[:, place, 2 * index] = np.where(known, column.scaled(kept[:, :, index]), 0.0)
            made[:, place, 2 * index + 1] = known
        return made


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


@document("linear_model")
@dataclass(frozen=True, slots=True)
class Linear:
    """One weight for every number of the stretch: the baseline."""

    def __str__(self) -> str:
        return "linear"


@document("recurrent_model")
@dataclass(frozen=True, slots=True)
class Recurrent:
    """Gated recurrent units."""

    hidden: int = 16

    def __post_init__(self) -> None:
        check_whole("hidden", self.hidden)

    def __str__(self) -> str:
        return f"recurrent with {self.hidden} units"


@document("convolution_model")
@dataclass(frozen=True, slots=True)
class Convolution:
    """Causal filters, each layer looking twice as far back as the one before."""

    features: int = 16
    layers: int = 3
    kernel: int = 3

    def __post_init__(self) -> None:
        check_whole("features", self.features)
        check_whole("layers", self.layers)
        check_whole("kernel", self.kernel, least=2)

    def __str__(self) -> str:
        return f"temporal convolution of {self.layers} layers with {self.features} features"


Architecture: TypeAlias = Linear | Recurrent | Convolution


@document("model")
@dataclass(frozen=True, slots=True)
class ModelDesign:
    """Everything about a model but its parameters.

    Attributes:
        inputs: what it reads of a person.
        outcome: what it predicts of that person.
        architecture: how.
        start: a public number from which the first parameters are drawn. They are no secret.
    """

    inputs: Inputs
    outcome: Outcome
    architecture: Architecture
    start: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.inputs, Inputs):
            raise InvalidArgument("inputs", self.inputs, "Inputs")
        if not isinstance(self.outcome, Outcome):
            raise InvalidArgument("outcome", self.outcome, "Risk() or Forecast(column, horizon)")
        if not isinstance(self.architecture, Architecture):
            raise InvalidArgument("architecture", self.architecture, "Linear(), Recurrent() or Convolution()")
        check_whole("start", self.start, least=0)

    @property
    def fingerprint(self) -> str:
        """What tells this model from every other."""
        return hashlib.sha256(dump(self).encode()).hexdigest()

    def build(self) -> nn.Module:
        """Return the network; its parameters are those of `first_parameters` only once they are put in."""
        check_extra("federated", "torch")
        from chronodp.federated.networks import ConvolutionNetwork, LinearNetwork, RecurrentNetwork

        channels, width = self.inputs.channels, self.outcome.width
        match self.architecture:
            case Linear():
                return LinearNetwork(channels, self.inputs.length, width)
            case Recurrent(hidden):
                return RecurrentNetwork(channels, hidden, width)
            case Convolution(features, layers, kernel):
                return ConvolutionNetwork(channels, features, layers, kernel, width)
            case never:
                assert_never(never)

    def first_parameters(self, network: nn.Module | None = None) -> NDArray[np.float32]:
        """Return the parameters that training starts from: uniform within 1 / √inputs, biases 0; public."""
        chance = np.random.default_rng(self.start)
        parts = []
        for parameter in (self.build() if network is None else network).parameters():
            shape = tuple(parameter.shape)
            reach = 1 / math.sqrt(shape[-1]) if len(shape) > 1 else 0.0
            parts.append(chance.uniform(-reach, reach, math.prod(shape)))
        return np.concatenate(parts).astype(np.float32)
