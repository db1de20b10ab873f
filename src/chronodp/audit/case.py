"""What an auditor is given: a mechanism, what it claims, and neighbours on which to attack it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from chronodp.accounting import gather, gaussian
from chronodp.audit.allowance import Allowance
from chronodp.audit.enumerated_entropy import Unfollowed
from chronodp.errors import InvalidArgument
from chronodp.privacy import Claim, check_delta, check_epsilon, check_listed, check_number, decimal_value, settle
from chronodp.randomness import Entropy

__all__ = ["AuditCase", "Check", "Curve", "Likelihood", "Many", "Reached", "Unfit"]

Likelihood: TypeAlias = Callable[[Any, Any], float]
"""The log-likelihood of an output on an input, up to a constant of the output."""
Many: TypeAlias = Callable[..., Sequence[object] | NDArray[Any]]
"""Called as ``many(data, count, entropy=entropy)``: so many independent outputs at once."""
Curve: TypeAlias = tuple[tuple[float, float], ...]
"""Points (epsilon, delta) of a privacy curve."""


class Unfit(Exception):
    """The mechanism cannot be judged: it raises, is not random, or answers in a way that cannot be compared."""


@dataclass(frozen=True, slots=True)
class Reached:
    """How far one auditor got.

    Attributes:
        auditor: which one, in words.
        lower: an epsilon that the mechanism surely exceeds or equals at the claim's delta.
        exact: the true epsilon at that delta, over the neighbours given, where it is known; for a claim of bounded
            range, what log-likelihood ratios truly span, if that is more.
        refuted: whether the claim is false.
        where: the event, output or neighbours that show most.
        curve: points of the true privacy curve, where it is known.
        upper: an epsilon that the mechanism surely does not exceed on the neighbours given, where only that is known.
    """

    auditor: str
    lower: float
    exact: float | None
    refuted: bool
    where: str = ""
    curve: Curve = ()
    upper: float | None = None


class Check(Protocol):
    """One way to attack a case."""

    @property
    def auditor(self) -> str:
        """Its name, in words."""
        ...

    def attack(self, case: AuditCase, allowance: Allowance) -> Reached:
        """Return how far the attack got; raise `Unfit` if the mechanism cannot be attacked at all."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCase:
    """A mechanism on trial. Write one to audit a mechanism of your own.

    Attributes:
        name: what it is called in tables.
        mechanism: called as ``mechanism(data, entropy=entropy)``, or as ``mechanism(data)`` if it has no such argument
            and finds its randomness elsewhere. Outputs are numbers, texts, tuples of them, or arrays of one shape.
        neighbours: pairs of inputs that differ in one unit: the worst ones known, those at bounds, random ones.
        claim: the unit, the cost and the page that argues it.
        epsilon: where the claim is read; that of its cost if not given.
        delta: where the claim is read; 0 unless the cost has one.
        checks: the ways to attack it; by samples alone if none is given.
        likelihood: log-likelihood of an output on an input, if it is known: the best attack there is.
        many: many independent outputs at once, where that is faster than one by one.
        draws: whether the mechanism takes ``entropy``: then all its randomness must come from there.

    >>> from chronodp.privacy import PureCost, Report
    >>> def respond(bit, *, entropy):
    ...     return bit ^ int(not entropy.coins(3, 4))
    >>> case = AuditCase(name="a coin", mechanism=respond, neighbours=((0, 1),),
    ...                   claim=Claim(Report(), PureCost(1.1), "my notes"))
    >>> case.epsilon, case.delta
    (1.1, 0.0)
    """

    name: str
    mechanism: Callable[..., object]
    neighbours: tuple[tuple[Any, Any], ...]
    claim: Claim
    epsilon: float = 0.0
    delta: float = 0.0
    checks: tuple[Check, ...] = ()
    likelihood: Likelihood | None = None
    many: Many | None = None
    draws: bool = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidArgument("name", self.name, "a text")
        if not callable(self.mechanism):
            raise InvalidArgument("mechanism", self.mechanism, "a function of data, and of entropy if it draws")
        settle(self, draws=_takes_entropy(self.mechanism))
        if not isinstance(self.claim, Claim):
            raise InvalidArgument("claim", self.claim, "a Claim")
        given = check_listed("neighbours", self.neighbours, object, "a list of pairs of inputs")
        pairs = tuple(tuple(pair) for pair in given if isinstance(pair, list | tuple) and len(pair) == 2)
        if not pairs or len(pairs) != len(given):
            raise InvalidArgument("neighbours", len(given), "at least one pair of inputs")
        check_number("epsilon", self.epsilon)
        settle(self, neighbours=pairs, delta=check_delta(self.delta))
        if not self.epsilon:
            settle(self, epsilon=_epsilon_of(self.claim, self.delta))
        check_epsilon(self.epsilon)

    def run(self, data: object, entropy: Entropy) -> object:
        """Run the mechanism once; whatever it raises is reported as such."""
        try:
            return self.mechanism(data, entropy=entropy) if self.draws else self.mechanism(data)
        except (Unfit, Unfollowed):  # of an auditor's own entropy
            raise
        except Exception as error:  # a stranger's mechanism may raise anything; it is reported, never passed
            raise Unfit(f"it raises {type(error).__name__}: {error}") from error

    def run_with(self, data: object, /, *, entropy: Entropy) -> object:
        """Run the mechanism once, called as mechanisms are."""
        return self.run(data, entropy)


def _takes_entropy(mechanism: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(mechanism).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(part.name == "entropy" or part.kind is part.VAR_KEYWORD for part in parameters)


def _epsilon_of(claim: Claim, delta: float) -> float:
    spending = gather(claim.cost)
    left = spending.left_of(delta)
    if spending.gaussian:
        if left <= 0:
            raise InvalidArgument("delta", delta, "above 0 for Gaussian noise: where its claim is read")
        return gaussian.epsilon(spending, delta)
    if left < 0 and spending.deltas > decimal_value(delta):  # either way of adding deltas suffices
        raise InvalidArgument("delta", delta, "no less than the delta of the claim's cost")
    return math.fsum(loss * times for loss, times in spending.largest_losses)
