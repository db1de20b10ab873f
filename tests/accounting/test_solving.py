"""Inverses: what is known beforehand saves work, and changes no bit of the answer."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from chronodp.accounting.gaussian import _largest_mu, _near_mu, delta_of
from chronodp.accounting.solving import largest


@given(epsilon=st.floats(1e-8, 1e4), delta=st.floats(1e-300, 1 - 1e-9, exclude_min=True))
def test_mu_is_the_same_to_the_last_bit_with_and_without_a_guess(epsilon: float, delta: float) -> None:
    assert _largest_mu(epsilon, delta) == largest(lambda value: delta_of(value, epsilon) <= delta)


@given(root=st.floats(1e-200, 1e200), off=st.floats(-1.0, 1.0))
def test_a_wrong_guess_changes_nothing(root: float, off: float) -> None:
    plain = largest(lambda value: value <= root)
    for near in (root * (1 + off), root * (1 + 1e-9 * off), root * (1 + 1e-8 * off), math.inf, math.nan, 0.0):
        assert largest(lambda value: value <= root, near=near) == plain


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-7), (4.0, 1e-6), (1e-3, 1e-9), (30.0, 1e-12)])
def test_guesses_are_right_to_nine_digits_and_save_work(epsilon: float, delta: float) -> None:
    calls = [0, 0]

    def holds(place: int, value: float) -> bool:
        calls[place] += 1
        return delta_of(value, epsilon) <= delta

    near = _near_mu(epsilon, delta)
    found = largest(lambda value: holds(0, value), near=near)
    assert found == largest(lambda value: holds(1, value))
    assert near == pytest.approx(found, rel=1e-10)
    assert calls[0] <= calls[1] / 2
