"""A model as it is designed: inputs, outcome and architecture, all public, fixed before any data is seen."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.extras import check_extra
from chronodp.federated.models.inputs import Inputs
from chronodp.federated.models.outcomes import Outcome
from chronodp.privacy import check_whole, document, dump

if TYPE_CHECKING:
    from torch import nn

__all__ = ["Architecture", "Convolution", "Linear", "ModelDesign", "Recurrent"]


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
        from chronodp.federated.models.convolution import ConvolutionNetwork
        from chronodp.federated.models.linear import LinearNetwork
        from chronodp.federated.models.recurrent import RecurrentNetwork

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
