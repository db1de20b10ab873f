"""The two choices by themselves: their exact probabilities, and that every table has an answer."""

from __future__ import annotations

import math
from typing import Any

import pytest

import chronodp as cdp
from chronodp.selection import exponents_of, whole_gaps
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
    plain = [-abs(2 * count - voters) for count in above]
    assert len(set(plain)) == 1  # the plain median cannot tell any size from another


def test_nobody_leaves_every_median_equally_likely() -> None:
    assert median_utilities((0, 0, 0, 0), 0) == [0, 0, 0, 0]


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


def test_candidates_end_with_all(subtests: pytest.Subtests) -> None:
    for most in [1, 2, 3, 16, 17, 365]:
        with subtests.test(most=most):
            found = candidates_up_to(most)
            assert found[-1] == most
            assert list(found) == sorted(set(found))


def series() -> cdp.TimeSeries:
    days = {"every": "1D", "start": "2026-01-01", "end": "2026-03-01"}
    return cdp.TimeSeries(
        "nothing.csv",
        time="at",
        user="who",
        unit=cdp.User(),
        max_periods=cdp.Find(),
        **days,  # type: ignore[arg-type]
    )


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
