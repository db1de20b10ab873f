"""Clipping: whole numbers of bounded length, each row by itself, in 32 bits as in 64."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from chronodp.federated.training import clipping
from chronodp.federated.training.clipping import whole_rows, whole_sum
from tests.cases import case

RESOLUTION = 2**18

anything = st.floats(allow_nan=True, allow_infinity=True, width=32)
shapes = st.tuples(st.integers(1, 9), st.integers(1, 40))


def lengths(whole: NDArray[np.floating]) -> list[int]:
    return [sum(int(part) ** 2 for part in row) for row in whole.tolist()]


@given(arrays.arrays(np.float32, shapes, elements=anything), st.floats(1e-6, 1e6))
def test_a_sum_is_that_of_each_person_alone(rows: NDArray[np.float32], clip: float) -> None:
    """Who else is there, and in which order, changes nobody's whole numbers."""
    for resolution in (1, 300, 2**12, RESOLUTION):
        alone = [whole_rows(row[None], clip=clip, resolution=resolution)[0] for row in rows]
        exact = [sum(int(row[place]) for row in alone) for place in range(rows.shape[1])]
        assert whole_sum(rows, clip=clip, resolution=resolution).tolist() == exact
        assert whole_sum(rows[::-1], clip=clip, resolution=resolution).tolist() == exact
        assert max(lengths(np.array(alone))) <= resolution**2


@pytest.mark.parametrize("size", [1, 2, 3, 7, 385, 20_000])
def test_numbers_of_32_bits_need_no_second_look(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where all numbers round the same way, or one is large."""
    chance = np.random.default_rng(size)
    rows = np.concatenate(
        [
            chance.normal(0, 1, (20, size)),
            np.ones((3, size)) * [[1.0], [1 / math.sqrt(size)], [1e4]],
            chance.integers(-1, 2, (20, size)) * chance.uniform(0.5, 2, (20, 1)) / math.sqrt(size),
            np.eye(1, size) * 7,
        ]
    ).astype(np.float32)
    expected = whole_rows(rows.astype(np.float64), clip=1.0, resolution=RESOLUTION)

    def never(*_: object) -> NDArray[np.float64]:
        raise AssertionError

    monkeypatch.setattr(clipping, "_with_care", never)
    whole = whole_rows(rows, clip=1.0, resolution=RESOLUTION)
    assert whole.dtype == np.float32
    assert max(lengths(whole)) <= RESOLUTION**2
    # Half a step of rounding each, √size / 2 steps kept off the clip, and what 32 bits leave of the length.
    lost = math.sqrt(size) / 2 / RESOLUTION + 2.0**-17
    assert np.all(np.abs(whole - expected) <= 1 + lost * np.abs(expected))


def test_the_bound_holds_if_lengths_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of squares in floats may err as it likes: the whole numbers are counted."""
    rows = np.random.default_rng(1).normal(0, 1, (50, 100)).astype(np.float32)
    right = clipping._halved
    for wrong in (0.5, 0.99, 1e-12, 0.0, np.nan, np.inf):
        monkeypatch.setattr(clipping, "_halved", lambda parts, wrong=wrong: right(parts) * np.float32(wrong))
        whole = whole_rows(rows, clip=1.0, resolution=RESOLUTION)
        assert 0.99 * RESOLUTION**2 < min(lengths(whole)) <= max(lengths(whole)) <= RESOLUTION**2
    monkeypatch.setattr(clipping, "_fit", lambda whole, _: np.ones(len(whole), bool))  # without the count it does not
    monkeypatch.setattr(clipping, "_halved", lambda parts: right(parts) * np.float32(0.99))
    assert max(lengths(whole_rows(rows, clip=1.0, resolution=RESOLUTION))) > RESOLUTION**2


def test_a_length_errs_by_less_than_is_allowed_for() -> None:
    size: int
    for size in [1, 2, 5, 1000, 15_809]:
        with case(size):
            chance = np.random.default_rng(size)
            rows = (chance.normal(0, 1, (10, size)) * 10.0 ** chance.uniform(-3, 3, (10, size))).astype(np.float32)
            found = np.sqrt(clipping._halved(rows * rows))
            for row, length in zip(rows.tolist(), found.tolist(), strict=True):
                assert length == pytest.approx(math.sqrt(math.fsum(part * part for part in row)), rel=2.0**-19)


def test_rows_out_of_reach_of_32_bits_are_cut_with_care() -> None:
    chance = np.random.default_rng(2)
    plain = chance.normal(0, 1, (1, 30))
    for scale, clip in ((1e30, 1.0), (1e-30, 1e-35), (1e-44, 1e-45), (1e38, 1e300), (1.0, 1e-300)):
        rows = np.concatenate([plain * scale, [[np.nan] * 30], [[np.inf] * 30]]).astype(np.float32)
        whole = whole_rows(rows, clip=clip, resolution=RESOLUTION)
        wide = whole_rows(rows.astype(np.float64), clip=clip, resolution=RESOLUTION)
        assert np.abs(whole - wide).max() <= 20
        assert not whole[1:].any()
        assert max(lengths(whole)) <= RESOLUTION**2
