"""What is refused, and the edges that are not."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from chronodp.errors import InvalidArgument
from chronodp.privacy import dump, load
from chronodp.randomness import seeded
from chronodp.temporal import (
    Backward,
    BlockShuffle,
    Forward,
    Mechanism,
    NoisySort,
    Threshold,
    UnitCosts,
    frequency_counting,
    moving_average,
    recommend,
)
from chronodp.temporal.probabilities import MOST, odds_below
from tests.cases import case

KINDS: list[Any] = [BlockShuffle, Backward, Forward, Threshold, NoisySort]
ALL: list[Mechanism] = [BlockShuffle(4, 1.0), NoisySort(3, 1.0), Backward(4, 1.0), Forward(4, 1.0), Threshold(4, 1.0)]


def test_sizes_and_budgets_that_are_none_are_refused() -> None:
    kind: Any
    size: object
    for kind in KINDS:
        for size in [0, -1, 1.5, "3", None, True, 2**40]:
            with case(kind, size), pytest.raises(InvalidArgument, match=r"(block|window) must be a whole number"):
                kind(size, 1.0)
    for kind in [BlockShuffle, Backward, Forward, Threshold]:
        with case(kind), pytest.raises(InvalidArgument, match=r"(block|window) must be a whole number from [23] to"):
            kind(1, 1.0)
    epsilon: object
    for kind in KINDS:
        for epsilon in [-1.0, 1e300, math.nan, math.inf, "1", None]:
            with case(kind, epsilon), pytest.raises(InvalidArgument, match="epsilon must be a"):
                kind(5, epsilon)
    with pytest.raises(InvalidArgument, match="epsilon must be at least"):
        NoisySort(1000, 1e-9)
    with pytest.raises(InvalidArgument, match="steps must be"):
        NoisySort(3, 1.0, steps=2**30)
    with pytest.raises(InvalidArgument, match="epsilon"):
        NoisySort(3, 0.0)


def test_a_window_longer_than_the_series_is_served() -> None:
    mechanism: Mechanism
    for mechanism in ALL:
        with case(mechanism):
            for length in range(4):
                blurred = mechanism.perturb(np.arange(length), entropy=seeded(1))
                assert blurred.values.shape == (length,)
                panel = mechanism.perturb_panel(np.zeros((2, length)), entropy=seeded(1))
                assert panel.values.shape == (2, length)
            assert mechanism.perturb_panel(np.zeros((0, 5))).values.shape == (0, 5)


def test_values_are_never_changed() -> None:
    mechanism: Mechanism
    for mechanism in ALL:
        with case(mechanism):
            numbers = np.array([1.5, math.nan, math.inf, -0.0, math.nan, 2.5, 1e-320, 7.0] * 5)
            blurred = mechanism.perturb(numbers, entropy=seeded(2))
            held = blurred.source >= 0
            assert np.array_equal(
                blurred.values.data[held].view(np.int64), numbers[blurred.source[held]].view(np.int64)
            )
            assert np.array_equal(np.ma.getmaskarray(blurred.values), ~held)
            texts = mechanism.perturb(np.array(["a", "b", "c"] * 9), entropy=seeded(2)).values.compressed()
            assert set(texts) <= {"a", "b", "c"}
            pairs = mechanism.perturb(np.stack([numbers, numbers], axis=1), entropy=seeded(2)).values
            assert pairs.shape == (40, 2)
            cube = mechanism.perturb_panel(np.arange(60).reshape(2, 10, 3), entropy=seeded(3)).values
            for row in cube.reshape(-1, 3):
                assert np.ma.getmaskarray(row).all() or (np.diff(row) == 1).all()


def test_refuses_values_that_are_no_series() -> None:
    mechanism: Mechanism
    values: Any
    for mechanism in ALL:
        for values in [5, np.zeros((2, 2, 2)), [[1], [2, 3]]]:
            with case(mechanism, values):
                with pytest.raises(InvalidArgument, match="values must be one value a time, or times by channels"):
                    mechanism.perturb(values)
                with pytest.raises(InvalidArgument, match="values must be persons by times"):
                    mechanism.perturb_panel([1, 2])
                with pytest.raises(InvalidArgument, match="without a mask"):
                    mechanism.perturb(np.ma.masked_equal([1, 2, 3], 2))


def test_nothing_secret_is_printed_and_seeded_runs_are_marked() -> None:
    mechanism: Mechanism
    for mechanism in ALL:
        with case(mechanism):
            blurred = mechanism.perturb([987654321] * 9, entropy=seeded(1))
            assert "987654321" not in repr(blurred)
            assert "source" not in repr(blurred)
            assert str(blurred.promise).startswith("SEEDED RUN")
            assert not str(mechanism.perturb([1, 2, 3]).promise).startswith("SEEDED")
            assert load(dump(mechanism), Mechanism) == mechanism
            assert load(dump(blurred.promise), type(blurred.promise)) == blurred.promise
            private = isinstance(mechanism, BlockShuffle | NoisySort)
            assert ("TLDP" in str(blurred.promise)) is private
            assert ("marginal dispatch budget" in str(blurred.promise)) is not private


def test_an_epsilon_of_nothing_shuffles_evenly() -> None:
    assert BlockShuffle(5, 0.0).loss == 0.0
    assert BlockShuffle(5, 0.0).kept == 0.2
    assert BlockShuffle(5, 0.0).certificate().guarantee.epsilon == 1e-60
    assert Backward(4, 0.0).expected.displacement == 1.5


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [44.0, 1e3, 4e59])
def test_a_huge_epsilon_changes_nothing_and_overflows_nowhere(epsilon: float) -> None:
    for kind in KINDS:
        assert kind(1000, epsilon).perturb(np.arange(3000), entropy=seeded(1)).values.shape == (3000,)
    for mechanism in (BlockShuffle(1000, epsilon), Backward(1000, 2 * epsilon), Forward(1000, 2 * epsilon)):
        assert np.array_equal(mechanism.perturb(np.arange(3000), entropy=seeded(1)).source, np.arange(3000))


@given(st.floats(0, 60), st.integers(1, 2**20))
def test_odds_stay_below_what_epsilon_allows(epsilon: float, alternatives: int) -> None:
    stay, move = odds_below(epsilon, alternatives)
    assert 1 <= move <= stay
    assert stay + move * alternatives <= MOST
    with mpmath.workprec(200):
        exact = mpmath.exp(mpmath.mpf(epsilon))
        assert mpmath.mpf(stay) / move <= exact
        if epsilon < 42:
            assert mpmath.mpf(stay) / move > exact * (1 - mpmath.mpf(2) ** -41)


def test_numbers_as_people_write_them_are_not_exceeded() -> None:
    with mpmath.workprec(300):
        for epsilon in (0.1, 0.3, 1.1, 5.7):
            stay, move = odds_below(epsilon, 19)
            written = mpmath.mpf(Fraction(repr(epsilon)).numerator) / Fraction(repr(epsilon)).denominator
            assert mpmath.mpf(stay) / move <= mpmath.exp(written)


def test_recommendations() -> None:
    names = {}
    for window, epsilon in itertools.product((5, 20, 150), (0.5, 2.0, 5.0, 12.0, 25.0)):
        names[window, epsilon] = type(recommend(window, epsilon).papers.mechanism).__name__
    assert names[20, 5.0] == names[20, 2.0] == names[20, 12.0] == "Threshold"
    assert names[20, 0.5] == names[150, 5.0] == names[5, 12.0] == names[20, 25.0] == "Backward"
    found = recommend(20, 25.0, unit_costs=UnitCosts(1.0, 2.0, 1.0, 1.0))
    assert isinstance(found.papers.mechanism, Forward)
    assert found.ours.private
    assert "marginal dispatch budget" in str(found)
    costs = [part.cost for part in found.candidates]
    assert costs == sorted(costs)
    wrong: Any = 3
    with pytest.raises(InvalidArgument, match="unit_costs must be"):
        recommend(20, 5.0, unit_costs=wrong)


def test_unit_costs_of_section_two() -> None:
    counting = frequency_counting(window=10, length=1000, share=0.5, other_share=0.4)
    assert counting.repeated == pytest.approx((0.1 * 500) ** 2)
    assert counting.empty == pytest.approx(250.0**2)
    assert counting.delay == pytest.approx((0.5 * 4.5) ** 2)
    average = moving_average(window=10, length=20, variance=4.0)
    assert (average.missing, average.repeated, average.empty, average.delay) == (4.0, 4.0, 0.0, 2.0)
    with pytest.raises(InvalidArgument, match="missing must be"):
        UnitCosts(-1.0, 0.0, 0.0, 0.0)
    with pytest.raises(InvalidArgument, match="share"):
        frequency_counting(window=10, length=1000, share=1.5, other_share=0.4)


def test_nothing_lies_under_a_mask() -> None:
    mechanism: Any
    kind: Any
    for kind in ["int64", "float64", "object", "U3", "datetime64[s]", "timedelta64[s]", "bool"]:
        for mechanism in [Forward(4, 0.0), Threshold(4, 1.0)]:
            with case(kind, mechanism):
                values = np.array([[1, 1]] * 30).astype(kind)
                blurred = mechanism.perturb(values, entropy=seeded(2))
                hidden = np.asarray(blurred.values)[np.ma.getmaskarray(blurred.values)]
                assert len(hidden)
                assert not any(cell == values[0, 0] for cell in hidden)
