"""Variances: what one person can do, exactly; how often intervals miss; and what a wrong one would do."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from tests.conftest import Trials
from tests.series.designs import EPSILONS, THREE_DAYS, UNITS, WIDE_CLIPS, feasible, of_law, table
from tests.series.misses import LAWS, Missed, designed, missed, noisy, over_periods

from chronodp import Event, User
from chronodp.dataset import Records
from chronodp.engines import Question, Totals
from chronodp.engines.question import WIDEST_SQUARED
from chronodp.errors import InvalidArgument
from chronodp.postprocess.tails import Law, quantiles
from chronodp.privacy import Contribution, Grid, RecordUnit, dump, load
from chronodp.randomness import seeded
from chronodp.series import Mean, Measure, Noise, Variance
from chronodp.series.estimates import Estimates, Floats, estimate
from chronodp.series.windows import each

CLIP = (0.0, 10.0)
HALF = 5.0
Quanta = NDArray[np.int64]
Squares = Callable[[Question, Quanta], Quanta]


def small(step: float, squared_step: float) -> tuple[Noise, Noise, Noise]:
    """Noise on grids so coarse that every total of a person can be tried."""
    one, two, three = (Noise("laplace", 1.0, 1.0, grid) for grid in (step / 2, 1.0, squared_step / 2))
    return one, two, three


def contents(measure: Variance, noises: tuple[Noise, ...], squares: Squares = Question.square) -> list[list[Fraction]]:
    """Return what a person adds to each kind of numbers, for each total that the clip leaves."""
    step = measure.row_step(noises[0].step)
    low, high = measure.clip_in_quanta(step)
    shift = measure.squares_shift(noises)
    question = Question(THREE_DAYS, "at", "who", "kwh", Grid(step), (low, high), squares=shift)
    sums = np.arange(low, high + 1)
    parts = measure.numbers(Totals(sums, np.ones_like(sums), squares(question, sums)), clip=(low, high), noises=noises)
    return [[int(number) * Fraction(noise.step) for number in part] for part, noise in zip(parts, noises, strict=True)]


def most_of(part: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Return the most that appearing changes a number, and the most that another total does."""
    return max(map(abs, part)), max(abs(one - other) for one, other in itertools.product(part, part))


GRIDS = [(1.0, 0.25), (1.0, 1.0), (0.5, 4.0), (2.0, 0.125), (0.25, 2.0**-6), (0.25, 8.0)]


def test_every_total_of_a_person_stays_within_what_is_paid_for(subtests: pytest.Subtests) -> None:
    for clip, (step, squared_step) in itertools.product(
        [(0.0, 8.0), (-3.0, 5.0), (-8.0, -1.0), (0.3, 9.1), (100.0, 117.0)], GRIDS
    ):
        with subtests.test(clip=clip, step=step, squared_step=squared_step):
            measure = Variance("kwh", clip)
            parts = contents(measure, small(step, squared_step))
            for part, stated in zip(parts, measure.contributions(), strict=True):
                appearing, changing = most_of(part)
                assert appearing <= stated.presence
                assert changing <= min(stated.exchange, stated.row, stated.rewrite)


def test_what_is_paid_for_is_reached_by_all_three_at_once() -> None:
    measure = Variance("kwh", (0.0, 8.0))
    parts = contents(measure, small(1.0, 0.25))
    paid: list[Contribution] = list(measure.contributions())
    assert [most_of(part)[0] for part in parts] == [part.presence for part in paid] == [4, 1, 8]
    at_an_end = [abs(part[0]) for part in parts]
    assert at_an_end == [part.presence for part in paid]  # so that no joint bound is smaller than the three
    assert [most_of(part)[1] for part in parts] == [8, 0, 16]


def about_zero(question: Question, totals: Quanta) -> Quanta:
    assert question.squares is not None
    return (2 * totals) ** 2 >> question.squares


def rounded_up(question: Question, totals: Quanta) -> Quanta:
    return question.square(totals) + 1


@pytest.mark.parametrize("wrong", [about_zero, rounded_up])
def test_wrong_squares_are_caught(wrong: Squares) -> None:
    measure = Variance("kwh", (0.0, 8.0))
    parts = contents(measure, small(1.0, 0.25), wrong)
    assert most_of(parts[2])[0] > measure.contributions()[2].presence


@given(WIDE_CLIPS, UNITS, EPSILONS)
def test_no_square_leaves_64_bits_whatever_is_asked(
    clip: tuple[float, float], who: tuple[RecordUnit, int | None], epsilon: float
) -> None:
    measure = Variance("kwh", clip)
    for design in feasible(table(measure, *who), epsilon, 1e-6):
        question = Records(None, "time", "meter").question(design)
        low, high = question.clip
        assert high - low <= WIDEST_SQUARED
        ends = np.array([low, high, (low + high) // 2])
        assert question.squares is not None
        assert question.square(ends).tolist() == [
            (2 * total - low - high) ** 2 // 2**question.squares for total in ends.tolist()
        ]
        people = np.ones(3, np.int64)
        parts = measure.numbers(Totals(ends, people, question.square(ends)), clip=(low, high), noises=design.noises)
        for part, noise, stated in zip(parts, design.noises, measure.contributions(), strict=True):
            assert max(map(abs, part.tolist())) <= 2**31  # so that billions of people fit 64 bits
            assert max(map(abs, part.tolist())) * Fraction(noise.step) <= stated.presence


def parts_of(law: Law, people: int, mean: float, variance: float, rows: int) -> tuple[Floats, ...]:
    """Return noisy numbers of so many people, of whom nothing but these three is released."""
    design = designed(Variance("kwh", CLIP), law, periods=1)
    entropy = seeded(f"{law} {people} {mean} {variance}")
    about = mean - HALF
    truth = (people * about, float(people), people * (variance + about**2 - HALF**2 / 2))
    return tuple(noisy(design, np.full((rows, 1), one), entropy, part=part) for part, one in enumerate(truth))


def misses(law: Law, people: int, mean: float, variance: float, replicas: int, *, periods: int = 1) -> Missed:
    design = designed(Variance("kwh", CLIP), law, periods=1)
    parts = parts_of(law, people, mean, variance, replicas * periods)
    return missed(over_periods(design, parts, periods, level=0.9, ends=(0.0, HALF**2)), variance)


SPREADS = [(5.0, 0.0), (5.0, 12.5), (5.0, 25.0), (3.3, 1.0), (8.5, 12.0), (0.0, 0.0), (10.0, 0.0), (9.9, 0.3)]


@pytest.mark.slow
def test_variances_miss_at_most_so_often(trials: Trials, subtests: pytest.Subtests) -> None:
    for law, people in itertools.product(LAWS, [1, 5, 50, 500, 50_000]):
        with subtests.test(law=law, people=people):
            for mean, variance in trials.some(SPREADS if law == "laplace" else SPREADS[::-1], 2):
                if people > 1 or variance == 0:
                    assert misses(law, people, mean, variance, trials(200_000, least=20_000)).at_most(0.9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.slow
def test_variances_over_several_periods(law: Law, trials: Trials) -> None:
    assert misses(law, 60, 6.5, 4.0, trials(100_000, least=20_000), periods=4).at_most(0.9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.slow
def test_an_interval_that_knows_only_the_noise_of_squares_is_no_match(law: Law, trials: Trials) -> None:
    design = designed(Variance("kwh", CLIP), law, periods=1)
    people, mean, variance = 5_000, 9.0, 2.0
    sums, counts, squares = parts_of(law, people, mean, variance, trials(200_000, least=20_000))
    value = HALF**2 / 2 + squares / counts - (sums / counts) ** 2
    half = float(quantiles(law, [1], 0.9)[0]) * design.noises[2].scale / counts
    assert not missed(Estimates(value, value - half, value + half), variance).at_most(0.9)
    # Ours is as wide as it must be, and hardly wider: as the exact noise of the difference, taken as normal.
    found = estimate(design, (sums, counts, squares), each(len(sums)), average=False, level=0.9)
    assert missed(found, variance).at_most(0.9)
    spread = float(np.std(value)) * float(quantiles("gaussian", [1], 0.9)[0])
    assert 1.0 < float(np.median(found.upper - found.lower)) / 2 / spread < 1.15


def test_a_variance_below_zero_is_shown_as_zero() -> None:
    design = designed(Variance("kwh", CLIP), "gaussian", periods=1)
    parts = (np.zeros((1, 1)), np.full((1, 1), 1e4), np.full((1, 1), -1e4 * (HALF**2 / 2 + 1e-3)))
    found = estimate(design, parts, each(1), average=False, level=0.95)
    assert found.value[0, 0] == found.lower[0, 0] == 0.0
    assert 0.0 < found.upper[0, 0] < 0.1
    assert (
        "never shown below 0, so on average too large where it is smaller than its error" in design.table.measure.note
    )


@pytest.mark.slow
@given(WIDE_CLIPS, st.floats(0.5, 0.999))
def test_rounding_is_small_beside_the_noise(clip: tuple[float, float], level: float) -> None:
    """Without noise the numbers of known totals give their variance, up to what the grids round away."""
    measure = Variance("kwh", clip)
    (design, *_) = feasible(table(measure, Event()), 1.0, 0.0)
    question = Records(None, "time", "meter").question(design)
    low, high = question.clip
    totals = np.linspace(low, high, 7).astype(np.int64)
    answer = Totals(*(np.array([found.sum()]) for found in (totals, np.ones_like(totals), question.square(totals))))
    parts = measure.numbers(answer, clip=(low, high), noises=design.noises)
    values = tuple(Grid(noise.step).to_values(part)[:, None] for part, noise in zip(parts, design.noises, strict=True))
    value, lower, upper = measure.read_out(values, np.ones(1), noises=design.noises, level=level)
    width = (high - low) * question.grid.step
    expected = float(np.var((totals - low) / (high - low))) * width**2
    assert value[0, 0] == pytest.approx(expected, abs=2 * design.noises[2].step + 1e-12 * width**2)
    assert lower[0, 0] <= value[0, 0] <= upper[0, 0]


def test_the_plan_says_what_is_released_and_how_far_off_it_is() -> None:
    measure = Variance("kwh", (0.0, 5.0))
    design = designed(measure, "gaussian", periods=1)
    noise = design.noises[2]
    width = 1.96 * design.noises[0].scale
    told = float(measure.error(width).split()[2])
    # With the mean in the middle and a variance of 0: the noise of the squares, and of h²/2 times the count.
    exact = 1.96 * np.hypot(noise.scale, 2.5**2 / 2 * design.noises[1].scale) / 1000
    assert told == pytest.approx(exact, rel=0.01)
    assert load(dump(measure), Measure) == measure


@pytest.mark.parametrize("clip", [(0.0, 1e-21), (-1e20, 1e20), (0.0, 1e40)], ids=str)
def test_a_clip_whose_squares_are_beyond_all_bounds_is_refused_by_name(clip: tuple[float, float]) -> None:
    with pytest.raises(InvalidArgument, match=r"^clip must be a pair \(low, high\) from 1e-20 to 1e\+20 apart"):
        Variance("kwh", clip)


@pytest.mark.parametrize("law", LAWS)
def test_three_kinds_are_paid_for_alike(law: Law) -> None:
    noises = of_law(table(Variance("kwh", CLIP), User(), 3), law).noises
    shares = [noise.sensitivity / noise.scale for noise in noises]
    assert shares == pytest.approx([shares[0]] * 3)
    mean = of_law(table(Mean("kwh", CLIP), User(), 3), law).noises
    assert [noise.sensitivity for noise in noises[:2]] == [noise.sensitivity for noise in mean]
