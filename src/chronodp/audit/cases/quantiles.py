"""Quantiles that are drawn edges: one person more or less, and every edge's probability."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from chronodp.audit.case import AuditCase
from chronodp.audit.cases.ledgers import temporary_ledger
from chronodp.audit.exact import Outcomes
from chronodp.audit.registry import Entry
from chronodp.audit.walked import Known
from chronodp.dataset import TimeSeries
from chronodp.engines import Record, Reference
from chronodp.privacy import Calendar, Claim, User
from chronodp.randomness import Entropy
from chronodp.selection import ExponentialMechanism, exponents_of, whole_gaps
from chronodp.series import QuantilePlan
from chronodp.series.quantiles import ByChoice, Step, choice_of, draw_places, edge_utilities, steps_of

__all__ = ["ENTRIES", "DrawnEdges"]

_DAYS = Calendar("1D", "2026-01-01", "2026-01-02")
_EDGES = (0.0, 1.0, 2.0)
_ROUNDING = 1e-12  # what floats may make of all probabilities together


class DrawnEdges:
    """The edges that a plan draws of people in two bins."""

    def __init__(self, quantiles: tuple[float, ...], *, epsilon: float, halved: bool = False) -> None:
        """Plan it; with ``halved`` utilities are taken to move by half a person at most, right at the median alone."""
        self._quantiles, self._halved = quantiles, halved
        self._way = (_Halved if halved else ByChoice)(ExponentialMechanism(), epsilon, 1, 1)

    @cached_property
    def claim(self) -> Claim:
        """Whom it protects, at what cost."""
        return self._plan((1, 1)).claim

    def __call__(self, counts: tuple[int, int], *, entropy: Entropy) -> tuple[int, ...]:
        """Return the numbers of the edges that were drawn."""
        if self._halved:
            drawn = draw_places(self._way, self._quantiles, np.array([counts]), 1, entropy)
            return tuple(drawn[0].tolist())
        with temporary_ledger(User(), delta=1e-5) as ledger:
            made = self._plan(counts).release(
                ledger, dataset="audit", request="audit", entropy=entropy, progress=lambda _: None
            )
        return tuple(_EDGES.index(value) for value in made.to_pandas()["value"])

    def law(self, counts: tuple[int, int]) -> Outcomes:
        """Return the probability of every outcome: each choice is proportional to e^-exponent."""
        running = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        chances: dict[tuple[int, ...], float] = {(0,) * len(self._quantiles): 1.0}
        for step in steps_of(self._quantiles):
            chances = {
                (*chosen[: step.index], first + place, *chosen[step.index + 1 :]): chance * part
                for chosen, chance in chances.items()
                for first, last in [_part(step, chosen)]
                for place, part in enumerate(self._chances(step, running[first : last + 1]))
            }
        exact: dict[Hashable, Fraction] = {one: Fraction(chance * (1 - _ROUNDING)) for one, chance in chances.items()}
        return Outcomes.of(exact, 1 - sum(exact.values(), Fraction(0)))

    def _chances(self, step: Step, below: Any) -> list[float]:
        design = choice_of(self._way, step, len(below), 1)
        weights = np.exp(-exponents_of(design, whole_gaps(design, edge_utilities(below, step.target).tolist())))
        return [float(chance) for chance in weights / weights.sum()]

    def _plan(self, counts: tuple[int, int]) -> QuantilePlan:
        values = [0.5] * counts[0] + [1.5] * counts[1]
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
        plan: Any = series.quantiles("kwh", self._quantiles, edges=_EDGES).plan(epsilon=1.0, delta=1e-6)
        return QuantilePlan(replace(plan.design, way=self._way, delta=1e-6), (), 1e-6, plan.origin)


class _Halved(ByChoice):
    def change(self, step: Step) -> Fraction:
        del step
        return Fraction(1, 2)


def _part(step: Step, chosen: tuple[int, ...]) -> tuple[int, int]:
    low = 0 if step.low is None else chosen[step.low]
    return low, len(_EDGES) - 1 if step.high is None else chosen[step.high]


def _drawn() -> tuple[AuditCase, ...]:
    one, three = DrawnEdges((0.9,), epsilon=1.0), DrawnEdges((0.1, 0.5, 0.9), epsilon=0.5)
    return tuple(
        AuditCase(
            name=f"{name}, one person more",
            mechanism=mechanism,
            neighbours=(((9, 0), (9, 1)), ((1, 9), (1, 10)), ((2, 1), (3, 1))),
            claim=mechanism.claim,
            epsilon=1.0,
            checks=(Known(),),
        )
        for name, mechanism in (("the ninth decile", one), ("three quantiles", three))
    )


ENTRIES = (
    Entry(
        name="quantiles as drawn edges",
        covers=(QuantilePlan, draw_places),
        precision="utilities in whole numbers; exact coins",
        cases=_drawn,
    ),
)
