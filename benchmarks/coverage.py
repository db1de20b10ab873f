"""How often the sets of ratios, shares and changes hold the truth: by law, shape, level and size of the denominator.

Many releases stand side by side as keys of one: noise is drawn and undone by the plan's own shape, and read by views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

import chronodp as cdp
from benchmarks.harness import Topic, show
from chronodp.engines import Grouping
from chronodp.postprocess import Law, deviations, quadratic_sets, quantiles
from chronodp.privacy import Calendar, Certificate, Claim, Grid, Guarantee
from chronodp.randomness import seeded
from chronodp.series import Count, Design, Table, View
from chronodp.series.plain import Numbers
from chronodp.series.planner import design_release
from chronodp.series.readings.made import LinearReading, RatioReading
from chronodp.series.shapes import BufferedLinear, SquareRoot, Tree, White, buffers_near
from chronodp.series.shaping import ReleasedShape, draw_noise
from chronodp.series.workloads import RunningTotal

LEVELS = (0.9, 0.95, 0.99)
SIZES = (0.25, 1.0, 3.0, 10.0, 100.0)  # of the denominator, in its own deviations
WEEKS, RATIO, SHARE = 12, 2.5, 0.3
CALENDAR = Calendar("1W", "2026-01-05", "2026-03-30")
FIVE_WEEKS, EIGHTH = ("2026-02-16", "2026-03-22"), ("2026-02-23", "2026-03-01")  # the five just before the last
RUNS, AT_ONCE = 60_000, 20_000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """How a reading is asked for, what is true of it, and the weeks of two groups in which it is.

    Attributes:
        ask: the view at a level, from the weeks of both groups or of what was made of them.
        first: what is made of the weeks once, for all levels.
        weeks: of either group, for a denominator of 1.
        truth: of the last week, as it is shown.
    """

    first: Callable[[View], tuple[View, ...]]
    ask: Callable[[tuple[View, ...], float], View]
    weeks: tuple[tuple[float, ...], tuple[float, ...]]
    truth: float


_ONES = (1.0,) * WEEKS
READINGS = {
    "ratio of two groups": Reading(
        lambda weeks: (weeks.at(group="a"), weeks.at(group="b")),
        lambda both, level: both[0].ratio(both[1], level=level),
        ((RATIO,) * WEEKS, _ONES),
        RATIO,
    ),
    "share of both groups": Reading(
        lambda weeks: (weeks.at(group="a"), weeks.over("group")),
        lambda both, level: both[0].ratio(both[1], within=(0, 1), level=level),
        ((SHARE,) * WEEKS, (1 - SHARE,) * WEEKS),
        SHARE,
    ),
    "change against the mean of five weeks": Reading(
        lambda weeks: (weeks.at(group="a"),),
        lambda one, level: one[0].change(baseline=FIVE_WEEKS, level=level),
        ((*_ONES[:6], 0.5, 0.8, 1.0, 1.2, 1.5, RATIO), _ONES),
        100 * (RATIO - 1),
    ),
    "change against their median": Reading(
        lambda weeks: (weeks.at(group="a"),),
        lambda one, level: one[0].change(baseline=FIVE_WEEKS, statistic="median", level=level),
        ((*_ONES[:6], 1.0, 1.0, 1.0, 4.0, 9.0, RATIO), _ONES),
        100 * (RATIO - 1),
    ),
    "running total over an earlier one": Reading(
        lambda weeks: (weeks.at(group="a").running_total(),),
        lambda one, level: one[0].change(baseline=EIGHTH, scale="index", level=level),
        ((0.125,) * WEEKS, _ONES),
        150.0,
    ),
}


@cache
def design_of(law: Law, shape: str) -> Design:
    """Return a plan's design; where no plan takes that shape with that law, a plan's with the shape put in."""
    table = Table(Count(), cdp.User(), WEEKS, CALENDAR, max_periods=2)
    kinds = {"white": White, "square root": SquareRoot, "buffered": BufferedLinear, "tree": Tree}
    found = design_release(table, epsilon=2.0, delta=1e-6, tuned_for=RunningTotal())
    same = [one for one in found if one.law == law]
    fitting = [one for one in same if isinstance(one.shape, kinds[shape])]
    if fitting:
        return fitting[0]
    others: dict[str, ReleasedShape] = {
        "square root": SquareRoot(RunningTotal()),
        "buffered": next(iter(buffers_near(WEEKS, 2).values())),
    }
    return replace(same[0], shape=others[shape])


NOISES: tuple[tuple[Law, str], ...] = (
    ("gaussian", "white"),
    ("gaussian", "square root"),
    ("gaussian", "buffered"),
    ("laplace", "white"),
    ("laplace", "square root"),
    ("laplace", "buffered"),
    ("laplace", "tree"),
)


def exact(law: Law, shape: str, reading: str) -> bool:
    """Whether the level is attained: medians and many different Laplace weights are covered by what covers any."""
    return "median" not in reading and (law == "gaussian" or shape == "white")


def weeks_of(design: Design, truth: Floats, noise: NDArray[np.int64], runs: int) -> View:
    """Return so many releases of one truth beside each other, with this noise, as a view."""
    keys = tuple(str(run) for run in range(runs))
    sizes = tuple(str(size) for size in range(truth.shape[1] // 2))
    groupings = (Grouping("run", keys), Grouping("size", sizes), Grouping("group", ("a", "b")))
    wide = replace(design, table=replace(design.table, groupings=groupings))
    claim = Claim(cdp.User(), design.noises[0].cost, "docs/explanation/proofs/release.md")
    certificate = Certificate("noise", claim, Guarantee(cdp.User(), 1.0), "definition", "a grid")
    numbers = np.tile(truth, runs) + Grid(design.noises[0].step).to_values(noise)
    return Numbers(wide, (numbers,), certificate, "simulated", "r").operand()


def true_weeks(design: Design, reading: Reading) -> Floats:
    """Return weeks × (sizes × groups) such that the denominator is so many of its deviations."""
    weeks = np.array(reading.weeks).T
    plain = weeks_of(design, weeks, np.zeros((WEEKS, 2), np.int64), 1)
    probe = reading.ask(reading.first(plain), 0.95).made
    if isinstance(probe, RatioReading):
        deviation = np.broadcast_to(np.sqrt(probe.denominator.variance()), probe.denominator.shape)[-1, 0]
    else:  # of a median: that of one of its weeks
        assert isinstance(plain.made, LinearReading)
        deviation = float(np.max(np.sqrt(plain.made.linear.variance())))
    found: Floats = np.concatenate([size * deviation * weeks for size in SIZES], axis=1)
    return found


def holds(view: View, truth: float) -> NDArray[np.bool_]:
    """Return whether the set of each cell of the last row holds the truth; one without ends does unless in its gap."""
    told, cells = view.estimates, view.cells
    slack = 1e-9 * (1 + abs(truth))
    inside: NDArray[np.bool_] = (told.lower[-1] <= truth + slack) & (truth - slack <= told.upper[-1])
    if cells is None:
        return inside
    if cells.not_above is not None and cells.not_below is not None:
        inside &= ~((cells.not_above[-1] < truth) & (truth < cells.not_below[-1]))
    inside &= cells.kind[-1] != 3
    return inside


@dataclass
class Counted:
    """Of each size of the denominator: what share of sets hold the truth, and of 95 % what else is asked of them.

    Attributes:
        held: levels × sizes.
        unbounded: without an end, by size.
        delta: of the delta method's intervals at 95 %, by size; None where there is no such way.
        without: of sets at 95 % without the covariance; None where there is no such way.
    """

    held: Floats
    unbounded: Floats
    delta: Floats | None
    without: Floats | None


def count(
    law: Law, shape: str, *, runs: int, seed: str = "coverage", levels: tuple[float, ...] = LEVELS
) -> Iterator[tuple[str, Counted]]:
    """Return every reading's coverage in so many releases with one kind of noise, in parts that fit in memory.

    Levels are some of `LEVELS`, 95 % among them.
    """
    design = design_of(law, shape)
    entropy = seeded(f"{seed} {law} {shape}")
    sums: dict[str, list[tuple[int, Counted]]] = {name: [] for name in READINGS}
    for start in range(0, runs, AT_ONCE):
        some = min(AT_ONCE, runs - start)
        noise = draw_noise(design.shape, design.noises[0], WEEKS, some * len(SIZES) * 2, entropy)
        for name, reading in READINGS.items():
            weeks = weeks_of(design, true_weeks(design, reading), noise, some)
            sums[name].append((some, _count(weeks, reading, law, some, levels)))
    for name, parts in sums.items():
        yield name, _added(parts, runs)


def _added(parts: list[tuple[int, Counted]], runs: int) -> Counted:
    def mean(named: str) -> Floats:
        total: Floats = sum(some * getattr(one, named) for some, one in parts) / runs
        return total

    asked = parts[0][1].delta is not None
    return Counted(
        mean("held"), mean("unbounded"), mean("delta") if asked else None, mean("without") if asked else None
    )


def _count(weeks: View, reading: Reading, law: Law, runs: int, levels: tuple[float, ...]) -> Counted:
    held, unbounded = [], np.zeros(len(SIZES))
    delta = without = None
    parts = reading.first(weeks)
    for level in levels:
        view = reading.ask(parts, level)
        held.append(_by_size(holds(view, reading.truth), runs))
        if level == 0.95 and view.cells is not None:
            unbounded = _by_size(np.isin(view.cells.kind[-1], (1, 2)), runs)
            if isinstance(view.made, RatioReading):
                delta, without = (_by_size(one, runs) for one in _wrong_ways(view.made, reading.truth, law, level))
    return Counted(np.array(held), unbounded, delta, without)


def _by_size(cells: NDArray[np.bool_], runs: int) -> Floats:
    return np.asarray(cells.reshape(runs, -1).mean(axis=0), np.float64)


def _wrong_ways(made: RatioReading, truth: float, law: Law, level: float) -> tuple[NDArray[np.bool_], ...]:
    """Return what the delta method's interval holds, and what Fieller's set without the covariance does."""
    ratio = (truth - made.offset) / made.factor
    above, below = made.numerator.values()[-1], made.denominator.values()[-1]
    shape = made.numerator.shape
    spreads = (made.numerator.variance(), made.numerator.covariance(made.denominator), made.denominator.variance())
    aa, ab, bb = (np.broadcast_to(one, shape)[-1] for one in spreads)
    value = above / below
    half = float(quantiles("gaussian", [1], level)[0]) * np.sqrt(aa - 2 * value * ab + value**2 * bb) / np.abs(below)
    apart = quadratic_sets(above, below, aa=aa, ab=0.0, bb=bb, multiplier=deviations(law, level))
    return np.abs(value - ratio) <= half, apart.contain(np.full(shape[1], ratio))


def measure() -> Topic:
    topic = Topic(
        f"Sets of ratios that hold the truth at 90 / 95 / 99 %, {RUNS:,} releases, by size of the denominator",
        "python -m benchmarks.coverage",
        (
            "reading",
            "noise",
            "exact",
            *(f"{size:g} deviations" for size in SIZES),
            "without an end at 95 %",
            "delta method for 95 %",
            "without covariance for 95 %",
        ),
        everywhere=True,
    )
    for law, shape in NOISES:
        for reading, found in count(law, shape, runs=RUNS):
            held = [" / ".join(f"{one:.4f}" for one in column) for column in found.held.T]
            others = [_joined(one) for one in (found.unbounded, found.delta, found.without)]
            topic.rows.append(
                (reading, f"{law}, {shape}", "yes" if exact(law, shape, reading) else "no", *held, *others)
            )
    topic.rows.sort(key=lambda row: list(READINGS).index(row[0]))
    sizes = ", ".join(f"{size:g}" for size in SIZES)
    topic.notes = [
        f"the last of {WEEKS} weeks; a denominator is so many of its own deviations of noise (of a median: of "
        "one week's); the true ratio is 2.5, of a share 0.3, of running totals 1.5",
        "exact: the set holds the truth at its level whatever it is; else at that level or more often. Error of a "
        f"share of {RUNS:,}: 0.0012 / 0.0009 / 0.0004",
        f"last three columns at {sizes} deviations. Sets without an end count as holding what is not in their gap. "
        "Delta method: a straight line through the estimate, the normal multiplier. Without covariance: Fieller's set "
        "of two numbers taken to be independent",
        "no plan takes Laplace noise with a square root or buffers: they stand here by themselves",
    ]
    return topic


def _joined(shares: Floats | None) -> str:
    return "–" if shares is None else " / ".join(f"{one:.3f}" for one in shares)


if __name__ == "__main__":
    show(measure)
