"""How much a release costs, as frozen data known before any data is read.

A cost keeps the mechanism's own parameters instead of an (epsilon, delta) derived from them, so that any
theorem in `chronodp.accounting` can price it, today's or a better one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from chronodp.errors import InvalidArgument
from chronodp.privacy.documents import document
from chronodp.privacy.fields import settle
from chronodp.privacy.parameters import check_epsilon, check_fraction, check_positive, check_whole

__all__ = [
    "ApproximateCost",
    "AssumedCost",
    "Assumption",
    "BoundedRangeCost",
    "Cost",
    "FailureCost",
    "GaussianCost",
    "LaplaceCost",
    "PureCost",
    "RandomizedResponseCost",
    "RepeatedCost",
    "SampledGaussianCost",
    "SequenceCost",
]


@document("pure")
@dataclass(frozen=True, slots=True)
class PureCost:
    """Any mechanism whose log-likelihood ratio never exceeds ``epsilon``."""

    epsilon: float

    def __post_init__(self) -> None:
        settle(self, epsilon=check_epsilon(self.epsilon))

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}"


@document("bounded_range")
@dataclass(frozen=True, slots=True)
class BoundedRangeCost:
    """A choice by the exponential mechanism, or anything whose log-likelihood ratios span at most ``epsilon``.

    For every two neighbours the ratio lies in [t - epsilon, t] for some t. That implies ratios within epsilon, and is
    implied by ratios within half of it. Permute-and-flip and noisy maxima are not of this kind: theirs is `PureCost`.
    """

    epsilon: float

    def __post_init__(self) -> None:
        settle(self, epsilon=check_epsilon(self.epsilon))

    def __str__(self) -> str:
        return f"ε = {self.epsilon:g}, bounded range"


@document("approximate")
@dataclass(frozen=True, slots=True)
class ApproximateCost:
    """Any mechanism known only to be (``epsilon``, ``delta``)-differentially private; for delta = 0 see `PureCost`."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        settle(self, epsilon=check_epsilon(self.epsilon), delta=check_fraction("delta", self.delta))

    def __str__(self) -> str:
        return f"(ε, δ) = ({self.epsilon:g}, {self.delta:g})"


@document("failure")
@dataclass(frozen=True, slots=True)
class FailureCost:
    """An event of probability at most ``delta`` that gives everything away, with and without the unit.

    It may hang together with the noise of the same release in any way, such as a threshold that rare noise passes:
    write both into one `SequenceCost`. Outside the event the release costs what the rest of that sequence says.
    """

    delta: float

    def __post_init__(self) -> None:
        settle(self, delta=check_fraction("delta", self.delta))

    def __str__(self) -> str:
        return f"everything with probability at most {self.delta:g}"


@document("laplace")
@dataclass(frozen=True, slots=True)
class LaplaceCost:
    """Independent Laplace noise of the given ``scale`` on values of l1 ``sensitivity``."""

    sensitivity: float
    scale: float

    def __post_init__(self) -> None:
        settle(
            self, sensitivity=check_positive("sensitivity", self.sensitivity), scale=check_positive("scale", self.scale)
        )

    def __str__(self) -> str:
        return f"Laplace noise of scale {self.scale:g} on l1 sensitivity {self.sensitivity:g}"


@document("gaussian")
@dataclass(frozen=True, slots=True)
class GaussianCost:
    """Independent Gaussian noise of standard deviation ``sigma`` on values of l2 ``sensitivity``."""

    sensitivity: float
    sigma: float

    def __post_init__(self) -> None:
        settle(
            self, sensitivity=check_positive("sensitivity", self.sensitivity), sigma=check_positive("sigma", self.sigma)
        )

    def __str__(self) -> str:
        return f"Gaussian noise of σ {self.sigma:g} on l2 sensitivity {self.sensitivity:g}"


@document("sampled_gaussian")
@dataclass(frozen=True, slots=True)
class SampledGaussianCost:
    """Gaussian noise on a sum over a secret sample: each person is in it independently with probability ``rate``.

    One person who is in the sample changes the sum by at most ``sensitivity`` in l2; people are added or removed.
    """

    sensitivity: float
    sigma: float
    rate: float

    def __post_init__(self) -> None:
        settle(
            self,
            sensitivity=check_positive("sensitivity", self.sensitivity),
            sigma=check_positive("sigma", self.sigma),
            rate=check_fraction("rate", self.rate),
        )

    def __str__(self) -> str:
        noise = f"Gaussian noise of σ {self.sigma:g} on l2 sensitivity {self.sensitivity:g}"
        return f"{noise} of a sample at rate {self.rate:g}"


@document("randomized_response")
@dataclass(frozen=True, slots=True)
class RandomizedResponseCost:
    """One answer out of ``choices``, true with probability e^epsilon / (e^epsilon + choices - 1)."""

    epsilon: float
    choices: int = 2

    def __post_init__(self) -> None:
        settle(self, epsilon=check_epsilon(self.epsilon))
        check_whole("choices", self.choices, least=2)

    def __str__(self) -> str:
        return f"randomised response among {self.choices} answers at ε = {self.epsilon:g}"


@document("sequence")
@dataclass(frozen=True, slots=True)
class SequenceCost:
    """Several releases about the same people, one after another."""

    costs: tuple[Cost, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.costs, tuple) or not self.costs:
            raise InvalidArgument("costs", self.costs, "a tuple of at least one cost")
        for cost in self.costs:
            check_cost("costs", cost)

    def __str__(self) -> str:
        return "; then ".join(str(cost) for cost in self.costs)


@document("repeated")
@dataclass(frozen=True, slots=True)
class RepeatedCost:
    """The same release ``times`` times over."""

    cost: Cost
    times: int

    def __post_init__(self) -> None:
        check_cost("cost", self.cost)
        check_whole("times", self.times)

    def __str__(self) -> str:
        return f"{self.times} × [{self.cost}]"


@document("assumption")
@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that must be true of the world for a cost to be right."""

    name: str
    statement: str

    def __post_init__(self) -> None:
        for name in ("name", "statement"):
            text = getattr(self, name)
            if not isinstance(text, str) or not text.strip():
                raise InvalidArgument(name, text, "a text that is not empty")

    def __str__(self) -> str:
        return f"{self.name}: {self.statement}"


@document("assumed")
@dataclass(frozen=True, slots=True)
class AssumedCost:
    """A cost that holds only under a named assumption; it never adds silently to one that does not need it."""

    cost: Cost
    assumption: Assumption

    def __post_init__(self) -> None:
        check_cost("cost", self.cost)
        if not isinstance(self.assumption, Assumption):
            raise InvalidArgument("assumption", self.assumption, "an Assumption")

    def __str__(self) -> str:
        return f"{self.cost}, assuming {self.assumption.name}"


Cost: TypeAlias = (
    PureCost
    | BoundedRangeCost
    | ApproximateCost
    | FailureCost
    | LaplaceCost
    | GaussianCost
    | SampledGaussianCost
    | RandomizedResponseCost
    | SequenceCost
    | RepeatedCost
    | AssumedCost
)


def check_cost(name: str, value: object) -> Cost:
    """Return ``value`` if it is a cost."""
    if not isinstance(value, Cost):
        raise InvalidArgument(name, value, "a cost such as PureCost, LaplaceCost or GaussianCost")
    return value
