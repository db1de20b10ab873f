"""What is known beforehand: numbers at least 0, whole, growing or adding up; nearest, and as wrong as stated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import integrate, stats
from scipy.signal import lfilter
from tests.conftest import Trials

from chronodp.errors import InvalidArgument
from chronodp.postprocess import (
    Growing,
    Law,
    NonNegative,
    RandomWalk,
    Tier,
    Trend,
    add_up,
    clip_at_zero,
    clipping_bias,
    grow,
    kalman_smoother,
    project,
    round_whole,
    smooth,
)

FALSE_ALARM = 1e-9
LAWS: tuple[Law, Law] = ("gaussian", "laplace")
series = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=40)
falling = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)
Floats = NDArray[np.float64]
FAR = 6.1  # standard errors, beyond which chance gets once in 1e9
LENGTH, SIGMA = 1024, 4.0
# Mean square errors of 300 reference runs: how often something happens, raw, isotonic, clipped and rounded, running
# maximum. Their own standard errors are below REFERENCE_ERROR.
REFERENCE = [
    (0.005, 150.09, 44.00, 26.32, 834.5),
    (0.05, 153.21, 63.76, 58.95, 532.3),
    (0.3, 157.66, 94.56, 94.10, 274.8),
]
REFERENCE_ERROR = 3.5


@given(series, st.data())
def test_projection_meets_its_conditions(values: list[float], data: st.DataObject) -> None:
    noisy = np.array(values)
    spread = np.array(data.draw(st.lists(st.floats(0.1, 10), min_size=len(values), max_size=len(values))))
    total = data.draw(st.none() | st.floats(0, 1e5))
    found = project(noisy, deviation=spread, total=total)[:, 0]
    wanted = max(float(noisy.sum()) if total is None else total, 0.0)
    size = 1e-8 * (1 + np.abs(noisy).max() + wanted)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(wanted, abs=size)
    # One multiplier for all that stay, and none that is left out would come in at it: so it is the nearest.
    pull = (noisy - found) / spread**2
    stays = found > size
    assert stays.any() or wanted <= 2 * len(values) * size
    if stays.any():
        multiplier = pull[stays].mean()
        assert pull[stays] == pytest.approx(multiplier, abs=200 * size)
        assert np.all(pull[~stays] <= multiplier + 200 * size)
    assert project(found, deviation=spread, total=total)[:, 0] == pytest.approx(found, abs=size)


@given(series, st.data())
def test_projection_comes_no_further_from_a_truth_of_that_total(values: list[float], data: st.DataObject) -> None:
    truth = np.array(data.draw(st.lists(st.floats(0, 1e4), min_size=len(values), max_size=len(values))))
    noisy = np.array(values)
    error = project(noisy, total=float(truth.sum()))[:, 0] - truth
    assert error @ error <= (noisy - truth) @ (noisy - truth) * (1 + 1e-6) + 1e-6


def test_many_places_at_once_are_each_alone() -> None:
    noisy = np.random.default_rng(1).normal(size=(50, 7))
    noisy[:, 3] -= 5  # a total below 0 is kept at 0
    found = project(noisy)
    for place in range(7):
        assert found[:, place] == pytest.approx(project(noisy[:, place])[:, 0])
    assert not found[:, 3].any()
    assert project(noisy, total=np.arange(7.0)).sum(axis=0) == pytest.approx(np.arange(7.0))


@given(st.lists(st.floats(0, 3), min_size=1, max_size=5))
def test_rounding_is_the_nearest_with_its_total(values: list[float]) -> None:
    given_values = np.array(values)
    found = round_whole(given_values)[:, 0]
    assert found.min() >= 0
    assert np.array_equal(found, np.rint(found))
    assert abs(found.sum() - given_values.sum()) <= 0.5 + 1e-9
    assert np.abs(found - given_values).max() < 1
    assert np.array_equal(round_whole(found)[:, 0], found)
    choices = (np.array(c) for c in itertools.product(range(5), repeat=len(values)) if sum(c) == found.sum())
    nearest = min(float(((choice - given_values) ** 2).sum()) for choice in choices)
    assert ((found - given_values) ** 2).sum() == pytest.approx(nearest, abs=1e-9)


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=5))
def test_projected_then_rounded_is_the_nearest_of_all(values: list[float]) -> None:
    noisy = np.array(values)
    total = round(max(float(noisy.sum()), 0.0))
    found = round_whole(project(noisy, total=float(total)))[:, 0]
    assert found.sum() == total
    choices = (np.array(c) for c in itertools.product(range(total + 1), repeat=len(values)) if sum(c) == total)
    nearest = min(float(((choice - noisy) ** 2).sum()) for choice in choices)
    assert ((found - noisy) ** 2).sum() == pytest.approx(nearest, abs=1e-6)


@given(series)
def test_clipping_and_plain_rounding(values: list[float]) -> None:
    found = clip_at_zero(values)[:, 0]
    assert found.tolist() == [max(value, 0.0) for value in values]
    assert round_whole(values, keep_total=False)[:, 0].tolist() == [float(round(value)) for value in values]


def test_bias_of_clipping(trials: Trials, subtests: pytest.Subtests) -> None:
    for truth in [0.0, 0.3, 2.0, 8.0]:
        for law in LAWS:
            with subtests.test(law=law, truth=truth):
                deviation = 1.7
                noise = (
                    stats.norm(scale=deviation) if law == "gaussian" else stats.laplace(scale=deviation / np.sqrt(2))
                )
                expected = integrate.quad(
                    lambda z, t=truth, n=noise: -(t + z) * n.pdf(z), -60, -truth, points=[-truth - 1]
                )[0]
                bias = clipping_bias(truth, deviation, law=law)
                assert bias == pytest.approx(expected, rel=1e-6, abs=1e-12)
                draws = noise.rvs(size=trials(4_000_000, least=200_000), random_state=np.random.default_rng(1))
                errors = clip_at_zero(truth + draws)[:, 0] - truth
                far = stats.norm.isf(FALSE_ALARM / 2) * errors.std() / np.sqrt(len(errors))
                assert abs(errors.mean() - bias) < far
                if truth < 1:
                    assert abs(errors.mean() - 0.9 * bias) > far


def test_clipping_piles_up_where_projection_does_not() -> None:
    random = np.random.default_rng(1)
    truth = (random.random((1000, 200)) < 0.05).astype(np.float64)
    noisy = truth + 4 * random.standard_normal(truth.shape)
    over = (clip_at_zero(noisy) - truth).sum(axis=0).mean()
    assert over == pytest.approx(1000 * (0.95 * clipping_bias(0.0, 4.0) + 0.05 * clipping_bias(1.0, 4.0)), rel=0.02)
    positive = noisy.sum(axis=0) > 0
    kept = project(noisy[:, positive])
    assert kept.sum(axis=0) == pytest.approx(noisy[:, positive].sum(axis=0))
    errors = [((found - truth) ** 2).mean() for found in (noisy, clip_at_zero(noisy), project(noisy))]
    assert errors == pytest.approx([16.0, 8.0, 0.29], rel=0.15)


def highest_of_lowest(values: Floats, weights: Floats) -> Floats:
    """The formula: at t the largest over starts s <= t of the smallest over ends u >= t of the mean from s to u."""
    count = len(values)
    means = np.full((count, count), np.nan)
    for start in range(count):
        for end in range(start, count):
            means[start, end] = np.average(values[start : end + 1], weights=weights[start : end + 1])
    return np.array([max(means[start, t:].min() for start in range(t + 1)) for t in range(count)])


@given(falling, st.data())
def test_the_nearest_that_never_falls(values: list[float], data: st.DataObject) -> None:
    deviation = data.draw(st.lists(st.floats(0.1, 10), min_size=len(values), max_size=len(values)))
    noisy = np.array(values)
    for spread in (1.0, np.array(deviation)):
        weights = np.broadcast_to(1 / np.square(spread), noisy.shape)
        found = grow(noisy, deviation=spread, least=None)[:, 0]
        size = 1e-9 * (1 + np.abs(noisy).max())
        assert found == pytest.approx(highest_of_lowest(noisy, weights), abs=size)
        assert np.all(np.diff(found) >= 0)
        assert weights @ found == pytest.approx(weights @ noisy, abs=size * weights.sum())
        assert grow(found, deviation=spread, least=None)[:, 0] == pytest.approx(found, abs=size)


@given(falling, st.data())
def test_no_error_grows(values: list[float], data: st.DataObject) -> None:
    truth = np.cumsum(data.draw(st.lists(st.integers(0, 50), min_size=len(values), max_size=len(values))))
    noisy = np.array(values)
    for whole, allowance in ((False, 0.0), (True, 0.5)):
        error = grow(noisy, whole=whole)[:, 0] - truth
        assert np.abs(error).max() <= np.abs(noisy - truth).max() * (1 + 1e-9) + allowance
    error = grow(noisy)[:, 0] - truth
    assert error @ error <= (noisy - truth) @ (noisy - truth) * (1 + 1e-9)


@given(falling)
def test_order_survives_clipping_and_rounding(values: list[float]) -> None:
    found = grow(values, whole=True)
    assert found.min() >= 0
    assert np.all(np.diff(found, axis=0) >= 0)
    assert np.array_equal(found, np.rint(found))
    assert np.array_equal(grow(found, whole=True), found)
    assert grow([-3.0, -2.0], least=-2.5).ravel().tolist() == [-2.5, -2.0]


def running_totals(often: float, replicas: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """True and noisy running totals with noise shaped by a square root, of l2 sensitivity 1; the noise's deviation."""
    random = np.random.default_rng(seed)
    steps = np.arange(1, LENGTH)
    shape = np.concatenate(([1.0], np.cumprod((2 * steps - 1) / (2 * steps))))
    scale = SIGMA * float(np.sqrt(shape @ shape))
    truth = np.cumsum(random.random((LENGTH, replicas)) < often, axis=0).astype(np.float64)
    noise = scale * lfilter(shape, [1.0], random.standard_normal((LENGTH, replicas)), axis=0)
    return truth, truth + noise, scale * np.sqrt(np.cumsum(shape**2))


@pytest.mark.parametrize(("often", "raw", "isotonic", "tidied", "maximum"), REFERENCE)
def test_reference_errors(
    often: float, raw: float, isotonic: float, tidied: float, maximum: float, trials: Trials
) -> None:
    truth, noisy, _ = running_totals(often, trials(4000, least=200), seed=1)
    estimates = {
        raw: noisy,
        isotonic: grow(noisy, least=None),
        tidied: grow(noisy, whole=True),
        maximum: np.maximum.accumulate(noisy, axis=0),
    }
    seen = {}
    for reference, estimate in estimates.items():
        errors = ((estimate - truth) ** 2).mean(axis=0)
        seen[reference] = float(errors.mean())
        if reference != maximum:
            own = float(errors.std()) / np.sqrt(len(errors))
            assert abs(seen[reference] - reference) < FAR * np.hypot(REFERENCE_ERROR, own)
        else:
            assert seen[reference] == pytest.approx(reference, rel=0.15)
    # A running maximum never falls either, and is worse than doing nothing.
    assert seen[tidied] <= seen[isotonic] < seen[raw] < seen[maximum]


def missed(lower: Floats, upper: Floats, truth: Floats) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (truth < lower) | (truth > upper)
    return found


def test_cut_intervals_still_cover_and_are_narrower(trials: Trials) -> None:
    truth, noisy, deviation = running_totals(0.005, trials(4000, least=400), seed=2)
    found = smooth(noisy, deviation, method=Growing(whole=True), level=0.9)
    assert np.all((found.lower <= found.value) & (found.value <= found.upper))
    assert (found.upper - found.lower).mean() < 0.65 * 2 * 1.6449 * deviation.mean()
    for period in (0, 10, 100, LENGTH - 1):
        misses = int(missed(found.lower[period], found.upper[period], truth[period]).sum())
        assert stats.binom.sf(misses - 1, truth.shape[1], 0.1) > 1e-9


def summing(lengths: Sequence[int] | NDArray[np.int64], periods: int) -> Floats:
    """The matrix that adds up periods to blocks; every period by itself if there are none."""
    if not len(lengths):
        return np.eye(periods)
    matrix, begin = np.zeros((len(lengths), periods)), 0
    for block, length in enumerate(lengths):
        matrix[block, begin : begin + length] = 1
        begin += length
    return matrix


def least_squares(tiers: Sequence[Tier]) -> list[tuple[Floats, Floats]]:
    """Values and deviations of every tier by solving for all periods at once."""
    periods = len(np.asarray(tiers[0].value))
    matrices = [summing(tier.lengths, periods) for tier in tiers]
    deviations = [np.broadcast_to(tier.deviation, len(matrix)) for tier, matrix in zip(tiers, matrices, strict=True)]
    weights = np.concatenate(deviations) ** -2.0
    design = np.vstack(matrices)
    covariance = np.linalg.inv(design.T @ (weights[:, None] * design))
    values = np.concatenate([np.asarray(tier.value) for tier in tiers])
    found = covariance @ (design.T @ (weights * values))
    return [(matrix @ found, np.sqrt(np.diag(matrix @ covariance @ matrix.T))) for matrix in matrices]


@st.composite
def hierarchies(draw: st.DrawFn) -> list[Tier]:
    periods = draw(st.integers(1, 14))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tiers = [Tier(random.normal(scale=10, size=periods), random.uniform(0.3, 3, size=periods))]
    edges = list(range(periods + 1))
    for _ in range(draw(st.integers(0, 3))):
        inner = edges[1:]
        kept = sorted(draw(st.sets(st.sampled_from(inner), min_size=1)))
        edges = [0, *kept]
        lengths = tuple(int(length) for length in np.diff(edges))
        deviation = random.uniform(0.3, 3, size=len(lengths))
        deviation[random.random(len(lengths)) < 0.2] = np.inf
        tiers.append(Tier(random.normal(scale=10, size=len(lengths)), deviation, lengths))
        edges = edges if edges[-1] == periods else [*edges, periods]
    return tiers


@given(hierarchies())
@pytest.mark.slow
def test_generalised_least_squares(tiers: list[Tier]) -> None:
    found = add_up(tiers)
    for track, (value, deviation), tier in zip(found, least_squares(tiers), tiers, strict=True):
        assert track.value[:, 0] == pytest.approx(value, abs=1e-8)
        assert track.deviation[:, 0] == pytest.approx(deviation, rel=1e-8)
        assert np.all(track.deviation[:, 0] <= np.asarray(tier.deviation) * (1 + 1e-12))
        assert summing(tier.lengths, len(found[0].value)) @ found[0].value == pytest.approx(track.value, abs=1e-8)


def test_exact_totals_are_met_and_leftovers_are_free() -> None:
    hours, halves = add_up([Tier([1.0, 2.0, 3.0, 4.0, 9.0], 1.0), Tier([5.0, 5.0], [0.0, np.inf], (2, 2))])
    assert hours.value.ravel().tolist() == [2.0, 3.0, 3.0, 4.0, 9.0]
    assert halves.value.ravel().tolist() == [5.0, 7.0]
    assert halves.deviation.ravel().tolist() == pytest.approx([0.0, 2**0.5])
    assert hours.deviation.ravel().tolist() == pytest.approx([0.5**0.5, 0.5**0.5, 1.0, 1.0, 1.0])
    exact = add_up([Tier([1.0, 2.0], 1.0), Tier([5.0], 0.0, (2,)), Tier([6.0], 0.0, (2,))])
    assert [track.value.sum() for track in exact] == [5.0, 5.0, 5.0]


def test_errors_are_as_large_as_stated(trials: Trials) -> None:
    random = np.random.default_rng(1)
    replicas = trials(400_000, least=20_000)
    lengths = (3, 2, 1)
    truth = np.arange(6.0)[:, None]
    noisy = [
        matrix @ truth + deviation * random.standard_normal((len(matrix), replicas))
        for matrix, deviation in ((np.eye(6), 2.0), (summing(lengths, 6), 1.0), (np.ones((1, 6)), 0.5))
    ]

    def matches(believed: float) -> list[bool]:
        found = add_up([Tier(noisy[0], 2.0), Tier(noisy[1], believed, lengths), Tier(noisy[2], 0.5, (6,))])
        squares = [
            (((track.value - matrix @ truth) / track.deviation) ** 2).sum(axis=1)
            for track, matrix in zip(found, (np.eye(6), summing(lengths, 6), np.ones((1, 6))), strict=True)
        ]
        laws = stats.chi2(replicas)
        return [bool(2 * min(laws.sf(one), laws.cdf(one)) > 1e-9) for one in np.concatenate(squares)]

    assert all(matches(1.0))
    assert not any(matches(0.5)[6:9])


FIRM: list[Growing | NonNegative] = [Growing(), Growing(whole=True), NonNegative(), NonNegative(whole=True)]
FIRM += [NonNegative(keep_total=False), NonNegative(keep_total=False, whole=True)]


@pytest.mark.parametrize("method", FIRM, ids=str)
@given(st.lists(st.floats(-50, 50), min_size=1, max_size=20), st.floats(0.01, 20))
def test_intervals_hold_the_estimate_and_what_is_possible(
    method: Growing | NonNegative, values: list[float], deviation: float
) -> None:
    found = smooth(values, deviation, method=method)
    assert np.all((found.lower <= found.value) & (found.value <= found.upper))
    assert found.lower.min() >= 0
    if method.whole:
        for part in (found.value, found.lower, found.upper):
            assert np.array_equal(part, np.rint(part))
    # Whatever possible truth the interval of the noise held, the new one holds.
    noisy = np.array(values)[:, None]
    for truth in (0.0, 1.0, 7.0, 30.0):
        held = np.abs(noisy - truth) <= 1.959 * deviation
        assert np.all(~held | ((found.lower <= truth) & (truth <= found.upper)))


@pytest.mark.slow
@pytest.mark.parametrize("method", FIRM, ids=str)
def test_coverage_is_kept(method: Growing | NonNegative, trials: Trials) -> None:
    random = np.random.default_rng(1)
    level, replicas = 0.9, trials(200_000, least=20_000)
    single = np.array([0.0, 1.0, 0.0, 0.0, 2.0, 9.0])[:, None]
    truth = np.cumsum(single, axis=0) if isinstance(method, Growing) else single

    def rarities(noise: float) -> NDArray[np.float64]:
        """How rare so many misses would be in each period, if intervals covered at their level."""
        noisy = truth + noise * random.standard_normal((6, replicas))
        found = smooth(noisy, 2.0, method=method, level=level)
        misses = ((truth < found.lower) | (truth > found.upper)).sum(axis=1)
        return np.asarray(stats.binom.sf(misses - 1, replicas, 1 - level))

    assert rarities(2.0).min() > 1e-9
    if not method.whole:  # drawing in to whole numbers and out to the estimate leaves some room
        assert rarities(2.2).min() < 1e-9


def test_models_give_their_own_intervals() -> None:
    random = np.random.default_rng(1)
    noisy = np.cumsum(random.standard_normal((80, 2)), axis=0)
    noisy[3, 0] = np.nan
    found = smooth(noisy, 2.0, method=Trend(0.3, 0.1), level=0.5)
    track = kalman_smoother(noisy, 2.0, Trend(0.3, 0.1))
    assert found.value == pytest.approx(track.value)
    assert found.upper - found.value == pytest.approx(0.67449 * track.deviation, rel=1e-5)
    assert "too narrow" not in found.note
    assert "too narrow" in smooth(noisy, 2.0, method=RandomWalk()).note


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="total must be finite, one for all or one for each of 1 places"):
        project([1.0, 2.0], total=[1.0, 2.0, 3.0])
    with pytest.raises(InvalidArgument, match="total must be finite"):
        project([1.0, 2.0], total=float("inf"))
    with pytest.raises(InvalidArgument, match="truth must be at least 0"):
        clipping_bias(-1.0, 1.0)
    with pytest.raises(InvalidArgument, match="deviation must be above 0 and finite"):
        project([1.0, 2.0], deviation=[1.0, 2.0, 3.0])
    with pytest.raises(InvalidArgument, match="values must be numbers"):
        clip_at_zero(["many"])
    with pytest.raises(InvalidArgument, match="values must be numbers, periods × places, none of them missing"):
        grow([1.0, float("nan")])
    with pytest.raises(InvalidArgument, match="in one or two dimensions"):
        grow([])
    with pytest.raises(InvalidArgument, match="deviation must be above 0 and finite"):
        grow([1.0, 2.0], deviation=0.0)
    fine = Tier([1.0, 2.0, 3.0, 4.0], 1.0)
    with pytest.raises(InvalidArgument, match="at least one Tier"):
        add_up([])
    with pytest.raises(InvalidArgument, match="left out for the finest tier"):
        add_up([Tier([1.0], 1.0, (1,))])
    with pytest.raises(InvalidArgument, match="whole blocks of tier 1"):
        add_up([fine, Tier([1.0, 2.0], 1.0, (2, 2)), Tier([1.0], 1.0, (3,))])
    with pytest.raises(InvalidArgument, match="at most 4 periods"):
        add_up([fine, Tier([1.0, 2.0], 1.0, (2, 3))])
    with pytest.raises(InvalidArgument, match="lengths must be whole numbers"):
        add_up([fine, Tier([1.0, 2.0], 1.0, (0, 4))])
    with pytest.raises(InvalidArgument, match="2 blocks × 1 places"):
        add_up([fine, Tier([1.0, 2.0, 3.0], 1.0, (2, 2))])
    with pytest.raises(InvalidArgument, match="deviation must be above 0 and finite"):
        add_up([Tier([1.0, 2.0], [1.0, np.inf])])
    with pytest.raises(InvalidArgument, match="method must be Growing"):
        smooth([1.0], 1.0, method="kalman")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="level must be"):
        smooth([1.0], 1.0, method=Growing(), level=1.0)
    with pytest.raises(InvalidArgument, match="none of them missing"):
        smooth([1.0, float("nan")], 1.0, method=Growing())
