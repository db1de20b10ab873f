"""A design of aged, noisy releases: who is protected, what is read how late, which noise, on which grid.

"A stream" and "Finite precision" of ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.ageing import check_ages
from chronodp.correlated.chain import Floats, Integers
from chronodp.correlated.fran.present import AboutThePresent
from chronodp.correlated.query import Query, QueryTable, check_query, tabulate
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import (
    LATER,
    Cost,
    Grid,
    LaplaceCost,
    PureCost,
    RepeatedCost,
    User,
    Window,
    at_least,
    check_epsilon,
    check_whole,
    decimal_value,
    document,
)

__all__ = ["FranDesign", "finest_step"]

_BITS = 20  # steps of the grid within the query's sensitivity, as a power of two
_WIDEST = 2.0**30  # steps: the widest noise that the sampler draws
_NARROWEST = 2.0**-30
_FARTHEST = 2**62  # steps: sums must fit 64 bits


@lru_cache(maxsize=64)  # every step asks
def _scale(sensitivity: int, epsilon: float) -> float:
    return at_least(sensitivity / decimal_value(epsilon))


@document("fran_design")
@dataclass(frozen=True)
class FranDesign:
    """Everything public about a stream of aged, noisy answers; what its releases are checked and paid by.

    Attributes:
        query: what is asked of the aged states.
        sequences: how many there are.
        states: how many each has.
        ages: how many periods ago each sequence is read; one number if all are alike.
        epsilons: of the releases, in turn and from the start again: sensitivity over scale of the noise (ε_C).
        unit: a `Window` or `User`, with relation "replace": the sequences are known, what they hold is not.
        horizon: how many periods; None if not known.
        step: the grid on which answers lie, a power of two.
        present: what one release reveals about the present if the data follow a model; it lowers no price.
    """

    query: Query
    sequences: int
    states: int
    ages: tuple[int, ...]
    epsilons: tuple[float, ...]
    unit: Window | User
    horizon: int | None
    step: float
    present: AboutThePresent | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        check_query(self.query)
        check_whole("sequences", self.sequences)
        check_whole("states", self.states, least=2)
        if self.horizon is not None:
            check_whole("horizon", self.horizon)
        if not isinstance(self.ages, tuple) or not self.ages:
            raise InvalidArgument("ages", self.ages, "a tuple: one age a sequence, or one for all")
        check_ages(self.ages[0] if len(self.ages) == 1 else self.ages, self.sequences, horizon=self.horizon)
        if not isinstance(self.epsilons, tuple) or not self.epsilons:
            raise InvalidArgument("epsilon", self.epsilons, "a number, or several to be used in turn")
        for epsilon in self.epsilons:
            check_epsilon(epsilon)
        _check_unit(self.unit, self.horizon)
        Grid(self.step)
        scales = [self.scale(epsilon) for epsilon in self.epsilons]
        if not _NARROWEST <= min(scales) <= max(scales) <= _WIDEST:
            allowed = f"such that the noise is from 2^-30 to 2^30 steps of the grid ({self.step:g})"
            raise InvalidArgument("epsilon", self.epsilons[0], allowed)

    @cached_property
    def reading_ages(self) -> NDArray[np.int64]:
        """The age of every sequence."""
        return check_ages(self.ages[0] if len(self.ages) == 1 else self.ages, self.sequences)

    @property
    def oldest(self) -> int:
        """The largest age: so many periods pass before the first release."""
        return max(self.ages)

    @cached_property
    def table(self) -> Integers:
        """What a sequence in a state contributes, in whole steps, as outputs × sequences × states."""
        parts = tabulate(self.query, self.sequences, self.states).parts
        # Rounded once, in the table: sums and maxima of whole numbers are exact, and so is the sensitivity.
        steps = np.floor(parts / self.step + 0.5)
        if not np.abs(steps).sum(axis=1).max() < _FARTHEST:
            raise InvalidArgument("step", self.step, "coarser: sums in steps of the grid must fit 64 bits")
        return steps.astype(np.int64)

    @cached_property
    def outputs(self) -> QueryTable:
        """The query as it is computed: in steps of the grid."""
        made = QueryTable(self.table.astype(np.float64), tabulate(self.query, self.sequences, self.states).largest)
        if not made.sensitivity > 0:
            raise InvalidArgument("step", self.step, "finer: on this grid no sequence changes the query")
        return made

    @cached_property
    def sensitivity(self) -> int:
        """The most that one sequence changes all outputs together, in steps."""
        return int(self.outputs.sensitivity)

    @property
    def cost(self) -> Cost:
        """What the unit costs: a record is read by one release, so w records by w of them, whichever they are."""
        count = self._releases_of_the_unit()
        if len(set(self.epsilons)) == 1:
            scale = self.scale(self.epsilons[0])
            one = LaplaceCost(sensitivity=float(self.sensitivity) * self.step, scale=scale * self.step)
            return one if count == 1 else RepeatedCost(one, count)
        return PureCost(at_least(self._dearest(count)))

    @property
    def epsilon(self) -> float:
        """The epsilon of the unit, over the whole stream."""
        return at_least(self._dearest(self._releases_of_the_unit()))

    def scale(self, epsilon: float) -> float:
        """Return the scale of the noise in steps, sensitivity / epsilon, rounded up."""
        return _scale(self.sensitivity, epsilon)

    def epsilon_at(self, step: int) -> float:
        """Return the epsilon of the release at a period."""
        return self.epsilons[(step - self.oldest) % len(self.epsilons)]

    def answer(self, snapshots: Integers) -> Integers:
        """Return the query in steps for states as they are read, one a sequence."""
        picked = self.table[:, np.arange(self.sequences), snapshots]
        made: Integers = np.where(self.outputs.largest, picked.max(axis=1), picked.sum(axis=1))
        return made

    def to_values(self, steps: Integers) -> Floats:
        """Return answers in steps as numbers."""
        return Grid(self.step).to_values(steps)

    def _releases_of_the_unit(self) -> int:
        if not self.unit.whole_person:
            longest = self.unit.periods_touched(None, horizon=None)
            return longest if self.horizon is None else min(longest, self.horizon - self.oldest)
        if self.horizon is None:
            raise MissingBound(
                "horizon", "a number of periods: protecting a whole endless sequence has no finite price"
            )
        return self.horizon - self.oldest

    def _dearest(self, count: int) -> Fraction:
        """Return the largest sum of epsilons over so many releases in a row."""
        exact = [decimal_value(epsilon) for epsilon in self.epsilons]
        rounds, rest = divmod(count, len(exact))
        twice = exact + exact  # a stretch may begin anywhere in the round and go on into the next
        return rounds * sum(exact) + max(sum(twice[start : start + rest], Fraction(0)) for start in range(len(exact)))


def finest_step(query: Query, sequences: int, states: int, epsilons: tuple[float, ...]) -> float:
    """Return a grid fine enough to lose nothing and coarse enough for the widest noise to be drawn."""
    size = math.frexp(tabulate(query, sequences, states).sensitivity)[1]
    wide = math.frexp(1 / min(epsilons))[1]
    bits = min(_BITS, 29 - wide)
    if bits < 2:
        raise InvalidArgument("epsilon", min(epsilons), "larger: noise this wide cannot be drawn exactly")
    return math.ldexp(1.0, size - 1 - bits)


def _check_unit(unit: object, horizon: int | None) -> None:
    if not isinstance(unit, Window | User) or unit.relation != "replace":
        raise InvalidArgument("unit", unit, "Window(1, relation='replace') for one record, Window(w, …) or User(…)")
    if unit.whole_person and horizon is None:
        raise MissingBound(
            "horizon",
            "a number of periods, or a Window as the unit: protecting a whole endless sequence has no finite price",
        )
