"""Which cells are reliable enough to be shown, by a stated rule that reads released numbers alone.

What the choice does to intervals, and how it is made good: ``docs/explanation/proofs/suppression.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Estimates, given_publication, published_level, reliable_relative
from chronodp.privacy import check_fraction, check_positive
from chronodp.series.readings.cells import UNRELIABLE, Cells
from chronodp.series.readings.linear import Linear
from chronodp.series.readings.made import LinearReading, Made
from chronodp.series.readings.pooled import PooledReading
from chronodp.series.readings.weights import Floats, Weights

__all__ = ["Coverage", "Published", "Rule", "cells_apart", "check_rule", "decide", "publish_cells", "shares_noise"]

# The false coverage rate is proved for cells that share no noise; where they do, the words say that it is not.
_APART_NOTE = " (false coverage rate: no two of them share noise)"
_SHARED_NOTE = " (false coverage rate, proved where no two share noise: some of these do)"
_APART_STEP = ": false coverage rate, no two cells share noise"
_SHARED_STEP = ": false coverage rate, proved where no two cells share noise: some of these do"

Coverage: TypeAlias = Literal["published", "each", "given"]


@dataclass(frozen=True, slots=True)
class Rule:
    """When a cell is published.

    Attributes:
        relative: no end of its interval is farther from the value than so many times its size.
        points: the true number is more than so far from the value ...
        chance: ... with at most this probability.
    """

    relative: float | None
    points: float | None
    chance: float | None

    def level(self, level: float) -> float:
        """Return the level at which the rule looks at intervals."""
        return level if self.chance is None else 1 - self.chance

    def words(self, level: float) -> str:
        """Return the rule in words."""
        if self.relative is not None:
            return f"the interval of {100 * level:g} % is within {100 * self.relative:g} % of the value"
        chance = 100 * (self.chance or 0.0)
        return f"the chance of being more than {self.points:g} off is at most {chance:g} %"


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """Cells after a rule, with what became of their intervals.

    Attributes:
        cells: as they are shown.
        level: at which their intervals were made.
        shown: how many are.
        covers: what intervals cover, in words.
        step: what was done, in words.
    """

    cells: Cells
    level: float
    shown: int
    covers: str
    step: str


def check_rule(relative: object, points: object, chance: object) -> Rule:
    """Return the rule that is asked for."""
    if (relative is None) == (points is None):
        raise InvalidArgument("relative", relative, "given, such as 0.2, or points and chance, such as 10 and 0.05")
    if relative is not None:
        if chance is not None:
            raise InvalidArgument("chance", chance, "left out: relative reads the interval at the view's level")
        return Rule(check_positive("relative", relative), None, None)
    return Rule(None, check_positive("points", points), check_fraction("chance", 0.05 if chance is None else chance))


def decide(cells: Cells, rule: Rule) -> NDArray[np.bool_]:
    """Return which cells the rule publishes, from cells at the level that it looks at."""
    told = cells.estimates
    if rule.relative is not None:
        near = reliable_relative(told.value, told.lower, told.upper, relative=rule.relative)
    else:
        points = rule.points or 0.0
        near = (told.value - told.lower <= points) & (told.upper - told.value <= points)
    found: NDArray[np.bool_] = near & (cells.kind == 0)
    return found


def publish_cells(
    made: Made, rule: Rule, level: float, coverage: Coverage, *, values: Floats, by: Made | None, apart: bool
) -> Published:
    """Return the cells that a rule keeps, with intervals that hold in the asked-for sense.

    Args:
        made: what is shown.
        rule: which cells are.
        level: of intervals.
        coverage: in which sense they are to hold.
        values: of the cells.
        by: with other noise, what decides instead.
        apart: whether no two cells share noise.
    """
    kept = decide(made.cells(rule.level(level)), rule) if by is None else _decided(made, by, rule, level)
    single, shown = level, int(kept.sum())
    if by is not None:
        covers = f"noise in each number at {100 * level:g} %: other noise decided which are shown"
        sense, cells = "decided on other noise", made.cells(level)
    elif coverage == "each":
        covers = "noise in each number before it was chosen which are shown; those shown miss more often"
        sense, cells = "each", made.cells(level)
    elif coverage == "published":
        single = published_level(level, shown, kept.size)
        covers = f"noise; of the numbers shown at most {100 * (1 - level):.3g} % are expected to miss"
        covers += _APART_NOTE if apart else _SHARED_NOTE
        sense, cells = f"published{_APART_STEP if apart else _SHARED_STEP}", made.cells(single)
    else:
        covers = "noise in each number, given that it is shown"
        sense, cells = "given", _given(made, rule, level, kept)
    # At a wider level a set may have no end any more; the value stands all the same.
    told = replace(cells, estimates=Estimates(values, cells.estimates.lower, cells.estimates.upper))
    step = f"published where {rule.words(level)}: {shown:,} of {kept.size:,} cells"
    step += f", intervals at level {single:.6g} ({sense})"
    return Published(told.hidden(~kept, UNRELIABLE), single, shown, covers, step)


def cells_apart(made: Made) -> bool:
    """Return whether no two columns share noise; of what does not tell, such as ratios, they are taken to."""
    if isinstance(made, LinearReading):
        return all(source.apart for source in made.linear.sources.values())
    return isinstance(made, PooledReading)  # a mean of each group, over its own people


def shares_noise(one: Made, other: Made) -> bool:
    """Return whether any draw may enter both."""
    if not one.noise or not other.noise:
        return True
    return any(_overlap(left, right) for left in one.noise for right in other.noise)


def _overlap(one: Linear, other: Linear) -> bool:
    for left in one.terms:
        for right in other.terms:
            if left.source.key != right.source.key:
                continue
            if not left.source.white:
                return True
            (start, stop), (begin, end) = _span(left.times), _span(right.times)
            here, there = (term.places.points[np.unique(term.places.which)] for term in (left, right))
            if start < end and begin < stop and len(np.intersect1d(here, there)):
                return True
    return False


def _decided(made: Made, by: Made, rule: Rule, level: float) -> NDArray[np.bool_]:
    """Return which cells other noise publishes."""
    if shares_noise(made, by):
        allowed = "of noise that enters no number shown: an earlier release, or another part of this one"
        raise InvalidArgument("decided_on", "a view that shares noise with this one", allowed)
    kept = decide(by.cells(rule.level(level)), rule)[:, by.columns.spread(made.columns, "decided_on")]
    rows = len(made.rows.windows.labels)
    if len(kept) not in (1, rows):
        raise InvalidArgument("decided_on", f"{len(kept)} rows", f"1 row or {rows}")
    return np.broadcast_to(kept, (rows, kept.shape[1]))


def _span(times: Weights) -> tuple[int, int]:
    """Return the first period that may have weight in any row, and the one after the last."""
    used = times.weights != 0
    starts = np.where(used, times.points, np.iinfo(np.int64).max).min(axis=1)
    # Weights on running sums that do not cancel reach back to the first period.
    back = np.abs(times.weights.sum(axis=1)) > 1e-9 * np.abs(times.weights).sum(axis=1)
    stops = np.where(used, times.points, 0).max(axis=1)
    rows = np.unique(times.which)
    return int(np.where(back, 0, starts)[rows].min()), int(stops[rows].max())


def _given(made: Made, rule: Rule, level: float, kept: NDArray[np.bool_]) -> Cells:
    if not isinstance(made, LinearReading) or rule.relative is None:
        allowed = "'published' or 'each': given publication is for numbers that are no ratios, and a relative rule"
        raise InvalidArgument("coverage", "given", allowed)
    if made.linear.law != "gaussian":
        allowed = "'published' or 'each': given that a number with Laplace noise is shown nothing bounds it from below"
        raise InvalidArgument("coverage", "given", allowed)
    cells = made.cells(level)
    deviation = np.broadcast_to(np.sqrt(made.linear.variance()), kept.shape)
    threshold = np.broadcast_to(made.half_widths(level), kept.shape) / rule.relative
    lower, upper = cells.estimates.lower.copy(), cells.estimates.upper.copy()
    lower[kept], upper[kept] = given_publication(
        made.linear.law,
        cells.estimates.value[kept],
        deviation=deviation[kept],
        threshold=np.minimum(threshold[kept], np.abs(cells.estimates.value[kept])),
        level=level,
    )
    return replace(cells, estimates=Estimates(cells.estimates.value, lower, upper))
