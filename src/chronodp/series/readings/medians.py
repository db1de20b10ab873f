"""Readings over a median of baseline rows, which is not linear: sets that hold whatever the true rows are.

"Medians" of ``docs/explanation/proofs/ratios.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess import FiellerSets, Within, bonferroni_median_sets, median_sets
from chronodp.series.readings.axes import Columns, Rows
from chronodp.series.readings.cells import Cells, blank_cells, gathered_cells
from chronodp.series.readings.linear import Linear
from chronodp.series.readings.made import LinearReading
from chronodp.series.readings.weights import Floats, Wholes

__all__ = ["MedianReading"]


@dataclass(frozen=True, eq=False)
class MedianReading:
    """A linear reading over the median of some rows of a reading with the same columns.

    Attributes:
        numerator: above.
        baseline: the rows whose median is below.
        weeks: which of them, for every kind of row.
        which: of which kind each row is.
        within: where the ratio is known to be.
        factor: of the ratio in what is shown.
        offset: of what is shown.
    """

    numerator: LinearReading
    baseline: LinearReading
    weeks: tuple[Wholes, ...]
    which: Wholes
    within: Within | None
    factor: float
    offset: float

    @property
    def rows(self) -> Rows:
        """What its rows are."""
        return self.numerator.rows

    @property
    def columns(self) -> Columns:
        """What its columns are."""
        return self.numerator.columns

    @property
    def product(self) -> bool:
        """Whether the product of levels is enough: not shown, so what holds for any noise is taken."""
        return False

    @property
    def noise(self) -> tuple[Linear, ...]:
        """All that noise enters by."""
        used = np.unique(np.concatenate(self.weeks))
        return self.numerator.linear, self.baseline.linear.rows(used)

    def cells(self, level: float) -> Cells:
        """Return ratios with the sets of what they may be."""
        above, below = self.numerator.linear.values(), self.baseline.linear.values()
        made = blank_cells(*above.shape)
        if not above.size:
            return made
        every = np.arange(above.shape[1])
        for kind, weeks in enumerate(self.weeks):
            rows = np.flatnonzero(self.which == kind)
            if not len(rows):
                continue
            median = np.median(below[weeks], axis=0)
            apart = self._apart(rows, weeks)
            for chosen, free in ((rows[apart], True), (rows[~apart], False)):
                if len(chosen):
                    sets = self._sets(chosen, weeks, above[chosen], median, level, free=free)
                    made = gathered_cells(made, np.ix_(chosen, every), sets)
        return made.moved(self.factor, self.offset)

    def _sets(
        self, rows: Wholes, weeks: Wholes, above: Floats, median: Floats, level: float, *, free: bool
    ) -> FiellerSets:
        upper, lower = self.numerator.linear.rows(rows), self.baseline.linear.rows(weeks)
        if free and (scales := self._scales(upper, lower)) is not None:
            law = "gaussian" if upper.law == lower.law == "gaussian" else "laplace"
            return median_sets(
                above,
                median,
                law=law,  # type: ignore[arg-type]
                weeks=len(weeks),
                level=level,
                numerator_scale=scales[0],
                denominator_scale=scales[1],
                within=self.within,
            )
        # Noise that rows share: each of them and the numerator within its own reach, all at once.
        single = 1 - (1 - level) / (len(weeks) + 1)
        on_rows = LinearReading(self.rows, self.columns, upper, nonnegative=False).half_widths(single)
        on_weeks = LinearReading(self.rows, self.columns, lower, nonnegative=False).half_widths(single)
        return bonferroni_median_sets(
            above,
            median,
            numerator_half=on_rows,
            denominator_half=on_weeks.max(axis=0, keepdims=True),
            within=self.within,
        )

    def _scales(self, upper: Linear, lower: Linear) -> tuple[float, float] | None:
        """Return the scale of one draw above, and the largest below; None where a number is no single draw."""
        spreads = [upper.variance(), lower.variance()]
        if np.ptp(spreads[0]) > 1e-9 * spreads[0].max():
            return None
        deviations = [float(np.sqrt(spread.max())) for spread in spreads]
        if upper.law == lower.law == "gaussian":
            return deviations[0], deviations[1]
        single = all(
            term.source.law == "laplace" and _single(term.times.points, term.times.weights)
            for reading in (upper, lower)
            for term in reading.terms
        )
        alone = all(term.places.points.shape[1] == 1 for reading in (upper, lower) for term in reading.terms)
        if not (single and alone and len(upper.terms) == len(lower.terms) == 1):
            return None
        return deviations[0] / np.sqrt(2.0), deviations[1] / np.sqrt(2.0)

    def _apart(self, rows: Wholes, weeks: Wholes) -> NDArray[np.bool_]:
        """Return which rows share no noise with the baseline, whose rows share none either."""
        upper, lower = self.numerator.linear.rows(rows), self.baseline.linear.rows(weeks)
        count = len(weeks)
        for lag in range(1, count):
            between = lower.rows(np.arange(count - lag)).covariance(lower.rows(np.arange(lag, count)))
            if np.any(between != 0):
                return np.zeros(len(rows), np.bool_)
        free = np.ones(len(rows), np.bool_)
        for week in range(count):
            shared = upper.covariance(lower.rows(np.full(len(rows), week)))
            free &= ~np.any(shared != 0, axis=1)
        return free


def _single(points: Wholes, weights: Floats) -> bool:
    """Return whether every row is one period's number alone."""
    stops = np.where(weights > 0, points, 0).max(axis=1)
    starts = np.where(weights < 0, points, 0).max(axis=1)
    return bool(np.all(stops - starts == 1) and points.shape[1] <= 2)
