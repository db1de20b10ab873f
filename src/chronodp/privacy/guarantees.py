"""What is promised, by whom it was argued, and the certificate that travels with a release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from chronodp.display import facts_html
from chronodp.errors import InvalidArgument
from chronodp.privacy.costs import Assumption, Cost, check_cost
from chronodp.privacy.documents import document
from chronodp.privacy.fields import settle
from chronodp.privacy.parameters import check_delta, check_epsilon, check_flag
from chronodp.privacy.printing import labelled
from chronodp.privacy.units import Unit, check_unit

__all__ = ["Certificate", "Certified", "Claim", "Guarantee"]

_SEEDED = "SEEDED RUN, FOR TESTS ONLY: whoever knows the seed can remove the noise."

Value = TypeVar("Value")
Other = TypeVar("Other")


@document("guarantee")
@dataclass(frozen=True, slots=True)
class Guarantee:
    """A unit, an epsilon and a delta, and what they rest on.

    Formally, for datasets that differ in one unit and every set S of outputs,
    P(M(D) in S) <= e^epsilon P(M(D') in S) + delta.

    >>> from chronodp.privacy.units import User
    >>> print(Guarantee(User(), epsilon=1.0, delta=1e-6))
    (1, 1e-06)-differentially private for everything of one person, added or removed
    """

    unit: Unit
    epsilon: float
    delta: float = 0.0
    assumptions: tuple[Assumption, ...] = ()

    def __post_init__(self) -> None:
        check_unit("unit", self.unit)
        settle(self, epsilon=check_epsilon(self.epsilon), delta=check_delta(self.delta))
        if not all(isinstance(assumption, Assumption) for assumption in self.assumptions):
            raise InvalidArgument("assumptions", self.assumptions, "a tuple of Assumption")

    def __str__(self) -> str:
        amount = f"({self.epsilon:g}, {self.delta:g})" if self.delta else f"{self.epsilon:g}"
        text = f"{amount}-differentially private for {self.unit}"
        return "; assuming ".join([text, *map(str, self.assumptions)])


@document("claim")
@dataclass(frozen=True, slots=True)
class Claim:
    """What a mechanism says of itself before it sees data: unit, cost and where the argument stands."""

    unit: Unit
    cost: Cost
    argument: str

    def __post_init__(self) -> None:
        check_unit("unit", self.unit)
        check_cost("cost", self.cost)
        if not isinstance(self.argument, str) or not self.argument:
            raise InvalidArgument("argument", self.argument, "the page that argues the claim")


@document("certificate")
@dataclass(frozen=True, slots=True)
class Certificate:
    """The statement that travels with a release.

    Attributes:
        mechanism: what ran, in words.
        claim: its unit, native cost and argument.
        guarantee: the cost converted to (epsilon, delta), and by which theorem (``theorem``).
        precision: what is done about finite precision.
        seeded: whether the randomness was repeatable, which voids the guarantee.
        processing: what was done to the output afterwards, for free.
    """

    mechanism: str
    claim: Claim
    guarantee: Guarantee
    theorem: str
    precision: str
    seeded: bool = False
    processing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.claim, Claim):
            raise InvalidArgument("claim", self.claim, "a Claim")
        if not isinstance(self.guarantee, Guarantee):
            raise InvalidArgument("guarantee", self.guarantee, "a Guarantee")
        if self.claim.unit != self.guarantee.unit:
            raise InvalidArgument("guarantee", str(self.guarantee.unit), f"for the claim's unit, {self.claim.unit}")
        check_flag("seeded", self.seeded)

    def after(self, step: str) -> Certificate:
        """Return the certificate of the same release after post-processing: one more step, the same guarantee."""
        if not isinstance(step, str) or not step.strip():
            raise InvalidArgument("step", step, "a text that says what was done")
        return replace(self, processing=(*self.processing, step))

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("Guarantee", f"{self.guarantee}"),
            ("Protects", self.guarantee.unit.protects),
            ("Does not protect", self.guarantee.unit.does_not_protect),
            ("Mechanism", f"{self.mechanism}: {self.claim.cost}"),
            ("Method", self.theorem),
            ("Precision", self.precision),
            ("Argument", self.claim.argument),
            *(("Then", f"{step} (free: post-processing)") for step in self.processing),
        ]

    def __str__(self) -> str:
        return (f"{_SEEDED}\n" if self.seeded else "") + labelled(self._facts)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return (f"<p><strong>{_SEEDED}</strong></p>" if self.seeded else "") + facts_html(self._facts)


@dataclass(frozen=True, slots=True)
class Certified(Generic[Value]):
    """A released value with its certificate.

    >>> from chronodp.privacy import PureCost, User
    >>> claim = Claim(User(), PureCost(1.0), "a page")
    >>> certificate = Certificate("example", claim, Guarantee(User(), 1.0), "definition", "integers")
    >>> doubled = Certified(21, certificate).then(lambda value: 2 * value, "doubled")
    >>> doubled.value, doubled.certificate.guarantee.epsilon, doubled.certificate.processing
    (42, 1.0, ('doubled',))
    """

    value: Value
    certificate: Certificate

    def then(self, function: Callable[[Value], Other], step: str) -> Certified[Other]:
        """Apply a function that sees no other data: free, and the guarantee stays what it was, never better."""
        return Certified(function(self.value), self.certificate.after(step))
