"""How often intervals miss, counted over many draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from chronodp import User
from chronodp.engines import Grouping
from chronodp.postprocess.tails import Law
from chronodp.privacy import Grid, RecordUnit
from chronodp.randomness import Entropy, seeded
from chronodp.series import Design, EachPeriod, Measure, PanelMean, Table
from chronodp.series.estimates import Estimates, Floats, estimate
from chronodp.series.planner import design_release
from chronodp.series.windows import Windows

FALSE_ALARM = 1e-9
WIDER = 1.1
LAWS: tuple[Law, ...] = ("laplace", "gaussian")
CELLS = 2**21  # drawn at a time
PERSON = User()


@dataclass(frozen=True)
class Missed:
    """How often the truth lay below the lower end, and above the upper one."""

    below: int
    above: int
    replicas: int

    def exactly(self, level: float) -> bool:
        """Whether each side misses half of what the level leaves, no more and no less."""
        tail = (1 - level) / 2
        return all(stats.binomtest(k, self.replicas, tail).pvalue > FALSE_ALARM for k in (self.below, self.above))

    def at_most(self, level: float) -> bool:
        """Whether no side misses more than half of what the level leaves, and both together no more than all."""
        tail = (1 - level) / 2
        limits = ((self.below, tail), (self.above, tail), (self.below + self.above, 2 * tail))
        return all(float(stats.binom.sf(k - 1, self.replicas, share)) > FALSE_ALARM for k, share in limits)

    def __add__(self, other: Missed) -> Missed:
        return Missed(self.below + other.below, self.above + other.above, self.replicas + other.replicas)


def missed(found: Estimates, truth: Floats | float) -> Missed:
    return Missed(int((truth < found.lower).sum()), int((truth > found.upper).sum()), found.value.size)


def over_periods(
    design: Design, parts: tuple[Floats, ...], periods: int, *, level: float, ends: tuple[float, float]
) -> Estimates:
    """Read so many periods at a time of replicas that stand one below the other; nothing may lie beyond the ends."""
    starts = periods * np.arange(len(parts[0]) // periods)
    found = estimate(design, parts, Windows(starts, starts + periods, starts), average=False, level=level)
    assert np.all((found.lower <= found.value) & (found.value <= found.upper))
    assert np.all((found.lower >= ends[0] - 1e-6) & (found.upper <= ends[1] + 1e-6))
    return found


def designed(
    measure: Measure, law: Law, *, unit: RecordUnit = PERSON, periods: int = 3, groupings: tuple[Grouping, ...] = ()
) -> Design:
    table = Table(measure, unit, 31, max_periods=periods, groupings=groupings)
    designs = design_release(table, epsilon=1.0, delta=1e-6, tuned_for=EachPeriod())
    return next(design for design in designs if design.law == law)


def noisy(design: Design, truth: Floats, entropy: Entropy, *, part: int = 0, wider: float = 1.0) -> Floats:
    """The truth on the design's grid with the design's noise."""
    noise = design.noises[part]
    draw = entropy.laplace if noise.law == "laplace" else entropy.gaussian
    steps = np.rint(truth / noise.step).astype(np.int64)
    return Grid(noise.step).to_values(steps + draw(wider * noise.scale / noise.step, truth.shape))


def misses(
    design: Design,
    truth: Floats,
    windows: Windows,
    replicas: int,
    *,
    level: float,
    average: bool = False,
    wider: float = 1.0,
    read_as: Design | None = None,
) -> list[Missed]:
    """How often each stretch of a series misses its truth, the replicas side by side."""
    entropy = seeded(f"{design.law} {len(truth)} {wider}")
    sums = windows.sums(truth[:, None])
    if isinstance(design.table.measure, PanelMean):
        sums = sums / design.table.measure.people / windows.lengths[:, None]
    elif average:
        sums = sums / windows.lengths[:, None]
    columns = max(1, CELLS // len(truth))
    totals = [Missed(0, 0, 0)] * len(windows.starts)
    for start in range(0, replicas, columns):
        wide = np.repeat(truth[:, None], min(columns, replicas - start), axis=1)
        numbers = noisy(design, wide, entropy, wider=wider)
        found = estimate(read_as or design, (numbers,), windows, average=average, level=level)
        for row, total in enumerate(totals):
            ends = Estimates(found.value[row], found.lower[row], found.upper[row])
            totals[row] = total + missed(ends, sums[row, 0])
    return totals
