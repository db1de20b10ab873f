"""Intervals miss as often as they say, on each side; the same check rejects noise a tenth wider and another law.

Replicas stand side by side as the columns of one release, or one below the other as its periods. All limits are
binomial, at a false alarm rate of 1e-9 a side.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.conftest import SCALE, Trials, in_turn
from tests.series.misses import FALSE_ALARM, LAWS, WIDER, Missed, designed, missed, misses, noisy, over_periods

from chronodp import Aggregate, Event, Ledger, User
from chronodp.engines import Grouping
from chronodp.postprocess.tails import Law, quantiles
from chronodp.privacy import RecordUnit
from chronodp.randomness import seeded
from chronodp.series import Count, Design, Histogram, Mean, PanelMean, Sum, Variance
from chronodp.series.estimates import Estimates, Floats, estimate
from chronodp.series.quantile_reading import estimate_quantile
from chronodp.series.windows import each, rolling, running


def test_each_period(trials: Trials, subtests: pytest.Subtests) -> None:
    for level, law, measure in itertools.product([0.8, 0.95], LAWS, [Count(at_most=3), Sum("kwh", (-2.0, 7.0))]):
        with subtests.test(level=level, law=law, measure=measure):
            design = designed(measure, law)
            replicas = trials(2_000_000, least=100_000)
            truth = np.array([1234.0])
            (right,) = misses(design, truth, each(1), replicas, level=level)
            assert right.exactly(level)
            (wide,) = misses(design, truth, each(1), replicas, level=level, wider=WIDER)
            assert not wide.exactly(level)
            (thin,) = misses(design, truth, each(1), replicas, level=level, wider=1 / WIDER)
            assert not thin.exactly(level)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("length", [1, 4])
def test_the_other_law_of_the_same_deviation_is_no_match(law: Law, length: int, trials: Trials) -> None:
    level = 0.99
    design = designed(Sum("kwh", (0.0, 5.0)), law)
    (noise,) = design.noises
    other: Law = "gaussian" if law == "laplace" else "laplace"
    scale = noise.deviation if other == "gaussian" else noise.deviation / np.sqrt(2)
    mistaken = replace(design, noises=(replace(noise, law=other, scale=scale),))
    assert mistaken.noises[0].deviation == pytest.approx(noise.deviation)
    windows, truth = rolling(length, length), np.full(length, 50.0)
    replicas = trials(1_000_000, least=200_000)
    assert misses(design, truth, windows, replicas, level=level)[0].exactly(level)
    assert not misses(design, truth, windows, replicas, level=level, read_as=mistaken)[0].exactly(level)


@pytest.mark.parametrize("law", LAWS)
def test_rolling_means(law: Law, trials: Trials) -> None:
    level, horizon = 0.9, 9
    design = designed(Count(), law)
    truth = np.rint(10.0 ** np.arange(horizon) / 1e3)
    replicas = trials(500_000, least=100_000)
    windows = rolling(horizon, 7)
    for mean in misses(design, truth, windows, replicas, level=level, average=True):
        assert mean.exactly(level)
    for mean in misses(design, truth, windows, replicas, level=level, average=True, wider=WIDER):
        assert not mean.exactly(level)


def test_a_sum_reaches_less_far_than_its_parts_together() -> None:
    design = designed(Sum("kwh", (0.0, 5.0)), "laplace")
    level, length = 0.99, 4
    single = float(quantiles("laplace", [1], level)[0]) * design.noises[0].scale
    found = estimate(design, (np.zeros((length, 1)),), running(length), average=False, level=level)
    assert found.upper[0, 0] == pytest.approx(single)
    # Neither all at once, as if errors added up, nor the root of their number, as if Laplace noise were stable.
    assert found.upper[-1, 0] < 0.95 * single * np.sqrt(length)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("length", [1, 3])
def test_means_over_a_panel(law: Law, length: int, trials: Trials) -> None:
    level, people = 0.9, 40
    design = designed(PanelMean("kwh", (0.0, 5.0), people), law, unit=User("replace"))
    truth = people * np.linspace(1.0, 4.0, length)
    replicas = trials(1_000_000, least=100_000)
    windows = rolling(length, length)
    assert misses(design, truth, windows, replicas, level=level)[0].exactly(level)
    assert not misses(design, truth, windows, replicas, level=level, wider=WIDER)[0].exactly(level)


CLIP = (0.0, 10.0)


def mean_misses(
    law: Law, people: int, mean: float, replicas: int, *, level: float, periods: int = 1, wider: float = 1.0
) -> Missed:
    """How often the interval of a mean over a few periods misses it, the replicas one below the other."""
    design = designed(Mean("kwh", CLIP), law, periods=1)
    parts = mean_parts(design, people, mean, replicas * periods, wider=wider)
    return missed(over_periods(design, parts, periods, level=level, ends=CLIP), mean)


def mean_parts(design: Design, people: int, mean: float, rows: int, *, wider: float = 1.0) -> tuple[Floats, Floats]:
    entropy = seeded(f"{design.law} {people} {mean} {wider}")
    sums = np.full((rows, 1), people * (mean - middle(design)))
    counts = np.full((rows, 1), float(people))
    return noisy(design, sums, entropy, wider=wider), noisy(design, counts, entropy, part=1, wider=wider)


def middle(design: Design) -> float:
    measure = design.table.measure
    assert isinstance(measure, Mean)
    return measure.middle(design.noises[0].step)


FEW = [(1, 3.3), (1, 5.0), *((people, mean) for people in (5, 50) for mean in (CLIP[0], 3.3, 5.0, CLIP[1]))]


@pytest.mark.slow
def test_means_of_few_people_miss_at_most_so_often(trials: Trials, subtests: pytest.Subtests) -> None:
    for law, people, mean in in_turn(LAWS, FEW):
        with subtests.test(law=law, people=people, mean=mean):
            level = 0.9
            replicas = trials(400_000, least=50_000)
            assert mean_misses(law, people, mean, replicas, level=level).at_most(level)
            if people == 50 and CLIP[0] < mean < CLIP[1]:
                assert not mean_misses(law, people, mean, replicas, level=level, wider=WIDER).at_most(level)


@pytest.mark.parametrize(("law", "end"), in_turn(LAWS, CLIP))
@pytest.mark.slow
def test_one_person_at_an_end_of_the_clip(law: Law, end: float, trials: Trials) -> None:
    level = 0.9
    assert mean_misses(law, 1, end, trials(400_000, least=400_000), level=level).at_most(level)


MANY = [*((LAWS[0], people) for people in (100, 500, 5000, 10**6)), *((LAWS[1], many) for many in (100, 5000, 10**6))]


@pytest.mark.parametrize(("law", "people"), MANY if SCALE >= 1 else MANY[::2])
@pytest.mark.slow
def test_means_of_many_people_miss_exactly_so_often(law: Law, people: int, trials: Trials) -> None:
    level = 0.9
    replicas = trials(400_000, least=100_000)
    assert mean_misses(law, people, 3.3, replicas, level=level).exactly(level)
    assert not mean_misses(law, people, 3.3, replicas, level=level, wider=WIDER).exactly(level)
    for end in CLIP:
        assert mean_misses(law, people, end, replicas, level=level).at_most(level)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.slow
def test_means_over_several_periods(law: Law, trials: Trials) -> None:
    level, periods = 0.9, 4
    replicas = trials(200_000, least=100_000)
    assert mean_misses(law, 60, 6.5, replicas, level=level, periods=periods).exactly(level)
    assert not mean_misses(law, 60, 6.5, replicas, level=level, periods=periods, wider=WIDER).exactly(level)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_a_mean_whose_count_is_taken_as_exact_is_no_match(law: Law, trials: Trials) -> None:
    level, people, mean = 0.9, 200, 8.5
    replicas = trials(400_000, least=100_000)
    design = designed(Mean("kwh", CLIP), law, periods=1)
    sums, counts = mean_parts(design, people, mean, replicas)
    half = float(quantiles(law, [1], level)[0]) * design.noises[0].scale / counts
    value = middle(design) + sums / counts
    assert not missed(Estimates(value, value - half, value + half), mean).at_most(level)
    found = estimate(design, (sums, counts), each(replicas), average=False, level=level)
    assert missed(found, mean).at_most(level)


def test_nobody_there_tells_nothing() -> None:
    for law, (measure, ends) in itertools.product(
        LAWS, ((Mean("kwh", CLIP), CLIP), (Variance("kwh", CLIP), (0.0, 5.0**2)))
    ):
        design = designed(measure, law, periods=1)
        empty = [np.zeros((1, 1)) for _ in design.noises]
        found = estimate(design, tuple(empty), each(1), average=False, level=0.95)
        assert (found.lower[0, 0], found.upper[0, 0]) == pytest.approx(ends, abs=1e-5), (law, measure)
        assert np.isfinite(found.value).all()


@pytest.mark.parametrize("law", LAWS)
def test_groups_and_bins_side_by_side(law: Law, trials: Trials) -> None:
    level, replicas = 0.9, trials(1_000_000, least=100_000)
    groupings = (Grouping("region", ("north", "south")), Grouping("kind", ("a", "b", "c")))
    for design, truth in (
        (designed(Sum("kwh", (0.0, 5.0)), law, groupings=groupings), 1e5 * np.arange(6.0)),  # another's would miss
        (designed(Histogram("age", (0.0, 18.0, 65.0, 120.0)), law), np.array([0.0, 20.0, 3000.0])),
    ):
        tall, entropy = np.repeat(truth[None, :], replicas, axis=0), seeded("side by side")
        for wider, right in ((1.0, True), (WIDER, False)):
            numbers = (noisy(design, tall, entropy, wider=wider),)
            found = estimate(design, numbers, each(replicas), average=False, level=level)
            for place, true in enumerate(truth.tolist()):
                ends = Estimates(found.value[:, place], found.lower[:, place], found.upper[:, place])
                assert missed(ends, true).exactly(level) == right, (design.table.released, place)


def quantile_misses(
    design: Design,
    truth: list[float],
    q: float,
    replicas: int,
    *,
    level: float,
    length: int = 1,
    wider: float = 1.0,
    read_as: Design | None = None,
) -> Missed:
    """How often an interval of edges leaves out the bin in which the true quantile lies."""
    bins = np.array(truth)
    edges = np.arange(len(truth) + 1.0)
    entropy = seeded(f"{design.law} {truth} {q} {wider}")
    steps = 2.0**30 * bins / length  # the truth may lie between whole people, as near to an edge as we like
    wide = np.repeat(steps[None, None, :], replicas * length, axis=0) / 2.0**30
    draws = noisy(design, np.zeros_like(wide), entropy, wider=wider)
    counts = (wide + draws).reshape(replicas, length, 1, len(bins)).sum(axis=1)
    lengths: Floats = np.full(replicas, float(length))
    found = estimate_quantile(counts, edges, q, design=read_as or design, terms=lengths, level=level)
    assert np.all((found.lower <= found.value) & (found.value <= found.upper))
    below = np.cumsum(bins) - q * bins.sum()
    place = int(np.argmax(below >= 0))  # the quantile lies between this edge and the next
    return Missed(int((found.lower > edges[place]).sum()), int((found.upper < edges[place + 1]).sum()), replicas)


NEAR = 1e-5  # people


TRUTHS = [
    ([50.0, 50.0], 0.5), ([30.0, 20.0, 50.0], 0.5), ([10.0, 40.0, 30.0, 20.0], 0.1), ([5.0] * 20, 0.9),
    ([100.0, *[0.0] * 9], 0.5), ([*[0.0] * 9, 100.0], 0.25), ([1.0, *[0.0] * 8, 1.0], 0.75),
    ([0.0, 3.0, 0.0, 0.0, 1.0, 0.0], 0.5),
]  # fmt: skip


@pytest.mark.slow
def test_quantiles_miss_at_most_so_often(trials: Trials, subtests: pytest.Subtests) -> None:
    for law, truth, q in in_turn(LAWS, TRUTHS):
        with subtests.test(law=law, truth=truth, q=q):
            level = 0.9
            design = designed(Histogram("age", tuple(range(len(truth) + 1))), law, periods=1)
            replicas = trials(200_000, least=30_000)
            for moved in (0.0, NEAR, -NEAR):  # to either side of an edge, where it is hardest
                nearby = [truth[0] + moved, *truth[1:-1], truth[-1] - moved]
                if min(nearby) >= 0:
                    assert quantile_misses(design, nearby, q, replicas, level=level).at_most(level)


@pytest.mark.parametrize(
    ("law", "length", "share", "q"),
    in_turn(list(itertools.product(LAWS, (1, 3))), [(500.0, 0.5), (100.0, 0.1), (800.0, 0.8)]),
)
@pytest.mark.slow
def test_a_quantile_at_an_edge_misses_exactly_so_often(
    law: Law, length: int, share: float, q: float, trials: Trials
) -> None:
    level = 0.99
    design = designed(Histogram("age", (0.0, 1.0, 2.0)), law, periods=1)
    replicas = trials(1_000_000, least=100_000)
    tail = (1 - level) / 2

    def rarity(count: int) -> float:
        return float(stats.binomtest(count, replicas, tail).pvalue)

    def both(*, wider: float = 1.0, read_as: Design | None = None) -> tuple[float, float]:
        # Just below the edge only the lower end can miss, just above it only the upper one.
        low, high = (
            quantile_misses(
                design,
                [share + moved, 1000.0 - share - moved],
                q,
                replicas,
                level=level,
                length=length,
                wider=wider,
                read_as=read_as,
            )
            for moved in (NEAR, -NEAR)
        )
        assert low.above == high.below == 0
        return rarity(low.below), rarity(high.above)

    assert min(both()) > FALSE_ALARM
    assert max(both(wider=WIDER)) < FALSE_ALARM
    if length == 1:
        (noise,) = design.noises
        other: Law = "gaussian" if law == "laplace" else "laplace"
        scale = noise.deviation / (1.0 if other == "gaussian" else np.sqrt(2))
        mistaken = replace(design, noises=(replace(noise, law=other, scale=scale),))
        assert max(both(read_as=mistaken)) < FALSE_ALARM


@pytest.mark.parametrize("law", LAWS)
def test_a_release_covers_what_went_in(law: Law, tmp_path: Path, trials: Trials) -> None:
    level = 0.9
    periods = trials(1_000_000, least=100_000)
    truth = np.round(np.linspace(-1e6, 1e6, periods), 1)
    unit: RecordUnit = Event() if law == "laplace" else User()
    series = Aggregate(truth, change=5.0, unit=unit, max_periods=None if law == "laplace" else 1000)
    plan = series.plan(epsilon=1.0, delta=1e-6 if law == "gaussian" else 0.0)
    assert plan.design.law == law
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("totals", unit=unit, epsilon=1.0, delta=plan.design.delta)
        release = plan.release(ledger, dataset="totals", request="all", entropy=seeded(law), progress=lambda _: None)
    table = release.to_pandas(level=level)
    found = Estimates(*(table[name].to_numpy() for name in ("value", "lower", "upper")))
    assert missed(found, truth).exactly(level)
    other = release.to_pandas(level=1 - (1 - level) * 0.8)
    assert not missed(Estimates(*(other[name].to_numpy() for name in ("value", "lower", "upper"))), truth).exactly(
        level
    )
