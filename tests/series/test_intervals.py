"""Intervals miss as often as they say, on each side; the same check rejects noise a tenth wider and another law.

Replicas stand side by side as the columns of one release, or one below the other as its periods. All limits are
binomial, at a false alarm rate of 1e-9 a side.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import Trials
from tests.series.misses import LAWS, WIDER, designed, missed, misses, noisy

from chronodp import User
from chronodp.engines import Grouping
from chronodp.postprocess.tails import Law, quantiles
from chronodp.randomness import seeded
from chronodp.series import Count, PanelMean, Sum
from chronodp.series.estimates import Estimates, estimate
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
def test_groups_side_by_side(law: Law, trials: Trials) -> None:
    level = 0.9
    groupings = (Grouping("region", ("north", "south")), Grouping("kind", ("a", "b", "c")))
    design = designed(Sum("kwh", (0.0, 5.0)), law, groupings=groupings)
    truth = 1e5 * np.arange(6.0)  # so far apart that a group taken for another misses
    replicas = trials(1_000_000, least=100_000)
    entropy = seeded("groups")
    tall = np.repeat(truth[None, :], replicas, axis=0)
    for wider, right in ((1.0, True), (WIDER, False)):
        numbers = noisy(design, tall, entropy, wider=wider)
        found = estimate(design, (numbers,), each(replicas), average=False, level=level)
        for place in range(6):
            ends = Estimates(found.value[:, place], found.lower[:, place], found.upper[:, place])
            assert missed(ends, truth[place]).exactly(level) == right


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
