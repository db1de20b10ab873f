from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from chronodp.errors import InvalidArgument
from chronodp.privacy import Grid


@given(st.floats(1e-50, 1e50))
def test_a_grid_for_noise_is_a_power_of_two_a_million_times_finer(scale: float) -> None:
    ratio = scale / Grid.for_scale(scale).step
    assert 2**20 <= ratio < 2**21


@given(st.lists(st.integers(-(2**52), 2**52), max_size=20), st.integers(-40, 40))
def test_steps_survive_the_way_to_floats_and_back(steps: list[int], exponent: int) -> None:
    grid = Grid(2.0**exponent)
    numbers = np.array(steps, dtype=np.int64)
    assert np.array_equal(grid.to_quanta(grid.to_values(numbers)), numbers)


def test_refuses_steps_that_are_no_power_of_two_and_values_off_the_line_without_showing_them() -> None:
    step: Any
    for step in (0, -1.0, 3.0, 0.1, math.nan, math.inf, None):
        with pytest.raises(InvalidArgument, match="step"):
            Grid(step)
    values: Any
    for values in ([math.nan], [math.inf], ["a"], [None], [[True]], [[1.0], [2.0, 3.0]]):
        with pytest.raises(InvalidArgument, match="values must be") as caught:
            Grid(1.0).to_quanta(values)
        assert "nan" not in str(caught.value)
    with pytest.raises(InvalidArgument, match=r"got a float$"):
        Grid(1.0).to_quanta(math.nan)


def test_no_value_is_too_large() -> None:
    assert Grid(0.5).to_quanta([1e300, -1e308, 1e-308, 2.0**60]).tolist() == [2**52, -(2**52), 0, 2**52]


@given(st.floats(-1e9, 1e9), st.integers(0, 1000), st.integers(-30, 10))
def test_a_change_stays_within_its_steps(value: float, steps: int, exponent: int) -> None:
    """Rounding is exact, so that it commutes with whole steps: halves go up, and so does the last bit below them."""
    grid = Grid(2.0**exponent)
    exact = math.floor(Fraction(value) / Fraction(grid.step) + Fraction(1, 2))
    assert int(grid.to_quanta(value)) == max(-(2**52), min(2**52, exact))
    change = float(steps) * grid.step * 0.9
    moved = int(grid.to_quanta(value + change)) - int(grid.to_quanta(value))
    assert moved <= grid.reach(change) + (Fraction(value + change) != Fraction(value) + Fraction(change))
