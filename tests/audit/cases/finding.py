"""Bounds found privately: a person who holds much comes or goes, and the choices must hide it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from chronodp.audit.case import AuditCase
from chronodp.audit.exact import Outcomes
from chronodp.audit.walked import Known
from chronodp.dataset import TimeSeries
from chronodp.engines import Record, Reference, Sizes
from chronodp.privacy import BoundedRangeCost, Calendar, Claim, SequenceCost, User
from chronodp.randomness import Entropy
from chronodp.selection import exponents_of, whole_gaps
from chronodp.series import Find, FindPlan, Found
from chronodp.series.finding import Joint, median_utilities
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry

__all__ = ["ENTRIES", "Choices", "Edges"]

_DAYS = Calendar("1D", "2026-01-01", "2026-01-03")
_ROUNDING = 1e-12  # what floats may make of all probabilities together
_ARGUMENT = "docs/explanation/proofs/finding.md"

Chosen = tuple[float, float | None, int | None]


class Choices:
    """What a plan finds, clip and periods, about a crowd with or without one more person."""

    def __init__(self, *, epsilon: float, cap: int | None = None) -> None:
        """Plan it; a ``cap`` other than the plan's own is a mistake."""
        few = [Record(f"person {number}", int(_DAYS.edges[0]), 1.0) for number in range(2)]
        whale = [Record("whale", int(edge), 64.0) for edge in _DAYS.edges[:2]]
        self._plans = tuple(self._planned(world, epsilon, cap) for world in (few, [*few, *whale]))
        self.design = self._plans[0].design
        self.weighed = lru_cache(self._weighed)

    @property
    def claim(self) -> Claim:
        """What the choices cost, without the numbers that follow."""
        costs = tuple(BoundedRangeCost(part) for part in self.design.split.choices)
        return Claim(User(), SequenceCost(costs), _ARGUMENT)

    def __call__(self, more: int, *, entropy: Entropy) -> Chosen:
        """Return the upper end, clip and periods that a release found."""
        with temporary_ledger(User(), delta=1e-5) as ledger:
            made = self._plans[more].release(
                ledger, dataset="audit", request="audit", entropy=entropy, progress=lambda _: None
            )
        found = made.found or Found(0.0)
        return found.scale, found.size, found.max_periods

    def law(self, more: int) -> Outcomes:
        """Return the probability of every outcome: each choice is proportional to e^-exponent."""
        scale, counts = self.design.scale, self._plans[more].origin.sizes(self.design.scale)
        medians = counts.above[scale.before : scale.before + len(scale.first)]
        chances: dict[Chosen, float] = {}
        for first, chance in enumerate(_chances(scale.median, median_utilities(medians, counts.voters))):
            tail = counts.above[first : first + len(scale.tail.candidates)]
            for step, then in enumerate(_chances(scale.tail, scale.tail_utilities(tail))):
                median = scale.first[first]
                joint, losses = self.weighed(more, median, median + int(scale.tail.candidates[step]))
                for place, last in enumerate(_chances(joint.choice, joint.utilities(losses))):
                    found = self.design.found(joint, place)
                    output = found.scale, found.size, found.max_periods
                    chances[output] = chances.get(output, 0.0) + chance * then * last
        exact: dict[Hashable, Fraction] = {
            output: Fraction(chance * (1 - _ROUNDING)) for output, chance in chances.items()
        }
        return Outcomes.of(exact, 1 - sum(exact.values(), Fraction(0)))

    def _weighed(self, more: int, median: int, upper: int) -> tuple[Joint, tuple[int, ...]]:
        joint = self.design.joint(median, upper)
        return joint, self._plans[more].origin.losses(joint)

    def _planned(self, world: list[Record], epsilon: float, cap: int | None) -> FindPlan:
        series = _days(world, max_periods=Find(0.5))
        plan: Any = series.sum("kwh", clip=Find(0.5, between=(1.0, 2.0))).plan(epsilon=epsilon, delta=1e-6)
        origin: Any = plan.origin if cap is None else _Uncapped(plan.origin, cap)
        return FindPlan(plan.design, origin)


class Edges:
    """The edges that a plan finds, about a crowd with or without one more person who has many rows."""

    def __init__(self, *, epsilon: float, by_rows: bool = False) -> None:
        """Plan it; where every row votes, and not every person, that is a mistake."""
        few = [Record(f"person {number}", int(_DAYS.edges[0]), 1.0) for number in range(3)]
        many = [Record("whale", int(_DAYS.edges[0]) + second, 64.0) for second in range(4)]
        self._plans = tuple(self._planned(world, epsilon, by_rows) for world in (few, [*few, *many]))
        self.design = self._plans[0].design

    @property
    def claim(self) -> Claim:
        """What the choice costs, without the numbers that follow."""
        return Claim(User(), BoundedRangeCost(self.design.split.choices[0]), _ARGUMENT)

    def __call__(self, more: int, *, entropy: Entropy) -> tuple[float, ...]:
        """Return the edges that a release found."""
        with temporary_ledger(User(), delta=1e-5) as ledger:
            made = self._plans[more].release(
                ledger, dataset="audit", request="audit", entropy=entropy, progress=lambda _: None
            )
        return (made.found or Found(0.0)).edges or ()

    def law(self, more: int) -> Outcomes:
        """Return the probability of every outcome: the choice is proportional to e^-exponent."""
        edges, counts = self.design.edges, self._plans[more].origin.sizes(self.design.edges)
        chances = _chances(edges.median, median_utilities(counts.above, counts.voters))
        exact: dict[Hashable, Fraction] = {
            edges.found(index).edges: Fraction(chance * (1 - _ROUNDING))
            for index, chance in zip(edges.first, chances, strict=True)
        }
        return Outcomes.of(exact, 1 - sum(exact.values(), Fraction(0)))

    def _planned(self, world: list[Record], epsilon: float, by_rows: bool) -> FindPlan:
        asked = _days(world, max_periods=2).histogram("kwh", edges=(0, Find(0.5, between=(1.0, 64.0))), of="rows")
        plan: Any = asked.plan(epsilon=epsilon, delta=1e-6)
        return FindPlan(plan.design, _ByRows(plan.origin) if by_rows else plan.origin)


class _ByRows:
    """Records of which every row has a vote, charged for one vote a person."""

    def __init__(self, origin: Any) -> None:
        self._origin = origin

    def sizes(self, scale: Any) -> Sizes:
        apart: Sizes = replace(self._origin, user=None).sizes(scale)
        return apart

    def __getattr__(self, name: str) -> Any:
        return getattr(self._origin, name)


class _Uncapped:
    """Records whose losses count beyond the cap that is charged for."""

    def __init__(self, origin: Any, cap: int) -> None:
        self._origin, self._cap = origin, cap

    def losses(self, joint: Joint) -> tuple[int, ...]:
        asked: Any = _WithCap(joint, self._cap)
        losses: tuple[int, ...] = self._origin.losses(asked)
        return losses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._origin, name)


class _WithCap:
    def __init__(self, joint: Joint, cap: int) -> None:
        self._joint, self.cap = joint, cap
        self.top = joint.top + cap

    def __getattr__(self, name: str) -> Any:
        return getattr(self._joint, name)


def _days(world: list[Record], *, max_periods: int | Find) -> TimeSeries:
    return TimeSeries(
        world,
        time="at",
        user="who",
        every="1D",
        start="2026-01-01",
        end="2026-01-03",
        unit=User(),
        max_periods=max_periods,
        engine=Reference(),
    )


def _chances(choice: Any, utilities: list[int]) -> list[float]:
    weights = np.exp(-exponents_of(choice, whole_gaps(choice, utilities)))
    return [float(chance) for chance in weights / weights.sum()]


def _found() -> tuple[AuditCase, ...]:
    choices, edges = Choices(epsilon=4.0), Edges(epsilon=4.0)
    return (
        AuditCase(
            name="edges found, one more who has many rows",
            mechanism=edges,
            neighbours=((0, 1),),
            claim=edges.claim,
            epsilon=edges.design.split.choices[0],
            checks=(Known(),),
        ),
        AuditCase(
            name="bounds found, one more who holds much",
            mechanism=choices,
            neighbours=((0, 1),),
            claim=choices.claim,
            epsilon=sum(choices.design.split.choices),
            checks=(Known(),),
        ),
    )


ENTRIES = (
    Entry(
        name="bounds found privately",
        covers=(FindPlan,),
        precision="counts, losses and caps in whole numbers; exact coins",
        cases=_found,
    ),
)
