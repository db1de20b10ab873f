"""Bounds found privately: a person who holds much comes or goes, and the choices must hide it."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from chronodp.audit.case import AuditCase
from chronodp.audit.cases.ledgers import temporary_ledger
from chronodp.audit.exact import Outcomes
from chronodp.audit.registry import Entry
from chronodp.audit.walked import Known
from chronodp.dataset import TimeSeries
from chronodp.engines import Record, Reference
from chronodp.privacy import BoundedRangeCost, Calendar, Claim, SequenceCost, User
from chronodp.randomness import Entropy
from chronodp.selection import exponents_of, whole_gaps
from chronodp.series import Find, FindPlan, Found
from chronodp.series.finding import Joint, median_utilities

__all__ = ["ENTRIES", "Choices"]

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
        return Outcomes(exact, 1 - sum(exact.values(), Fraction(0)))

    def _weighed(self, more: int, median: int, upper: int) -> tuple[Joint, tuple[int, ...]]:
        joint = self.design.joint(median, upper)
        return joint, self._plans[more].origin.losses(joint)

    def _planned(self, world: list[Record], epsilon: float, cap: int | None) -> FindPlan:
        series = TimeSeries(
            world,
            time="at",
            user="who",
            every="1D",
            start="2026-01-01",
            end="2026-01-03",
            unit=User(),
            max_periods=Find(0.5),
            engine=Reference(),
        )
        plan: Any = series.sum("kwh", clip=Find(0.5, between=(1.0, 2.0))).plan(epsilon=epsilon, delta=1e-6)
        origin: Any = plan.origin if cap is None else _Uncapped(plan.origin, cap)
        return FindPlan(plan.design, origin)


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


def _chances(choice: Any, utilities: list[int]) -> list[float]:
    weights = np.exp(-exponents_of(choice, whole_gaps(choice, utilities)))
    return [float(chance) for chance in weights / weights.sum()]


def _found() -> tuple[AuditCase, ...]:
    choices = Choices(epsilon=4.0)
    return (
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
