"""Drawn bins keep to their price: every table of a few people, every neighbour, every outcome."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from chronodp.accounting import gaussian
from chronodp.errors import InvalidArgument
from chronodp.privacy import BoundedRangeCost, PureCost, decimal_value
from chronodp.randomness import seeded
from chronodp.selection import ExponentialMechanism, PermuteAndFlip, exponents_of
from chronodp.selection.score_gaps import run_gaps
from chronodp.series.quantiles import choices
from chronodp.series.quantiles.choices import ByChoice, bin_utilities, choice_of, draw_bins, few_allowance

Counts = tuple[int, ...]
Law = dict[tuple[int, ...], float]


def tables(most: int, bins: int) -> Iterator[Counts]:
    """Return every table of at most so many people."""
    for counts in itertools.product(range(most + 1), repeat=bins):
        if sum(counts) <= most:
            yield counts


def neighbours(counts: Counts) -> Iterator[Counts]:
    """Return the table with one person more, in each bin."""
    for place in range(len(counts)):
        yield tuple(count + (index == place) for index, count in enumerate(counts))


@lru_cache(maxsize=2**16)
def chances(way: ByChoice, q: float, counts: Counts, per_one: int = 1) -> tuple[float, ...]:
    """Return the probability of each bin, and of "too few" last, as the library weighs them.

    Utilities are whole in units of a person: with more parts of a person in each of them they are rounded finer.
    """
    exact = decimal_value(q)
    design = choice_of(way, exact, len(counts), per_one)
    utilities = bin_utilities(np.array([counts], np.int64) * per_one, exact, few_allowance(design))[0]
    odds = np.exp(-exponents_of(design, run_gaps(design, utilities, np.array([len(utilities)]))))
    if isinstance(way.mechanism, ExponentialMechanism):
        return tuple((odds / odds.sum()).tolist())
    # Each falls in with its odds, and one of those that did is taken: p ∫ Π (1 - p' t) dt, by exact quadrature.
    nodes, weights = np.polynomial.legendre.leggauss(len(odds))
    times = 1 - np.outer((nodes + 1) / 2, odds)
    return tuple(float(odds[i] * (weights / 2 @ np.delete(times, i, axis=1).prod(axis=1))) for i in range(len(odds)))


def law_of(way: ByChoice, quantiles: tuple[float, ...], counts: Counts, per_one: int = 1) -> Law:
    """Return the probability of every outcome of all quantiles' bins, before they are put in order."""
    each = [chances(way, q, counts, per_one) for q in quantiles]
    places = itertools.product(range(len(counts) + 1), repeat=len(quantiles))
    return {drawn: math.prod(one[place] for one, place in zip(each, drawn, strict=True)) for drawn in places}


def ratios(one: Law, other: Law) -> tuple[float, float]:
    """Return the least and the largest log-likelihood ratio of two laws."""
    logs = [math.log(one[outcome] / other[outcome]) for outcome in one]
    return min(logs), max(logs)


EM, PF = ExponentialMechanism(), PermuteAndFlip()


def worst(
    way: ByChoice, quantiles: tuple[float, ...], *, most: int = 5, bins: int = 4, per_one: int = 1
) -> tuple[float, float]:
    """Return the largest log ratio of all neighbours with at most so many people and one, and the widest range."""
    laws = {counts: law_of(way, quantiles, counts, per_one) for counts in tables(most + 1, bins)}
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


@pytest.mark.parametrize(("q", "ratio", "width"), [(0.5, 0.7502, 1.0), (0.25, 0.5864, 1.0), (0.9, 0.4737, 0.7778)])
def test_one_quantile_is_as_enumerated(q: float, ratio: float, width: float) -> None:
    """Every table of at most five people in two to four bins, with every neighbour, at epsilon 1."""
    found = [worst(ByChoice(EM, 1.0, 1, 1), (q,), bins=bins, per_one=2**10) for bins in (2, 3, 4)]
    assert max(one for one, _ in found) == pytest.approx(ratio, abs=5e-4)
    assert max(one for _, one in found) == pytest.approx(width, abs=2e-4)
    for bins in (2, 3, 4):
        assert max(worst(ByChoice(EM, 1.0, 1, 1), (q,), bins=bins)) <= 1 + 1e-9
        assert worst(ByChoice(PF, 1.0, 1, 1), (q,), bins=bins)[0] <= 1 + 1e-9


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((1, 0, 3, 1), [0.0090741, 0.0090741, 0.0406673, 0.0090741, 0.9321104]),
        ((0, 0, 0, 0), [0.0119048] * 4 + [0.952381]),
        ((0, 40, 0, 0), [2.0537e-9, 0.9963811, 2.0537e-9, 2.0537e-9, 0.0036189]),
    ],
)
def test_bins_have_the_stated_probabilities(counts: Counts, expected: list[float]) -> None:
    # Utilities are whole, here in thousandths of a person: that much "too few" is likelier than by the formula.
    assert chances(ByChoice(EM, 1.0, 1, 1), 0.5, counts, 2**10) == pytest.approx(expected, rel=1e-3)


def test_a_steeper_too_few_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slope of one a person where the median's utilities move by a half: a range of 1.5 for a claimed 1."""

    utilities = bin_utilities

    def steep(counts: Any, q: Fraction, allowance: int) -> Any:
        found = utilities(counts, q, allowance)
        found[:, -1] = allowance - q.denominator * counts.sum(axis=1)
        return found

    monkeypatch.setitem(globals(), "bin_utilities", steep)
    chances.cache_clear()
    assert worst(ByChoice(EM, 1.0, 1, 1), (0.5,))[1] == pytest.approx(1.5, abs=1e-3)
    chances.cache_clear()


def test_a_wrong_bin_is_seldom_shown(subtests: pytest.Subtests) -> None:
    """Whatever the table: a bin half a side or more away from the quantile is shown in at most 5 of 100 draws."""
    every_mechanism: list[Any] = [EM, PF]
    every_q: list[float] = [0.5, 0.9]
    every_epsilon: list[float] = [0.1, 1.0]
    for mechanism, q, epsilon in itertools.product(every_mechanism, every_q, every_epsilon):
        with subtests.test(mechanism=mechanism, q=q, epsilon=epsilon):
            way, most = ByChoice(mechanism, epsilon, 1, 1), 0.0
            for n in (*range(0, 60, 6), 100, 300, 1000, 3000):
                for bins in (10, 100):
                    spread = np.bincount(np.linspace(0, bins - 1e-9, n).astype(int), minlength=bins)
                    one, ends = np.zeros(bins, int), np.zeros(bins, int)
                    one[bins // 3], ends[0], ends[-1] = n, n // 2, n - n // 2
                    for counts in (spread, one, ends):
                        law = np.array(chances(way, q, tuple(counts.tolist())))[:-1]
                        past = np.concatenate(([0], np.cumsum(counts))) - q * n
                        rank = np.maximum(0, np.maximum(past[:-1], -past[1:]))
                        most = max(most, float(law[rank >= min(q, 1 - q) * n / 2 - 1e-9].sum()))
            assert most <= 0.05
            # Without "too few" every bin of an empty cell would be shown, and of a small one nearly so.
            assert most > (0.02 if mechanism is EM else 0.005)


def test_half_of_the_draws_show_a_bin_from_the_people_told() -> None:
    for q, people in ((0.5, 105), (0.9, 943)):
        way = ByChoice(EM, 0.378, 1, 1)
        needed = way.needed(q, 1000)
        assert needed == pytest.approx(people, abs=1)
        place = 400
        for count, shown in ((needed * 5 // 4, True), (needed * 3 // 4, False)):
            counts = tuple(count if bin_ == place else 0 for bin_ in range(1000))
            assert (chances(way, q, counts)[-1] < 0.5) == shown


def test_permute_and_flip_has_no_bounded_range() -> None:
    # Charged as the exponential mechanism is, by 0.627 ε of μ, it would cost too little: its range is wider than ε.
    _, width = worst(ByChoice(PF, 1.0, 1, 1), (0.5,))
    assert width > 1.01
    assert isinstance(ByChoice(PF, 1.0, 1, 1).part, PureCost)
    assert isinstance(ByChoice(EM, 1.0, 1, 1).part, BoundedRangeCost)


def test_half_a_change_at_the_ninth_decile_is_caught() -> None:
    class Halved(ByChoice):
        def change(self, q: Fraction) -> Fraction:
            del q
            return Fraction(1, 2)  # right at the median alone

    assert worst(Halved(EM, 1.0, 1, 1), (0.9,))[1] == pytest.approx(1.4, abs=1e-3)


def divergence(one: Law, other: Law, epsilon: float) -> float:
    return math.fsum(max(0.0, chance - math.exp(epsilon) * other[outcome]) for outcome, chance in one.items())


def under(mu: float, epsilon: float) -> float:
    """The most that a divergence may be under Gaussian differential privacy."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


@pytest.mark.slow
def test_several_quantiles_cost_one_draw_each() -> None:
    quantiles, way = (0.25, 0.5, 0.75), ByChoice(EM, 1 / 3, 1, 1)
    found, width = worst(way, quantiles, most=4, bins=3)
    assert found <= 1 + 1e-9
    assert width <= 1 + 1e-9  # no band hangs on an earlier choice, so ranges add up
    mu = gaussian.mu(way.cost(3))
    for one in tables(3, 3):
        for other in neighbours(one):
            laws = law_of(way, quantiles, one), law_of(way, quantiles, other)
            for epsilon, (first, second) in itertools.product((0.0, 0.2, 0.5), (laws, laws[::-1])):
                assert divergence(first, second, epsilon) <= under(mu, epsilon) + 1e-12
    assert worst(ByChoice(PF, 1 / 3, 1, 1), quantiles, most=3, bins=3)[0] <= 1


@pytest.mark.parametrize("mechanism", [EM, PF], ids=str)
def test_a_replaced_person_in_two_groups_pays_two_steps(mechanism: ExponentialMechanism | PermuteAndFlip) -> None:
    """The old leaves one group and the new joins another: two choices move, and each must pay for half of it."""

    def both(way: ByChoice) -> float:
        one = [ratios(law_of(way, (0.5,), counts), law_of(way, (0.5,), other)) for counts, other in STEPS]
        return max(high for _, high in one) + max(-low for low, _ in one)

    assert both(ByChoice(mechanism, 1.0, 1, 2, 2)) <= 1
    assert both(ByChoice(mechanism, 1.0, 1, 1, 1)) > 1


STEPS = [(one, other) for one in tables(8, 2) for other in neighbours(one)]


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_a_person_replaced_where_there_is_one_choice_moves_it_by_one(q: float) -> None:
    way = ByChoice(EM, 1.0, 1, 1, 1, in_place=True)
    ratio, width = replaced(way, (q,), people=6, bins=3)
    assert ratio <= 1 + 1e-9
    assert width <= 1 + 1e-9
    twice = replace(way, weight=2, in_place=False)
    assert replaced(twice, (q,), people=6, bins=3)[1] <= width + 1e-9


def in_order(law: Law, bins: int) -> Law:
    """Return the law of what is released: bins that rise with their quantiles, "too few" where it was drawn."""
    found: Law = {}
    for drawn, chance in law.items():
        rising = iter(sorted(place for place in drawn if place < bins))
        kept = tuple(place if place == bins else next(rising) for place in drawn)
        found[kept] = found.get(kept, 0.0) + chance
    return found


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [EM, PF], ids=str)
def test_bins_are_drawn_with_the_law_that_was_enumerated(
    mechanism: ExponentialMechanism | PermuteAndFlip, trials: Any
) -> None:
    counts: Counts = (8, 3, 12, 9)
    way, quantiles = ByChoice(mechanism, 0.4, 1, 1), (0.25, 0.5)
    replicas = trials(100_000, least=4_000)
    drawn = draw_bins(way, quantiles, np.tile(np.array(counts), (replicas, 1)), 1, seeded("bins"))
    law = in_order(law_of(way, quantiles, counts), len(counts))
    seen = dict.fromkeys(law, 0)
    for row in drawn.tolist():
        seen[tuple(row)] += 1

    def distance(expected: dict[tuple[int, ...], float]) -> float:
        return math.fsum((seen[one] - replicas * p) ** 2 / (replicas * p) for one, p in expected.items())

    # A sum of squares of so many outcomes exceeds its mean by 8 deviations and more with probability below 1e-9.
    law = {one: p for one, p in law.items() if p * replicas > 5}
    count = len(law)
    assert distance(law) < count + 10 * (2 * count) ** 0.5 + 60
    wrong = in_order(law_of(replace(way, epsilon=0.8), quantiles, counts), len(counts))
    assert distance({one: wrong[one] for one in law}) > count + 10 * (2 * count) ** 0.5 + 60


def test_bins_are_put_in_order_and_too_few_stays() -> None:
    quantiles = tuple(round(0.01 * index, 2) for index in range(1, 100))
    counts = np.random.default_rng(1).integers(0, 9, (4, 60))
    drawn = draw_bins(ByChoice(PF, 0.1, 1, 1), quantiles, counts, 1, seeded(1))
    for row in drawn:
        assert np.all(np.diff(row[row < 60]) >= 0)
    assert drawn.min() >= 0
    assert drawn.max() <= 60
    mixed = choices._in_order(np.array([[3, 9, 1, 2], [9, 9, 9, 9]]), 9)
    assert mixed.tolist() == [[1, 9, 2, 3], [9, 9, 9, 9]]


def test_utilities_of_any_size_are_whole() -> None:
    few = np.array([[3, 7, 0]], np.int64)  # the first decile is the first of ten people
    assert bin_utilities(few, Fraction(1, 10), 50).tolist() == [[0, -20, -90, 45]]
    many = few * 2**58
    assert bin_utilities(many, Fraction(1, 10), 50).tolist() == [[0, -20 * 2**58, -90 * 2**58, 50 - 5 * 2**58]]
    odd = bin_utilities(np.array([[2, 1]]), Fraction(1, 10), 50)
    assert odd.tolist() == [[0, -17, 49]]  # 50 - 1.5, rounded up: "too few" is drawn more often, never less


def test_the_allowance_is_as_likely_as_it_is_told() -> None:
    for bins, epsilon in ((1, 1.0), (1000, 1e-4), (10_000, 20.0)):
        design = choice_of(ByChoice(EM, epsilon, 1, 1), Fraction(9, 10), bins, 1)
        told = 2 * 9 / epsilon * math.log(bins / 0.05)
        assert told <= few_allowance(design) <= told * (1 + 1e-3) + 2


def test_a_price_too_small_for_any_table_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="epsilon"):
        ByChoice(EM, 1e-9, 1, 1)
