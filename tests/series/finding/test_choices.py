"""The choices by themselves, of a median, an end, bounds and the length of a whole series: exact probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.series.releases import over

import chronodp as cdp
from chronodp.engines import Record, Reference
from chronodp.selection import exponents_of, whole_gaps
from chronodp.series import FindPlan
from chronodp.series.finding.joint import candidates_up_to
from chronodp.series.finding.scale import Scale, median_utilities


def softmax(exponents: list[float]) -> list[float]:
    weights = [math.exp(one - max(exponents)) for one in exponents]
    return [weight / math.fsum(weights) for weight in weights]


def test_the_median_has_the_probabilities_of_the_reference(golden: Any) -> None:
    five = golden("bounds/small_choice.json")
    # There each person's vote is split over at most two cells that are not 0: everything is counted twice here.
    cells = [[abs(value) for value in held.values() if value] for held in five["table"]]
    above = tuple(sum(2 * sum(cell > size for cell in own) // len(own) for own in cells) for size in five["grid"])
    utilities = median_utilities(above, 2 * len(cells))
    exponents = [five["eps_scale"] * utility / 4 for utility in utilities]
    assert softmax(exponents) == pytest.approx(five["scale_probabilities"], abs=1e-12)


def test_equal_voters_have_one_best_median() -> None:
    above, voters = (3, 3, 0, 0), 3  # all three hold something in (2nd size, 3rd size]
    assert median_utilities(above, voters) == [-3, -3, 0, -3]
    assert median_utilities((0, 0, 0, 0), 0) == [0, 0, 0, 0]  # nobody leaves every median equally likely
    plain = [-abs(2 * count - voters) for count in above]
    assert len(set(plain)) == 1  # the plain median cannot tell any size from another


def test_the_upper_end_weighs_a_count_against_a_public_penalty() -> None:
    scale = open_scale()
    above = (90, 80, 40, 10, *([0] * 19))
    exponents = [float(utility) / 2**20 * scale.tail_epsilon for utility in scale.tail_utilities(above)]
    expected = [-scale.tail_epsilon * count - 2.2 * index / 2 for index, count in enumerate(above)]
    assert exponents == pytest.approx(expected, abs=1e-5)
    gaps = exponents_of(scale.tail, whole_gaps(scale.tail, scale.tail_utilities(above)))
    assert gaps == pytest.approx([max(expected) - one for one in expected], abs=1e-5)


def test_bounds_are_weighed_by_the_larger_of_loss_and_noise() -> None:
    plan: Any = series().sum("number", clip=cdp.Find()).plan(epsilon=1.0, delta=1e-6)
    joint = plan.design.joint(0, 4)
    mu = plan.design.split.noise
    losses = [index * 10**6 for index in range(len(joint.candidates))]
    for (periods, _, size), loss, found in zip(joint.candidates, losses, joint.utilities(losses), strict=True):
        noise = size * math.sqrt(periods) / mu * joint.table.horizon
        assert found == pytest.approx(-max(loss, noise), rel=1e-9)
    # The cap: .07 ε T / (√h μ) within .1 … 16, times the upper end, more where that is far from the median.
    wide = 0.07 * plan.design.split.choices[-1] * math.sqrt(joint.table.horizon) / mu
    expected = min(max(wide, 0.1), 16) * 4.0 * 2 ** (0.2 * 4 / 2) * joint.table.horizon
    assert joint.cap * joint.grid.step == pytest.approx(expected, rel=1e-6)


def test_candidates_end_with_all() -> None:
    for most in (1, 2, 3, 16, 17, 365):
        found = candidates_up_to(most)
        assert (found[-1], list(found)) == (most, sorted(set(found))), most


def series() -> cdp.TimeSeries:
    return over("nothing.csv", "2026-03-01", max_periods=cdp.Find())


def open_scale(between: tuple[float, float] | None = None) -> Scale:
    plan: Any = series().sum("number", clip=cdp.Find(between=between)).plan(epsilon=1.0, delta=1e-6)
    scale: Scale = plan.design.scale
    return scale


@pytest.mark.parametrize("between", [(2.0**-30, 1.0), (1.0, 2.0**41)])
def test_a_search_beyond_the_grid_is_refused(between: tuple[float, float]) -> None:
    with pytest.raises(cdp.errors.InvalidArgument, match="between"):
        open_scale(between)


def test_far_candidates_keep_their_order_and_their_cap() -> None:
    scale = open_scale()
    far = [0, *(-(10**30) - size for size in range(len(scale.first) - 1))]
    exponents = exponents_of(scale.median, whole_gaps(scale.median, far))
    assert exponents[0] == 0
    assert len(set(exponents[1:])) == 1


def planned_norm(records: list[Record], horizon: int, *, relation: Any = "add_remove", **find: Any) -> FindPlan:
    start = np.datetime64("2026-01-01")
    end = str(start + np.timedelta64(horizon, "D"))
    series = over(records, end, unit=cdp.User(relation=relation), engine=Reference())
    plan: Any = series.sum("number", bound=cdp.Norm(cdp.Find(**find))).plan(epsilon=1.0, delta=1e-6)
    return plan  # type: ignore[no-any-return]


@pytest.mark.parametrize(("horizon", "least", "most"), [(14, -4, 24), (56, 0, 32), (365, 5, 42), (1, -12, 8)])
def test_lengths_span_from_an_even_series_to_one_period(horizon: int, least: int, most: int) -> None:
    joint = planned_norm([], horizon).design.joint(0, 2)
    expected = [2.0 * 2 ** (index / 4) for index in range(least, most + 1)]
    found = [size * joint.grid.step for size in joint.sizes]
    assert found == pytest.approx(expected, rel=1e-3)
    assert joint.periods == (horizon,)
    assert joint.top <= 2**31  # products of squares fit every engine
    short = planned_norm([], horizon, between=(1.0, 3.0)).design.joint(0, 2)
    assert all(0.999 <= size * short.grid.step <= 3.001 for size in short.sizes)
    assert short.top <= 2**31


def test_the_choice_has_the_probabilities_of_the_rule() -> None:
    horizon, people = 20, 300
    chance = np.random.default_rng(7)
    held = chance.lognormal(0.0, 0.8, (people, horizon)) * (chance.random((people, horizon)) < 0.6)
    held *= chance.choice([-1.0, 1.0], held.shape)
    plan = planned_norm([], horizon)
    calendar = plan.design.table.calendar
    assert calendar is not None
    records = [
        Record(str(who), int(calendar.edges[day]), float(held[who, day]))
        for who in range(people)
        for day in range(horizon)
        if held[who, day]
    ]
    design = planned_norm(records, horizon).design
    joint = design.joint(-1, 3)
    losses = planned_norm(records, horizon).origin.losses(joint)
    exponents = np.array(exponents_of(joint.choice, whole_gaps(joint.choice, joint.utilities(losses))))
    found = np.exp(exponents.min() - exponents)
    # The rule in floats: d = y (1 - min(1, r / |v|)), counted four times beyond a tenth of the cap, against noise.
    level, length = np.abs(held).mean(axis=1), np.linalg.norm(held, axis=1)
    end, third, left = 2.0**1.5, design.split.choices[-1], design.split.noise
    slope = float(np.clip(0.07 * third * math.sqrt(horizon) / left, 0.1, 16))
    cap = slope * end * 2.0 ** (4 / 10)
    even = round(2 * math.log2(horizon))
    bounds = end * 2.0 ** (np.arange(even - 12, 2 * even + 9) / 4)
    lost = [level * (1 - np.minimum(1, bound / length)) for bound in bounds]
    read = np.array([np.minimum(cap, one + 3 * np.maximum(0, one - cap / 10)).sum() for one in lost])
    exact = -third * np.maximum(read, bounds / left) / cap
    expected = np.exp(exact - exact.max())
    assert found / found.sum() == pytest.approx(expected / expected.sum(), abs=1e-4)
    assert (found > 0.02).sum() >= 3  # the comparison is not empty
