"""What a query must tell and do to be planned and released together with others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from chronodp.accounting import gaussian
from chronodp.engines import Progress, Sizes
from chronodp.ledger import Dates, Opening, Written
from chronodp.postprocess import Law
from chronodp.privacy import Cost, Unit
from chronodp.randomness import Entropy
from chronodp.series import ReleasePlan

__all__ = ["Following", "Part", "PlanPart", "Prepared", "Ready", "Shareable", "terms_of"]

_LARGE = 6.0


@dataclass(frozen=True, slots=True)
class Following:
    """How the numbers of a query follow from those of another release.

    Attributes:
        factor: the mean squared error of a number, in those of the other.
        every: the longer periods to which the other is added up; None if it is the same query.
    """

    factor: float
    every: str | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a part holds once its data is read, before anything is spent. Nobody may see it.

    Attributes:
        content: identifies the data.
        draw: makes the part as it is stored, with fresh noise; called after the debit.
    """

    content: tuple[bytes, ...] = field(repr=False)
    draw: Callable[[Entropy], str | Written] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Ready:
    """What all queries of a plan hold once data is read. Nobody may see it.

    Attributes:
        prepared: of each query by its name.
        sizes: of each search for bounds, how much voters hold.
    """

    prepared: Mapping[str, Prepared] = field(repr=False)
    sizes: tuple[Sizes, ...] = field(default=(), repr=False)


class Part(Protocol):
    """A query planned at its share."""

    @property
    def cost(self) -> Cost:
        """What it costs."""
        ...

    @property
    def rmse(self) -> float:
        """The root mean squared error of one of its numbers."""
        ...

    @property
    def dates(self) -> Dates | None:
        """When its data begin and end, as moments; None if it has no dates."""
        ...

    @property
    def identity(self) -> str:
        """A text that tells it from any other."""
        ...

    def prepare(self, *, key: str, progress: Progress) -> Prepared:
        """Read the data; ``key`` decides which periods of a person count."""
        ...

    def openings(self, name: str, *, entropy: Entropy) -> tuple[Opening, ...]:
        """Return the streams that are opened with it."""
        ...


@dataclass(frozen=True, slots=True)
class PlanPart:
    """A part that is a plan of its own: it is read, identified and drawn as if it were released alone."""

    plan: ReleasePlan[Any, Any]

    @property
    def cost(self) -> Cost:
        """What it costs."""
        return self.plan.claim.cost

    @property
    def identity(self) -> str:
        """A text that tells it from any other."""
        return self.plan.identity

    def prepare(self, *, key: str, progress: Progress) -> Prepared:
        """Read the data; ``key`` decides which periods of a person count."""
        numbers = self.plan.read(key=key, progress=progress)
        return Prepared(self.plan.content(numbers), lambda entropy: self.plan.draw(numbers, entropy))

    def openings(self, name: str, *, entropy: Entropy) -> tuple[Opening, ...]:
        """Return no streams."""
        del name, entropy
        return ()


@runtime_checkable
class Shareable(Protocol):
    """A query whose error falls as 1 / share², whatever its share."""

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        ...

    @property
    def numbers(self) -> int:
        """How many numbers it releases."""
        ...

    @property
    def scale(self) -> float:
        """The most that one unit adds to one of them: a public size to measure errors by."""
        ...

    def at(self, law: Law, share: float) -> Part | None:
        """Return its plan at a share: an epsilon, or for Gaussian noise a mu; None if it has no such noise."""
        ...

    def follows_from(self, other: Shareable) -> Following | None:
        """Return how it follows from a release of another query; None if it does not."""
        ...


def terms_of(law: Law, share: float) -> tuple[float, float]:
    """Return a share as an (epsilon, delta).

    A mu is worth many pairs. At epsilon = mu no Laplace noise is as good; where delta would come too near to 1 for a
    float to tell mu from it, epsilon = mu² / 2 is taken, at which delta is below 1/2.
    """
    if law == "laplace":
        return share, 0.0
    epsilon = share if share <= _LARGE else share**2 / 2
    return epsilon, gaussian.delta_of(share, epsilon)
