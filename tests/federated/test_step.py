"""One step: whole numbers of bounded length, exact samples, and its law enumerated against the claim."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array
from scipy.stats import beta, binom

from chronodp.accounting import sampled
from chronodp.audit.exact import examine, outcomes
from chronodp.errors import InvalidArgument
from chronodp.federated.membership import attack, chance_under, make_canaries, toss
from chronodp.federated.training import clipping
from chronodp.federated.training.clipping import whole_rows, whole_sum
from chronodp.federated.training.step import RESOLUTION, StepDesign, private_sum, sample
from chronodp.privacy import User
from chronodp.randomness import Entropy, seeded
from tests.cases import case
from tests.conftest import SCALE, Trials
from tests.federated.people import INPUTS

STEP = StepDesign(clip=1.0, sigma=1.0, rate=0.3, resolution=4)

anything = st.floats(allow_nan=True, allow_infinity=True, width=32)


def test_rows_are_the_gradient_clipped() -> None:
    chance = np.random.default_rng(0)
    for size in (1, 3, 1000, 20_000):
        rows = chance.normal(0, 1, (8, size)) * np.array([1e-3, 0.1, 1, 1, 3, 10, 1e3, 1e30])[:, None] / np.sqrt(size)
        found = whole_rows(rows, clip=2.0, resolution=RESOLUTION) * (2.0 / RESOLUTION)
        lengths = np.linalg.norm(rows / np.abs(rows).max(1, keepdims=True), axis=1) * np.abs(rows).max(1)
        expected = rows * np.minimum(1, 2.0 / lengths)[:, None]
        assert np.abs(found - expected).max() <= 2.0 / RESOLUTION * 1.01 + 1e-4 * np.abs(expected).max()


def test_the_sample_has_the_exact_chance() -> None:
    for rate in (0.1, 1 / 3, 0.7):
        law = outcomes(partial(_count, rate))
        chance = law.probabilities[1]
        assert Fraction(0) <= Fraction(str(rate)) - chance <= Fraction(1, 2**52)


def _count(rate: float, entropy: Entropy) -> int:
    return len(sample(1, rate, entropy))


def step(people: tuple[float, ...], *, entropy: Entropy) -> object:
    rows = np.array(people).reshape(-1, 1)
    return private_sum(STEP, len(people), lambda chosen: [rows[chosen]], size=1, entropy=entropy).tolist()


@pytest.mark.slow
def test_one_step_is_as_private_as_it_says_and_nearly_no_more() -> None:
    finding = examine(step, [((1.0,), ()), ((9.0, -1.0), (-1.0,)), ((0.4, 0.2), (0.4,))])
    for epsilon in (0.02, 0.1, 0.3, 0.7, 1.2):
        claimed = sampled.delta_of(STEP.cost, epsilon)
        low, high = finding.delta(epsilon)
        assert high <= claimed
        assert low > 0.9 * claimed - 1e-4  # the grid hides very little
        assert finding.refutes(epsilon, 0.8 * claimed)


def test_an_empty_sample_is_noise_which_is_not_torchs() -> None:
    none = private_sum(STEP, 0, lambda _: [], size=3, entropy=seeded(1))
    rows = np.ones((1, 3))
    rare = StepDesign(clip=1.0, sigma=1.0, rate=1e-9)
    quiet = private_sum(rare, 1, lambda chosen: [rows[chosen]], size=3, entropy=seeded(1))
    assert none.any()
    assert quiet.any()
    import torch

    torch.manual_seed(1)
    one = private_sum(STEP, 0, lambda _: [], size=50, entropy=seeded(1))
    torch.manual_seed(2)
    assert np.array_equal(one, private_sum(STEP, 0, lambda _: [], size=50, entropy=seeded(1)))


def test_noise_has_the_stated_deviation(trials: Trials) -> None:
    size = trials(2_000_000, least=100_000)
    design = StepDesign(clip=0.5, sigma=1.7, rate=0.5)
    noise = private_sum(design, 0, lambda _: [], size=size, entropy=seeded(7))
    # 7 standard errors of a standard deviation: a false alarm once in 4e11; nine tenths of the noise is far beyond.
    assert abs(float(noise.std()) / 0.85 - 1) < 7 / np.sqrt(2 * size)
    assert abs(0.9 - 1) > 7 / np.sqrt(2 * size)
    assert abs(float(noise.mean())) < 7 * 0.85 / np.sqrt(size)


def test_claims_and_bad_designs() -> None:
    assert STEP.claim.unit == User()
    assert STEP.claim.cost == STEP.cost
    assert STEP.scale >= 4
    for name, wrong in (("clip", 0.0), ("sigma", 0.0), ("rate", 1.0), ("resolution", 0)):
        options: dict[str, Any] = {"clip": 1.0, "sigma": 1.0, "rate": 0.1, "resolution": 4} | {name: wrong}
        with pytest.raises(InvalidArgument, match=name):
            StepDesign(**options)


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


def worst_chance(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """The largest chance of so many right guesses among all (epsilon, delta)-private mechanisms, by linear programming.

    Unknown are the chances of all lists of guesses (1 in, -1 out, 0 none) under all lists of coins, and by how much
    each exceeds e^epsilon times the chance under coins of which one is turned; these add up to at most delta.
    """
    coins = list(product((-1, 1), repeat=canaries))
    told = [guess for guess in product((-1, 0, 1), repeat=canaries) if sum(map(abs, guess)) == guesses]
    turned = [
        (place, coins.index((*mine[:one], -mine[one], *mine[one + 1 :])))
        for place, mine in enumerate(coins)
        for one in range(canaries)
    ]
    chances, lists = len(coins) * len(told), np.arange(len(told))
    rows, columns, entries = [], [], []
    for pair, (mine, other) in enumerate(turned):
        excess = pair * len(told) + lists
        rows += [excess, excess, excess, np.full(len(told), len(turned) * len(told) + pair)]
        columns += [mine * len(told) + lists, other * len(told) + lists, chances + excess, chances + excess]
        entries += [np.full(len(told), factor) for factor in (1.0, -math.exp(epsilon), -1.0, 1.0)]
    unknown, limits = chances + len(turned) * len(told), len(turned) * (len(told) + 1)
    placed = (np.concatenate(rows), np.concatenate(columns))
    matches = [sum(said == truth for said, truth in zip(guess, mine, strict=True)) for mine in coins for guess in told]
    gain = np.zeros(unknown)
    gain[:chances] = np.array(matches) >= right
    found = linprog(  # type: ignore[call-overload]  # sparse tables are taken; the stubs do not say so
        -gain / len(coins),
        A_ub=coo_array((np.concatenate(entries), placed), shape=(limits, unknown)),
        b_ub=np.repeat([0.0, delta], [len(turned) * len(told), len(turned)]),
        A_eq=coo_array(
            (np.ones(chances), (np.arange(chances) // len(told), np.arange(chances))), shape=(len(coins), unknown)
        ),
        b_eq=np.ones(len(coins)),
        method="highs",
    )
    return -float(found.fun)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("canaries", "guesses"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), *([(4, 4)] if SCALE >= 1 else [])]
)
def test_the_bound_is_the_worst_that_any_mechanism_does(canaries: int, guesses: int) -> None:
    for epsilon, delta in product((0.0, 0.5, 2.0), (0.0, 1e-3, 0.05)):
        for right in range(1, guesses + 1):
            worst = worst_chance(canaries, guesses, right, epsilon, delta)
            bound = chance_under(epsilon, right, guesses=guesses, canaries=canaries, delta=delta)
            assert worst <= bound + 1e-8
            assert bound <= worst + 1e-6  # and nothing is given away
            if delta and bound < 1:
                less = chance_under(epsilon, right, guesses=guesses, canaries=canaries, delta=0.9 * delta)
                assert worst > less  # a bound with nine tenths of delta would be wrong


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.02])
def test_a_true_claim_is_refuted_no_more_often_than_stated(delta: float) -> None:
    """Exact, for responses with chance e / (1 + e) of the truth that all are told with chance delta: ε = 1."""
    count, truth, chance = 40, np.e / (1 + np.e), 0.0
    scores = np.arange(count)
    guessed = scores >= count // 2
    for right in range(count + 1):
        found = attack(scores, np.where(scores < right, guessed, ~guessed), guesses=count, delta=delta)
        assert found.right == right
        if found.refutes(1.0):
            chance += (1 - delta) * binom.pmf(right, count, truth) + delta * (right == count)
    assert 0.001 < chance <= 0.05


def test_the_bound_without_delta_is_clopper_and_pearsons() -> None:
    coins = np.arange(400) % 2 == 0
    scores = np.where(np.arange(400) % 10 == 0, -1.0, 1.0) * np.where(coins, 1.0, -1.0)
    found = attack(scores, coins, guesses=400, delta=0.0)
    share = float(beta.ppf(0.05, found.right, found.guesses - found.right + 1))
    assert found.epsilon == pytest.approx(np.log(share / (1 - share)), abs=1e-4)
    assert attack(scores, coins, guesses=400, delta=1e-4).epsilon < found.epsilon


def test_a_leak_is_found() -> None:
    coins = toss(400, seeded(1))
    assert attack(coins + 0.0, coins, guesses=300, delta=1e-5).refutes(4.0)  # whoever tells all is caught
    assert attack(np.zeros(400), coins, guesses=300, delta=1e-5).epsilon < 1.0


def test_the_bound_holds_for_leaks_computed_exactly() -> None:
    """Responses that each leak with chance delta, and responses that leak all together with chance delta."""
    for epsilon, delta, count in ((0.5, 0.01, 8), (1.0, 0.1, 12), (0.0, 0.3, 5)):
        truth = np.exp(epsilon) / (1 + np.exp(epsilon))
        for right in range(count + 1):
            most = chance_under(epsilon, right, guesses=count, canaries=count, delta=delta)
            alone = binom.sf(right - 1, count, delta + (1 - delta) * truth)
            together = delta + (1 - delta) * binom.sf(right - 1, count, truth)
            assert max(alone, together) <= most * (1 + 1e-12)


def test_bad_attacks_are_refused() -> None:
    coins = np.array([True, False])
    for scores, included, guesses in (
        ([1.0], coins, 1),
        ([1.0, np.nan], coins, 1),
        ([1.0, 2.0], [1, 0], 1),
        ([1.0, 2.0], coins, 3),
    ):
        with pytest.raises(InvalidArgument):
            attack(scores, included, guesses=guesses, delta=0.0)
    canaries = make_canaries(INPUTS, 11)
    assert canaries.shape == (11, 6, 2)
    assert (~np.isnan(canaries)).sum(axis=(1, 2)).tolist() == [1] * 11
    assert (~np.isnan(canaries)).sum(axis=0).max() == 1
    with pytest.raises(InvalidArgument, match="count"):
        make_canaries(INPUTS, 13)
