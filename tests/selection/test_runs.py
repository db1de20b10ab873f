"""Many choices in one call: each has the law of one by itself, and no choice has to do with another."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from scipy import stats
from tests.conftest import Trials

from chronodp.audit.exact import outcomes
from chronodp.privacy import User
from chronodp.randomness import Entropy, seeded
from chronodp.selection import (
    ChoiceDesign,
    ChoiceMechanism,
    ExponentialMechanism,
    NoisyMax,
    PermuteAndFlip,
    Utilities,
    design_choice,
    pick_runs,
    pick_whole,
    probabilities,
)

MECHANISMS = (PermuteAndFlip(), ExponentialMechanism(), NoisyMax())
by_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)


def designed(mechanism: ChoiceMechanism, count: int, epsilon: float = 1.0) -> ChoiceDesign:
    names = tuple(map(str, range(count)))
    return design_choice(mechanism, names, unit=User(), change=1.0, monotone=False, epsilon=epsilon)


def run(design: ChoiceDesign, parts: list[list[int]], entropy: Entropy) -> list[int]:
    sizes = np.array([len(part) for part in parts])
    return [int(place) for place in pick_runs(design, np.array(list(itertools.chain(*parts))), sizes, entropy)]


def first_of(design: ChoiceDesign, part: list[int], entropy: Entropy) -> int:
    return run(design, [part], entropy)[0]


@by_mechanism
@pytest.mark.parametrize("large", [False, True])
def test_one_run_is_one_choice_from_the_same_bits(mechanism: ChoiceMechanism, large: bool) -> None:
    design = designed(mechanism, 40)
    for seed in range(20):
        values = np.random.default_rng(seed).integers(-9, 9, 40).astype(object) * (2**80 if large else 1)
        alone = pick_whole(design, values.tolist(), seeded(seed))
        assert pick_runs(design, values, np.array([40]), seeded(seed)).tolist() == [alone]


def test_every_outcome_of_two_runs_has_the_product_of_their_chances() -> None:
    parts = [[0, -1], [-2, 0, -1]]
    design = designed(PermuteAndFlip(), 3)
    found = outcomes(lambda entropy: tuple(run(design, parts, entropy))).probabilities
    alone = [outcomes(partial(first_of, design, part)).probabilities for part in parts]
    for first, second in itertools.product(range(2), range(3)):
        assert float(found[first, second]) == pytest.approx(float(alone[0][first] * alone[1][second]), rel=1e-9)
    assert set(found) == set(itertools.product(range(2), range(3)))


@by_mechanism
def test_thousands_of_runs_have_the_law_and_a_wrong_one_is_noticed(mechanism: ChoiceMechanism, trials: Trials) -> None:
    parts, times = [[-3, -1, 0, -2], [0], [-8, 0]], trials(100_000, least=20_000)
    design = designed(mechanism, 4)
    places = np.array(run(design, parts * times, seeded(3))).reshape(times, 3)
    assert (places[:, 1] == 0).all()
    for column, part in ((0, parts[0]), (2, parts[2])):
        law = probabilities(designed(mechanism, len(part)), Utilities(part, change=1.0))
        counts = np.bincount(places[:, column], minlength=len(part))
        assert stats.chisquare(counts, law * times).pvalue > 1e-9
        assert stats.chisquare(counts, law[::-1] * times).pvalue < 1e-9
    # The run before, and the run of other candidates beside it, tell nothing.
    for first, second in ((places[:-1, 0], places[1:, 0]), (places[:, 0], places[:, 2])):
        table = np.histogram2d(first, second, bins=[range(5), range(5)])[0]
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        assert stats.chi2_contingency(table).pvalue > 1e-9


@by_mechanism
def test_no_run_draws_nothing(mechanism: ChoiceMechanism) -> None:
    assert pick_runs(designed(mechanism, 3), np.empty(0, np.int64), np.empty(0, np.int64), seeded(1)).shape == (0,)
