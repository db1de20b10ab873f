"""Linear readings against matrices: values, variances and covariances, however they were composed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.conftest import in_turn
from tests.series.readings.worlds import SHAPES, dense, single, source

from chronodp.postprocess import Law
from chronodp.series.readings.kinds import kinds_of
from chronodp.series.readings.linear import Linear, Source

LAWS: tuple[Law, ...] = ("gaussian", "laplace")
ROWS, PLACES = 14, 4


@st.composite
def readings(draw: st.DrawFn, sources: tuple[Source, ...]) -> Linear:
    """A reading of 6 rows and 2 columns, made by steps that people take."""
    made = single(draw(st.sampled_from(sources)))
    for _ in range(draw(st.integers(0, 2))):
        more = single(draw(st.sampled_from(sources)))
        made = made.plus(more.scaled(float(draw(st.integers(1, 3)))), draw(st.sampled_from([1.0, -1.0])))
    match draw(st.sampled_from(["pairs", "two", "same", "all"])):
        case "pairs":
            made = made.mixed_columns(np.array([[0, 1], [2, 3]]))
        case "two":
            made = made.columns(np.array(draw(st.permutations(range(PLACES)))[:2]))
        case "same":
            made = made.columns(np.array([draw(st.integers(0, PLACES - 1))] * 2))
        case "all":
            made = made.mixed_columns(np.arange(PLACES)[None, :]).columns(np.array([0, 0]))
    match draw(st.sampled_from(["rolling", "rolling twice", "running", "baseline", "coarser", "each"])):
        case "rolling":
            made = made.over_rows(np.arange(ROWS - 2), np.arange(3, ROWS + 1)).scaled(1 / 3)
        case "rolling twice":
            made = made.over_rows(np.arange(ROWS - 2), np.arange(3, ROWS + 1)).scaled(1 / 3)
            made = made.over_rows(np.arange(9), np.arange(4, 13))
        case "running":
            made = made.over_rows(np.zeros(ROWS, np.int64), np.arange(1, ROWS + 1))
        case "baseline":
            weeks = [np.array([1, 3, 8]), np.array([0, 2])]
            made = made.averaged(weeks).rows(np.array([0, 1, 0, 1, 0, 1]))
        case "coarser":
            made = made.over_rows(np.arange(0, 12, 2), np.arange(2, 14, 2))
        case _:
            pass
    return made.rows(np.arange(6))


@pytest.mark.parametrize(("shape", "law"), in_turn(list(SHAPES), LAWS))
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_covariances_are_those_of_the_matrices(shape: str, law: Law, data: st.DataObject) -> None:
    sources = source(SHAPES[shape], law), source(SHAPES[shape], law, scale=0.5, key="another")
    one, other = data.draw(readings(sources)), data.draw(readings(sources))
    variance = 2.0 if law == "laplace" else 1.0
    expected = np.zeros((6, 2))
    value = np.zeros((6, 2))
    for this in sources:
        left, right = dense(one, this.key), dense(other, this.key)
        if left.shape[2:] == right.shape[2:]:
            expected += variance * (left * right).sum(axis=(2, 3))
        value += _values(one, this)
    assert np.broadcast_to(one.covariance(other), (6, 2)) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert np.broadcast_to(other.covariance(one), (6, 2)) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert one.values() == pytest.approx(value, rel=1e-9, abs=1e-7)
    same = np.ones((6, 2), np.bool_)
    for this in sources:
        left, right = dense(one, this.key), dense(other, this.key)
        same &= np.isclose(left, right, atol=1e-12).all(axis=(2, 3))
    found = one.same_as(other)
    assert not (found & ~same).any()  # never called the same where they are not
    assert one.same_as(one).all()


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_kinds_are_the_weights_of_single_draws(data: st.DataObject) -> None:
    sources = source(SHAPES["white"], "laplace"), source(SHAPES["white"], "laplace", scale=0.5, key="another")
    one, other = data.draw(readings(sources)), data.draw(readings(sources))
    found = kinds_of(one, other, most=100)
    assert found is not None
    seen = np.zeros((6, 2), int)
    for group in found:
        seen[np.ix_(group.rows, group.columns)] += 1
        for row in group.rows:
            for column in group.columns:
                assert _counted(group.kinds) == _drawn(one, other, sources, int(row), int(column))
    assert (seen == 1).all()


def test_other_noise_has_no_kinds() -> None:
    for shape, law in (("square root", "laplace"), ("white", "gaussian"), ("tree of 3", "laplace")):
        assert kinds_of(single(source(SHAPES[shape], law)), most=100) is None  # type: ignore[arg-type]


def test_a_broken_covariance_is_caught() -> None:
    """Weights that do not reach back to the draws before a window are those of white noise alone."""
    shaped = single(source(SHAPES["square root"], "gaussian"))
    left, right = dense(shaped, "one"), np.eye(ROWS)[:, None, :, None] * 1.5
    assert not np.allclose((left**2).sum(axis=(2, 3)), (right**2).sum(axis=(2, 3)) * np.ones((1, PLACES)))
    assert np.broadcast_to(shaped.variance(), (ROWS, PLACES)) == pytest.approx((left**2).sum(axis=(2, 3)))


def test_a_long_series_needs_no_matrix() -> None:
    long = single(source(SHAPES["square root"], "gaussian", horizon=2**17, places=1))
    baseline = long.averaged([np.arange(1000)]).rows(np.zeros(2**17, np.int64))
    found = long.covariance(baseline)[:, 0]
    # Far from the baseline the noise of a period hardly hangs on it; just after it goes against it.
    assert found.shape == (2**17,)
    assert found[1000] < 0 < found[10]
    assert abs(found[-1]) < 1e-3 * abs(found[1000])


def _values(one: Linear, this: Source) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    from tests.series.readings.worlds import spread

    found = np.zeros(one.shape)
    horizon = len(this.numbers)
    sums = np.vstack((np.zeros((1, this.numbers.shape[1])), np.cumsum(this.numbers, axis=0)))
    for term in one.terms:
        if term.source.key == this.key:
            places = this.numbers.shape[1]
            found += spread(term.times, horizon + 1) @ sums @ spread(term.places, places).T
    return found


def _counted(kinds: tuple[tuple[float, float, int], ...]) -> list[tuple[float, float]]:
    return sorted((round(a, 9) + 0.0, round(b, 9) + 0.0) for a, b, count in kinds for _ in range(count))


def _drawn(one: Linear, other: Linear, sources: tuple[Source, ...], row: int, column: int) -> list[tuple[float, float]]:
    pairs = []
    for this in sources:
        parts = [dense(reading, this.key)[row, column] for reading in (one, other)]
        shape = np.broadcast_shapes(*(part.shape for part in parts))
        left, right = (np.broadcast_to(part, shape).ravel().round(9) + 0.0 for part in parts)
        pairs += [(a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True) if a or b]
    return sorted(pairs)
