"""Quantiles that are drawn bins: one person more or less, and every bin's probability."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.case import AuditCase
from chronodp.audit.exact import Outcomes
from chronodp.audit.walked import Known
from chronodp.dataset import TimeSeries
from chronodp.engines import Record, Reference
from chronodp.privacy import Calendar, Claim, User, decimal_value
from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, ExponentialMechanism, exponents_of, whole_gaps
from chronodp.series import QuantilePlan
from chronodp.series.quantiles import ByChoice, bin_utilities, choice_of, draw_bins, few_allowance
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry

__all__ = ["ENTRIES", "Counts", "DrawnBins"]

Counts: TypeAlias = tuple[int, int, int]

_DAYS = Calendar("1D", "2026-01-01", "2026-01-02")
_EDGES = (0.0, 1.0, 2.0, 3.0)
_ROUNDING = 1e-12  # what floats may make of all probabilities together


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
        return tuple(len(_EDGES) - 1 if np.isnan(value) else _EDGES.index(value) for value in shown)

    def law(self, counts: Counts) -> Outcomes:
        """Return the probability of every outcome: each choice is proportional to e^-exponent, then put in order."""
        few, chances = len(_EDGES) - 1, dict[Hashable, Fraction]()
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
        series = TimeSeries(
            [Record(f"person {number}", int(_DAYS.edges[0]), value) for number, value in enumerate(values)],
            time="at",
            user="who",
            every="1D",
            start="2026-01-01",
            end="2026-01-02",
            unit=User(),
            max_periods=1,
            engine=Reference(),
        )
        plan: Any = series.quantiles("kwh", self.quantiles, edges=_EDGES).plan(epsilon=1.0, delta=1e-6)
        return QuantilePlan(replace(plan.design, way=self._way, delta=1e-6), (), 1e-6, plan.origin)


def _drawn() -> tuple[AuditCase, ...]:
    one, three = DrawnBins((0.9,), epsilon=1.0), DrawnBins((0.1, 0.5, 0.9), epsilon=1 / 3)
    return tuple(
        AuditCase(
            name=f"{name}, one person more",
            mechanism=mechanism,
            neighbours=(((4, 1, 0), (4, 1, 1)), ((1, 0, 9), (1, 0, 10)), ((2, 1, 0), (3, 1, 0))),
            claim=mechanism.claim,
            epsilon=1.0,
            checks=(Known(),),
        )
        for name, mechanism in (("the ninth decile", one), ("three quantiles", three))
    )


ENTRIES = (
    Entry(
        name="quantiles as drawn bins",
        covers=(QuantilePlan, draw_bins),
        precision="utilities in whole numbers; exact coins",
        cases=_drawn,
    ),
)
