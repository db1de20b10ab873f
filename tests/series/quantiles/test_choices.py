"""Drawn edges keep to their price: every table of a few people, every neighbour, every outcome."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from tests.series.quantiles.worlds import Counts, Law, law_of, neighbours, ratios, tables

from chronodp.accounting import gaussian
from chronodp.privacy import BoundedRangeCost, PureCost
from chronodp.randomness import seeded
from chronodp.selection import ExponentialMechanism, PermuteAndFlip
from chronodp.series.quantiles.choices import ByChoice, draw_places, edge_utilities
from chronodp.series.quantiles.order import levels_of, steps_of

EM, PF = ExponentialMechanism(), PermuteAndFlip()
NAMES: dict[str, ExponentialMechanism | PermuteAndFlip] = {"exponential": EM, "permute and flip": PF}


def worst(way: ByChoice, quantiles: tuple[float, ...], *, most: int = 5, bins: int = 4) -> tuple[float, float]:
    """Return the largest log ratio of all neighbours with at most so many people and one, and the widest range."""
    laws = {counts: law_of(way, quantiles, counts) for counts in tables(most + 1, bins)}
    pairs = [ratios(laws[one], laws[other]) for one in tables(most, bins) for other in neighbours(one)]
    return max(max(-low, high) for low, high in pairs), max(high - low for low, high in pairs)


def replaced(way: ByChoice, quantiles: tuple[float, ...], *, people: int, bins: int) -> tuple[float, float]:
    """Return the same where one person's bin is another."""
    laws = {counts: law_of(way, quantiles, counts) for counts in tables(people, bins)}
    pairs = []
    for rest in tables(people - 1, bins):
        for one, other in itertools.permutations(neighbours(rest), 2):
            pairs.append(ratios(laws[one], laws[other]))
    return max(max(-low, high) for low, high in pairs), max(high - low for low, high in pairs)


@pytest.mark.long
def test_one_quantile_is_as_enumerated(golden: Any) -> None:
    for row in golden("published/exponential_quantile.json")["enumeration_eps_1"]:
        way = ByChoice(NAMES[row["mechanism"]], 1.0, 1, 1)
        ratio, width = worst(way, (row["q"],))
        assert ratio == pytest.approx(row["worst_log_ratio"], abs=2e-5)
        assert width == pytest.approx(row["worst_range"], abs=2e-5)
        assert ratio <= 1 + 1e-9
        if row["mechanism"] == "exponential":
            assert width <= 1 + 1e-9


def test_permute_and_flip_has_no_bounded_range() -> None:
    # Charged as the exponential mechanism is, by 0.627 ε of μ, it would cost too little: its range is wider than ε.
    _, width = worst(ByChoice(PF, 1.0, 1, 1), (0.5,))
    assert width > 1.4
    assert isinstance(ByChoice(PF, 1.0, 1, 1).part, PureCost)
    assert isinstance(ByChoice(EM, 1.0, 1, 1).part, BoundedRangeCost)


@pytest.mark.parametrize("mechanism", [EM, PF], ids=str)
def test_half_a_change_at_the_ninth_decile_is_caught(mechanism: ExponentialMechanism | PermuteAndFlip) -> None:
    class Halved(ByChoice):
        def change(self, step: Any) -> Fraction:
            del step
            return Fraction(1, 2)  # right at the median alone

    assert worst(ByChoice(mechanism, 1.0, 1, 1), (0.9,), most=9, bins=2)[0] <= 1
    assert worst(Halved(mechanism, 1.0, 1, 1), (0.9,), most=9, bins=2)[0] > 1.2


def divergence(one: Law, other: Law, epsilon: float) -> float:
    return math.fsum(max(0.0, chance - math.exp(epsilon) * other[outcome]) for outcome, chance in one.items())


def under(mu: float, epsilon: float) -> float:
    """The most that a divergence may be under Gaussian differential privacy."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.3, 0.5])
def test_permute_and_flip_at_the_price_of_a_bounded_range_is_caught(epsilon: float) -> None:
    """Nine people below the only inner edge, and one more above: at 0.627 ε of μ it tells more than is paid."""
    cheap, paid = gaussian.mu(BoundedRangeCost(1.0)), gaussian.mu(PureCost(1.0))
    for mechanism in (EM, PF):
        one, other = (law_of(ByChoice(mechanism, 1.0, 1, 1), (0.5,), counts) for counts in ((9, 0), (9, 1)))
        found = max(divergence(one, other, epsilon), divergence(other, one, epsilon))
        assert found <= under(paid, epsilon) + 1e-12
        assert (found > under(cheap, epsilon) + 0.03) == (mechanism is PF)


@pytest.mark.long
def test_several_quantiles_cost_their_levels(golden: Any) -> None:
    row = golden("published/exponential_quantile.json")["recursive_three_quantiles_two_levels_of_half"]
    quantiles, way = (0.25, 0.5, 0.75), ByChoice(EM, 0.5, 1, 1)
    found, width = worst(way, quantiles, most=4)
    assert found == pytest.approx(row["worst"], abs=1e-5)
    assert found <= row["claimed"]
    # Where a band lies may hang on earlier choices, so levels' widths do not add up to one range: their costs do.
    assert width > row["claimed"]
    mu = gaussian.mu(way.cost(3))
    for one in tables(3, 3):
        for other in neighbours(one):
            laws = law_of(way, quantiles, one), law_of(way, quantiles, other)
            for epsilon, (first, second) in itertools.product((0.0, 0.2, 0.5), (laws, laws[::-1])):
                assert divergence(first, second, epsilon) <= under(mu, epsilon) + 1e-12
    assert worst(ByChoice(PF, 0.5, 1, 1), quantiles, most=4)[0] <= 1


@pytest.mark.parametrize(
    ("mechanism", "one", "other", "cheap"),
    [
        (EM, (1, 0, 596, 0, 219, 24), (0, 0, 596, 0, 219, 25), 1.1267),
        (PF, (1, 60, 20, 0), (0, 60, 20, 1), 1.0609),
    ],
    ids=str,
)
def test_a_replaced_person_pays_two_steps_a_level(
    mechanism: ExponentialMechanism | PermuteAndFlip, one: Counts, other: Counts, cheap: float
) -> None:
    quantiles = (0.02, 0.5, 0.98)

    def ratio(way: ByChoice) -> float:
        low, high = ratios(law_of(way, quantiles, one), law_of(way, quantiles, other))
        return max(-low, high)

    twice = ByChoice(mechanism, 0.5, 1, 2, 2)
    assert ratio(twice) <= 1
    assert replaced(twice, (0.25, 0.5, 0.75), people=4, bins=3)[0] <= 1
    # With no utility moved by more than 1, and one choice a level paid, two parts change for the price of one.
    assert ratio(ByChoice(mechanism, 0.5, 1, 1, 1, in_place=True)) == pytest.approx(cheap, abs=1e-3)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_a_person_replaced_where_there_is_one_choice_moves_it_by_one(q: float) -> None:
    way = ByChoice(EM, 1.0, 1, 1, 1, in_place=True)
    ratio, width = replaced(way, (q,), people=6, bins=3)
    assert ratio <= 1 + 1e-9
    assert width <= 1 + 1e-9
    twice = replace(way, weight=2, in_place=False)
    assert replaced(twice, (q,), people=6, bins=3)[1] <= width + 1e-9


def test_two_choices_do_not_pay_for_one_of_twice_the_range_in_gaussian_terms() -> None:
    # Why a replaced person's two steps are charged as one range of twice the size, and not as two ranges.
    once, twice = gaussian.mu(BoundedRangeCost(0.2)), gaussian.mu(BoundedRangeCost(0.1))
    assert once == pytest.approx(2 * twice, rel=1e-3)  # two ranges of half the size cost √2 times one of them


@pytest.mark.long
@pytest.mark.parametrize("mechanism", [EM, PF], ids=str)
def test_edges_are_drawn_with_the_law_that_was_enumerated(
    mechanism: ExponentialMechanism | PermuteAndFlip, trials: Any
) -> None:
    counts: Counts = (3, 0, 4, 1)
    way, quantiles = ByChoice(mechanism, 0.8, 1, 1), (0.25, 0.5, 0.9)
    replicas = trials(100_000, least=4_000)
    drawn = draw_places(way, quantiles, np.tile(np.array(counts), (replicas, 1)), 1, seeded("edges"))
    law = law_of(way, quantiles, counts)
    seen = dict.fromkeys(law, 0)
    for row in drawn.tolist():
        seen[tuple(row)] += 1

    def distance(expected: dict[tuple[int, ...], float]) -> float:
        return math.fsum((seen[one] - replicas * p) ** 2 / (replicas * p) for one, p in expected.items())

    # A sum of squares of so many outcomes exceeds its mean by 8 deviations and more with probability below 1e-9.
    count = len(law)
    assert distance(law) < count + 10 * (2 * count) ** 0.5 + 60
    assert distance(law_of(replace(way, epsilon=1.6), quantiles, counts)) > count + 10 * (2 * count) ** 0.5 + 60


def test_order_is_kept_and_levels_are_few() -> None:
    quantiles = tuple(round(0.01 * index, 2) for index in range(1, 100))
    assert levels_of(99) == 7 == 1 + max(step.level for step in steps_of(quantiles))
    assert sorted(step.index for step in steps_of(quantiles)) == list(range(99))
    counts = np.random.default_rng(1).integers(0, 9, (4, 60))
    drawn = draw_places(ByChoice(PF, 0.1, 1, 1), quantiles, counts, 1, seeded(1))
    assert np.all(np.diff(drawn, axis=1) >= 0)
    assert drawn.min() >= 0
    assert drawn.max() <= 60


def test_utilities_of_any_size_are_whole() -> None:
    target = Fraction(1, 10)
    few = np.array([0, 3, 10], np.int64)
    assert edge_utilities(few, target).tolist() == [-10, -20, -90]
    many = few * 2**58
    assert edge_utilities(many, target).tolist() == [-10 * 2**58, -20 * 2**58, -90 * 2**58]


def test_an_empty_part_is_its_own_edge() -> None:
    counts = np.array([[0, 0, 0]])
    drawn = draw_places(ByChoice(PF, 1e-3, 1, 1), (0.2, 0.4, 0.6, 0.8), counts, 1, seeded(2))
    assert np.all(np.diff(drawn) >= 0)
