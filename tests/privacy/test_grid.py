from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    assert np.array_equal(grid.to_steps(grid.to_values(numbers)), numbers)


@pytest.mark.parametrize("step", [0, -1.0, 3.0, 0.1, math.nan, math.inf, None])
def test_refuses_steps_that_are_no_power_of_two(step: object) -> None:
    with pytest.raises(InvalidArgument, match="step"):
        Grid(step)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", [[math.nan], [math.inf], [1e300], ["a"], [None], [[True]]])
def test_refuses_values_off_the_line_without_showing_them(values: object) -> None:
    with pytest.raises(InvalidArgument, match="values must be") as caught:
        Grid(1.0).to_steps(values)  # type: ignore[arg-type]
    assert "e+300" not in str(caught.value)
    with pytest.raises(InvalidArgument, match=r"got a float$"):
        Grid(1.0).to_steps(1e300)
