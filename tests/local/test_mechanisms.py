"""Variances against reference values and simulation, unbiasedness, the crossover, and what is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from chronodp.errors import InvalidArgument
from chronodp.local import (
    Fresh,
    Hybrid,
    LaplaceNumber,
    LocalHashing,
    LocalPlan,
    Memoised,
    OneBit,
    OptimizedUnary,
    Piecewise,
    RandomizedResponse,
    Slots,
    SymmetricUnary,
    recommend,
)
from chronodp.local.lanes import packed_coins
from chronodp.local.longitudinal import two_levels
from chronodp.local.mechanism import ChoiceMechanism, NumberMechanism
from chronodp.local.numbers import Number
from chronodp.local.probabilities import LARGEST_EPSILON, exponential_below, split_odds
from chronodp.privacy import Report, dump, load
from chronodp.randomness import seeded
from tests.cases import case
from tests.conftest import Trials

EPSILONS = ("0.5", "1", "2", "4")
WRONG: Any = "coin"
NUMBERS: list[type[Number]] = [OneBit, Piecewise, Hybrid, LaplaceNumber]


def test_variances_agree_with_reference_values(golden: Any) -> None:
    for key in EPSILONS:
        with case(key):
            expected, epsilon = golden("local/reference.json")[key], float(key)
            for choices in (2, 4, 24, 128):
                ask, known = RandomizedResponse(epsilon, choices), expected[f"grr_k{choices}"]
                assert float(ask.law.truth) == pytest.approx(known["p"], rel=1e-12)
                assert float(ask.law.chance) == pytest.approx(known["q"], rel=1e-12)
                assert float(ask.law.variance(0.0, 1)) == pytest.approx(known["formula"], rel=1e-9)
            unary = OptimizedUnary(epsilon, 7)
            assert float(unary.law.chance) == pytest.approx(expected["oue"]["q"], rel=1e-12)
            assert float(unary.law.variance(0.0, 1)) == pytest.approx(expected["oue"]["formula"], rel=1e-9)
            assert Piecewise(epsilon).variance(0.0) == pytest.approx(expected["piecewise"]["var_t0"], rel=1e-9)
            assert Piecewise(epsilon).variance(1.0) == pytest.approx(expected["piecewise"]["var_t1"], rel=1e-9)
            assert OneBit(epsilon).variance(0.0) == pytest.approx(expected["duchi_var_t0"], rel=1e-9)
            assert OneBit(epsilon).variance(-1.0) == pytest.approx(expected["duchi_var_t1"], rel=1e-9)
            assert LaplaceNumber(epsilon).variance(0.3) == pytest.approx(expected["laplace_var"], rel=1e-9)
    known = golden("local/reference.json")["freq_sim_k8_eps1_n20000"]
    truth = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])
    for mechanism, key in ((RandomizedResponse(1.0, 8), "grr"), (OptimizedUnary(1.0, 8), "oue")):
        assert mechanism.law.variance(truth, 20_000) == pytest.approx(known[f"{key}_var_theory"], rel=1e-9)
    binary = golden("local/reference.json")["binary_rr_eps1"]
    law = RandomizedResponse(1.0).law
    assert float(law.sampled_variance(binary["pi"], binary["n"])) == pytest.approx(binary["var"], rel=1e-9)


def test_two_levels_realise_the_first_report_exactly(golden: Any) -> None:
    for key in ["einf=2,e1=1,k=2", "einf=2,e1=1,k=10", "einf=4,e1=2,k=10", "einf=2,e1=1,k=24"]:
        with case(key):
            known = golden("local/reference.json")["lgrr_exact"][key]
            permanent, first, choices = (float(part.split("=")[1]) for part in key.split(","))
            levels = two_levels(permanent, first, int(choices))
            assert float(levels.kept[0]) == pytest.approx(known["p1"], rel=1e-12)
            assert float(levels.repeated[0]) == pytest.approx(known["p2"], rel=1e-12)
            p, q = levels.first
            assert float(p) == pytest.approx(known["ps"], rel=1e-12)
            assert math.log(p / q) == pytest.approx(first, abs=1e-12)
            assert p / q <= exponential_below(first)
            plan = LocalPlan("kept", RandomizedResponse(first, int(choices)), Memoised(permanent, horizon=9))
            assert float(plan.law.variance(0.0, 1)) == pytest.approx(known["var0_n1"], rel=1e-9)


def test_where_randomised_response_gives_way(golden: Any) -> None:
    for key in EPSILONS:
        with case(key):
            border = golden("local/reference.json")[key]["grr_better_if_k_below"]
            below, above = math.floor(border), math.ceil(border)
            variance = {
                k: [float(made(float(key), k).law.variance(0.0, 1)) for made in (RandomizedResponse, OptimizedUnary)]
                for k in (below, above)
            }
            assert variance[below][0] < variance[below][1]
            assert variance[above][0] > variance[above][1]
            assert isinstance(recommend(epsilon=float(key), choices=below).mechanism, RandomizedResponse)
            assert isinstance(recommend(epsilon=float(key), choices=above).mechanism, OptimizedUnary | LocalHashing)


def test_recommendations_follow_variance_and_size() -> None:
    assert isinstance(recommend(epsilon=1.0, choices=10**6).mechanism, LocalHashing)
    small = recommend(epsilon=0.3, clip=(0.0, 1.0))
    assert {type(one.mechanism) for one in small.alternatives} == set(NUMBERS)
    assert [one.variance for one in small.alternatives] == sorted(one.variance for one in small.alternatives)
    assert isinstance(small.mechanism, OneBit | Hybrid)
    for epsilon in (1.0, 3.0, 6.0):
        worst = {type(one.mechanism): one.variance for one in recommend(epsilon=epsilon, clip=(-2.0, 2.0)).alternatives}
        assert worst[Hybrid] <= 1.000001 * min(worst[OneBit], worst[Piecewise])
        assert worst[Hybrid] < worst[LaplaceNumber]
    with pytest.raises(InvalidArgument, match="choices must be given, or clip in its place"):
        recommend(epsilon=1.0)
    with pytest.raises(InvalidArgument, match="choices"):
        recommend(epsilon=1.0, choices=3, clip=(0.0, 1.0))


def fourth_moment_margin(amounts: Any, size: int) -> float:
    """Six standard deviations of a sample variance."""
    centred = amounts - amounts.mean()
    return 6.2 * math.sqrt(float((centred**4).mean() - (centred**2).mean() ** 2) / size)


@pytest.mark.parametrize("value", [0.0, 2.0, 1.3])
@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_are_unbiased_with_the_stated_variance(kind: type[Number], value: float, trials: Trials) -> None:
    mechanism = kind(1.0, (0.0, 2.0))
    size = trials(2_000_000, least=100_000)
    amounts = mechanism.amounts(mechanism.perturb(np.full(size, value), entropy=seeded(3)))
    stated = mechanism.variance(value)
    margin = 6.2 * math.sqrt(stated / size)
    assert abs(amounts.mean() - value) < margin
    assert abs(amounts.var() - stated) < max(fourth_moment_margin(amounts, size), 1e-12)
    if size >= 1_000_000:
        assert amounts.var() == pytest.approx(stated, rel=0.03)
    # The same test rejects a wrong one: less noise, and amounts that are not stretched enough.
    louder = kind(1.15, (0.0, 2.0)).variance(value)
    assert abs(amounts.var() - louder) > fourth_moment_margin(amounts, size)
    if value:
        assert abs(0.7 * amounts.mean() - value) > margin


CHOICES: list[ChoiceMechanism] = [
    RandomizedResponse(1.0, 8),
    OptimizedUnary(1.0, 8),
    SymmetricUnary(1.0, 8),
    LocalHashing(1.0, 8),
]


@pytest.mark.parametrize("mechanism", CHOICES, ids=repr)
def test_frequencies_are_unbiased_with_the_stated_variance(mechanism: ChoiceMechanism, trials: Trials) -> None:
    runs, devices = trials(2_000, least=200), 500
    truth = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05, 0.05])
    values = np.repeat(np.arange(8), (truth * devices).astype(int))
    entropy = seeded(9)
    found = np.array(
        [
            mechanism.law.frequencies(mechanism.support(mechanism.perturb(values, entropy=entropy)), devices)
            for _ in range(runs)
        ]
    )
    stated = mechanism.law.variance(truth, devices)
    assert np.all(np.abs(found.mean(axis=0) - truth) < 6.5 * np.sqrt(stated / runs))
    spread = found.var(axis=0) / stated
    # A sample variance of normal sums has relative deviation √(2/runs).
    assert np.all(np.abs(spread - 1) < 6.5 * math.sqrt(2 / runs))
    if runs >= 2_000:
        assert spread.mean() == pytest.approx(1.0, rel=0.03)
    wrong = RandomizedResponse(1.0, 8).law.variance(truth, devices) / (
        1.6 if isinstance(mechanism, RandomizedResponse) else 2.5
    )
    assert np.any(np.abs(found.var(axis=0) / wrong - 1) > 6.5 * math.sqrt(2 / runs))


@pytest.mark.parametrize("numerator", [0, 1, 2**61, 2**62 - 1, 3**38, 1_240_278_110_206_104_833])
def test_packed_coins_have_the_law_of_single_ones(numerator: int, trials: Trials) -> None:
    rows = trials(200_000, least=20_000)
    packed = packed_coins(seeded(1), numerator, rows, 13)
    bits = np.unpackbits(packed, axis=1, bitorder="little")
    assert bits.shape == (rows, 16)
    assert not bits[:, 13:].any()
    chance = numerator / 2**62
    margin = 6.5 * math.sqrt(max(rows * chance * (1 - chance), 1e-9))
    assert np.all(np.abs(bits[:, :13].sum(axis=0) - rows * chance) <= margin)
    pairs = (bits[:, :12] & bits[:, 1:13]).sum(axis=0)
    assert np.all(np.abs(pairs - rows * chance**2) <= 6.5 * math.sqrt(max(rows * chance**2, 1e-9)))


def test_packed_coins_use_every_digit_of_the_numerator() -> None:
    """With all digits but the last level decided, what is left is drawn on its own: forced here by a fixed entropy."""
    from chronodp.local import lanes

    class Ties:
        """Every word repeats the digit of the numerator, so that nothing is decided by the first digits."""

        seeded = True

        def __init__(self, numerator: int) -> None:
            self.level, self.numerator, self.asked = 61, numerator, 0

        def integers(self, below: int, size: int) -> Any:
            digit = self.numerator >> self.level & 1
            self.level -= 1
            return np.full(size, -digit & (below - 1), dtype=np.int64)

        def coins(self, numerators: int, denominator: int, size: int) -> Any:
            self.asked += size
            assert (numerators, denominator) == (self.numerator % 2**51, 2**51)
            return np.ones(size, dtype=bool)

    ties = Ties(3**38)
    below = lanes._compare(ties, 3**38, 5)  # type: ignore[arg-type]
    assert ties.asked == 5 * 56
    assert below.tolist() == [2**56 - 1] * 5


@given(st.floats(1e-6, LARGEST_EPSILON), st.integers(1, 2**20), st.integers(1, 2**31 - 2))
def test_odds_never_exceed_epsilon(epsilon: float, likely: int, others: int) -> None:
    assume(likely * math.exp(epsilon) < 2.0**61)
    a, b = split_odds(epsilon, likely=likely, others=others)
    assert a * likely + b * others <= 2**62
    assert a <= exponential_below(epsilon) * b
    assert a + 1 > exponential_below(epsilon) * b


def test_what_is_no_mechanism_or_plan() -> None:
    build: Any
    for build, said in [
        (lambda: RandomizedResponse(0.0), "epsilon must be"),
        (lambda: RandomizedResponse(41.0), "epsilon must be a number from 1e-06 to 40"),
        (lambda: RandomizedResponse(1.0, 1), "choices must be a whole number from 2"),
        (lambda: OptimizedUnary(1.0, 1), "choices must be a whole number from 2"),
        (lambda: LocalHashing(1.0, 2**31), "choices must be"),
        (lambda: OptimizedUnary(1.0, 10**6), "LocalHashing takes larger alphabets"),
        (lambda: OneBit(1.0, (1.0, 1.0)), "clip must be a pair of numbers"),
        (lambda: OneBit(1.0, (0.0, math.inf)), "clip must be"),
        (lambda: Piecewise(1.0, (0.0, 1.0), grid=0), "grid must be"),
        (lambda: LaplaceNumber(1e-4), "epsilon must be at least"),
        (lambda: Fresh(0), "horizon must be"),
        (lambda: Memoised(0.0, 3), "permanent_epsilon must be"),
        (lambda: LocalPlan("x", RandomizedResponse(2.0), Memoised(1.0, 3)), "at least the epsilon of one report, 2"),
        (lambda: LocalPlan("x", OptimizedUnary(1.0, 3), Memoised(1.0, 3)), "RandomizedResponse or OneBit"),
        (lambda: LocalPlan("", RandomizedResponse(1.0), Fresh(1)), "name must be"),
        (lambda: LocalPlan("x", WRONG, Fresh(1)), "mechanism must be"),
        (lambda: LocalPlan("x", RandomizedResponse(1.0), WRONG), "protocol must be"),
    ]:
        with case(build, said), pytest.raises(InvalidArgument, match=said):
            build()


def test_values_that_cannot_be_told_are_refused_unseen() -> None:
    values: Any
    mechanism: Any
    for values in [[4], [-1], [0.5], [[1]], ["a"], [None]]:
        with case(values):
            for mechanism in (RandomizedResponse(1.0, 4), OptimizedUnary(1.0, 4), LocalHashing(1.0, 4)):
                with pytest.raises(InvalidArgument, match="values must be whole numbers from 0 to 3") as refused:
                    mechanism.perturb(values)
                assert str(values) not in str(refused.value)
    for values in [[1.5], [-0.1], [math.nan], [[0.5]], ["a"]]:
        with case(values):
            for kind in NUMBERS:
                with pytest.raises(InvalidArgument, match="values must be finite numbers from 0 to 1"):
                    kind(1.0, (0.0, 1.0)).perturb(values)
    for mechanism in EVERY:
        with case(mechanism), pytest.raises(InvalidArgument, match=r"values must be .*; got a list"):
            mechanism.perturb([[1], [0, 1]])
    for kind in NUMBERS:
        with pytest.raises(InvalidArgument, match="apart"):
            kind(1.0, (-1e200, 1e200))


EVERY: list[ChoiceMechanism | NumberMechanism] = [
    *CHOICES,
    OneBit(1.0),
    Piecewise(1.0),
    Hybrid(1.0),
    LaplaceNumber(1.0),
]


def test_every_mechanism_keeps_its_contract() -> None:
    for mechanism in EVERY:
        with case(mechanism):
            assert load(dump(mechanism), type(mechanism)) == mechanism
            assert mechanism.claim.unit == Report()
            assert len(mechanism.perturb(np.zeros(0, dtype=int))) == 0
            one = mechanism.perturb([1])
            assert len(one) == 1
            assert mechanism.valid(one).all()
            assert LocalPlan("x", mechanism, Fresh(2)).lifetime.any_pattern == pytest.approx(2.0)


def test_numbers_of_numpy_make_plans_like_others() -> None:
    one: Any = np.float32(1.0)
    whole: Any = np.int64(4)
    for mechanism in (OptimizedUnary(1.0, whole), SymmetricUnary(one, whole), OneBit(1.0, (whole, whole + 2))):
        assert json.dumps(LocalPlan("asked", mechanism, Slots(np.int64(5), np.int64(2))).compiled)  # type: ignore[arg-type]
    assert json.dumps(LocalPlan("asked", LocalHashing(1.0, np.int64(40)), Fresh(3)).compiled)  # type: ignore[arg-type]
