"""Bounds found privately and quantiles drawn: a person who holds much comes or goes, and choices must hide it."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.case import AuditCase
from chronodp.audit.exact import Outcomes
from chronodp.audit.walked import Known
from chronodp.dataset import TimeSeries
from chronodp.engines import Record, Reference, Sizes
from chronodp.privacy import BoundedRangeCost, Calendar, Claim, SequenceCost, User, decimal_value
from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, ExponentialMechanism, exponents_of, pick_whole, whole_gaps
from chronodp.series import Find, FindPlan, Found, QuantilePlan
from chronodp.series.finding import Joint, median_utilities
from chronodp.series.quantiles import ByChoice, bin_utilities, choice_of, draw_bins, few_allowance
from tests.audit.cases.ledgers import daily, temporary_ledger
from tests.audit.registry import Entry, Mutant, on_trial

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
    return daily(world, days=2, max_periods=max_periods, engine=Reference())


def _chances(choice: Any, utilities: list[int]) -> list[float]:
    weights = np.exp(-exponents_of(choice, whole_gaps(choice, utilities)))
    return [float(chance) for chance in weights / weights.sum()]


def _found() -> tuple[AuditCase, ...]:
    choices, edges = Choices(epsilon=4.0), Edges(epsilon=4.0)
    return (
        on_trial(
            "edges found, one more who has many rows",
            edges,
            ((0, 1),),
            edges.claim,
            Known(),
            epsilon=edges.design.split.choices[0],
        ),
        on_trial(
            "bounds found, one more who holds much",
            choices,
            ((0, 1),),
            choices.claim,
            Known(),
            epsilon=sum(choices.design.split.choices),
        ),
    )


_SOUND, _BROKEN = Choices(epsilon=4.0), Choices(epsilon=4.0, cap=2**40)
_EDGES, _BY_ROWS = Edges(epsilon=4.0), Edges(epsilon=4.0, by_rows=True)

Counts: TypeAlias = tuple[int, int, int]

_DAY = Calendar("1D", "2026-01-01", "2026-01-02")
_BINS = (0.0, 1.0, 2.0, 3.0)


class DrawnBins:
    """The bins that a plan draws of people in three bins."""

    def __init__(self, quantiles: tuple[float, ...], *, epsilon: float, way: type[ByChoice] = ByChoice) -> None:
        """Plan it; ``way`` says how far utilities move."""
        self.quantiles = quantiles
        self._way = way(ExponentialMechanism(), epsilon, 1, 1)

    @cached_property
    def claim(self) -> Claim:
        """Whom it protects, at what cost."""
        return self._plan((1, 1, 1)).claim

    def __call__(self, counts: Counts, *, entropy: Entropy) -> tuple[int, ...]:
        """Return the numbers of the bins that a release shows; the last is for too few."""
        with temporary_ledger(User(), delta=1e-5) as ledger:
            made = self._plan(counts).release(
                ledger, dataset="audit", request="audit", entropy=entropy, progress=lambda _: None
            )
        shown = made.to_pandas()["value"]
        return tuple(len(_BINS) - 1 if np.isnan(value) else _BINS.index(value) for value in shown)

    def law(self, counts: Counts) -> Outcomes:
        """Return the probability of every outcome: each choice is proportional to e^-exponent, then put in order."""
        few, chances = len(_BINS) - 1, dict[Hashable, Fraction]()
        parts = [self._chances(q, counts) for q in self.quantiles]
        for drawn in product(range(few + 1), repeat=len(parts)):
            rising = iter(sorted(place for place in drawn if place < few))
            kept = tuple(few if place == few else next(rising) for place in drawn)
            chance = math.prod(part[place] for part, place in zip(parts, drawn, strict=True))
            chances[kept] = chances.get(kept, Fraction(0)) + Fraction(chance * (1 - _ROUNDING))
        return Outcomes.of(chances, 1 - sum(chances.values(), Fraction(0)))

    def utilities(self, counts: NDArray[np.int64], q: Fraction, allowance: int) -> NDArray[Any]:
        """Return the utilities of the bins and of too few."""
        return bin_utilities(counts, q, allowance)

    def choice(self, q: float, counts: Counts) -> tuple[ChoiceDesign, list[int]]:
        """Return one quantile's choice and the utilities that it is drawn by."""
        exact = decimal_value(q)
        design = choice_of(self._way, exact, len(counts), 1)
        return design, self.utilities(np.array([counts], np.int64), exact, few_allowance(design))[0].tolist()

    def _chances(self, q: float, counts: Counts) -> list[float]:
        design, utilities = self.choice(q, counts)
        weights = np.exp(-exponents_of(design, whole_gaps(design, utilities)))
        return [float(chance) for chance in weights / weights.sum()]

    def _plan(self, counts: Counts) -> QuantilePlan:
        values = [place + 0.5 for place, count in enumerate(counts) for _ in range(count)]
        people = [Record(f"person {number}", int(_DAY.edges[0]), value) for number, value in enumerate(values)]
        series = daily(people, max_periods=1, engine=Reference())
        plan: Any = series.quantiles("kwh", self.quantiles, edges=_BINS).plan(epsilon=1.0, delta=1e-6)
        return QuantilePlan(replace(plan.design, way=self._way, delta=1e-6), (), 1e-6, plan.origin)


def _drawn() -> tuple[AuditCase, ...]:
    one, three = DrawnBins((0.9,), epsilon=1.0), DrawnBins((0.1, 0.5, 0.9), epsilon=1 / 3)
    return tuple(
        on_trial(
            f"{name}, one person more",
            mechanism,
            (((4, 1, 0), (4, 1, 1)), ((1, 0, 9), (1, 0, 10)), ((2, 1, 0), (3, 1, 0))),
            mechanism.claim,
            Known(),
            epsilon=1.0,
        )
        for name, mechanism in (("the ninth decile", one), ("three quantiles", three))
    )


class _Halved(ByChoice):
    def change(self, q: Fraction) -> Fraction:
        del q
        return Fraction(1, 2)


class _Mistaken(DrawnBins):
    def __call__(self, counts: Counts, *, entropy: Entropy) -> tuple[int, ...]:
        return tuple(pick_whole(*self.choice(q, counts), entropy) for q in self.quantiles)


class _Steep(_Mistaken):
    def utilities(self, counts: NDArray[np.int64], q: Fraction, allowance: int) -> NDArray[Any]:
        found = super().utilities(counts, q, allowance)
        found[:, -1] = allowance - q.denominator * counts.sum(axis=1)
        return found


def _drawn_mutant(name: str, q: float, broken: DrawnBins) -> Mutant:
    sound = DrawnBins((q,), epsilon=1.0)
    return Mutant(
        name,
        replace(sound.claim, cost=BoundedRangeCost(1.0)),
        sound,
        broken,
        (((4, 1, 0), (4, 1, 1)), ((0, 0, 1), (0, 0, 2)), ((1, 0, 2), (2, 0, 2))),
        epsilon=1.0,
        checks=(Known(),),
    )


ENTRIES = (
    Entry("bounds found privately", (FindPlan,), "counts, losses and caps in whole numbers; exact coins", _found),
    Entry("quantiles as drawn bins", (QuantilePlan, draw_bins), "utilities in whole numbers; exact coins", _drawn),
)


MUTANTS: tuple[Mutant, ...] = (
    Mutant("bounds found by losses without their cap", _SOUND.claim, _SOUND, _BROKEN, ((0, 1),),
           epsilon=sum(_SOUND.design.split.choices), checks=(Known(),)),
    Mutant("edges found by votes of rows, charged for a person's one", _EDGES.claim, _EDGES, _BY_ROWS, ((0, 1),),
           epsilon=_EDGES.design.split.choices[0], checks=(Known(),)),
    _drawn_mutant("the ninth decile drawn as if it were the median", 0.9, _Mistaken((0.9,), epsilon=1.0, way=_Halved)),
    _drawn_mutant("too few people told by twice what one of them may move", 0.5, _Steep((0.5,), epsilon=1.0)),
)  # fmt: skip
