"""The attack on a trained model: what it proves is true, for the worst mechanism that there is."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array
from scipy.stats import beta, binom

from chronodp.errors import InvalidArgument
from chronodp.federated.membership import attack, chance_under, make_canaries, toss
from chronodp.randomness import seeded
from tests.conftest import SCALE
from tests.federated.people import INPUTS


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
