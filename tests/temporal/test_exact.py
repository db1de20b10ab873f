"""Every outcome of small series, through `perturb` alone: the block shuffle holds, the paper's mechanisms do not."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from chronodp.audit.exact import Finding, Mechanism, compare_outcomes, examine
from chronodp.randomness import Entropy
from chronodp.temporal import Backward, BlockShuffle, Forward, NoisySort, Threshold
from chronodp.temporal.published.dispatch import choose_threshold
from chronodp.temporal.published.observer import backward_rules_out, forward_rules_out, threshold_rules_out
from tests.audit.cases.temporal import Orders
from tests.conftest import SCALE
from tests.rounding import FUNCTION

Series = tuple[Any, ...]
Mechanisms = BlockShuffle | NoisySort | Backward | Forward | Threshold


def of(mechanism: Mechanisms) -> Mechanism[Series]:
    def run(values: Series, /, *, entropy: Entropy) -> object:
        return mechanism.perturb(np.array(values), entropy=entropy).values

    return run


def swapped(values: Series, one: int, two: int) -> tuple[Series, Series]:
    other = list(values)
    other[one], other[two] = other[two], other[one]
    return values, tuple(other)


def inside_blocks(values: Series, block: int) -> list[tuple[Series, Series]]:
    pairs = itertools.combinations(range(len(values)), 2)
    return [swapped(values, one, two) for one, two in pairs if one // block == two // block]


def largest_possible_loss(finding: Finding) -> float:
    """The largest log ratio over outputs that both neighbours can give."""
    ratios = [
        abs(math.log(first.probabilities[output] / second.probabilities[output]))
        for first, second in finding.pairs
        for output in first.probabilities.keys() & second.probabilities.keys()
    ]
    return max(ratios)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("block", "epsilon"),
    [
        (block, epsilon)
        for block in (2, 3, 4, 5)
        for epsilon in (0.0, 0.7, 3.0)
        if SCALE >= 1 or block < 5 or epsilon == 0.7  # blocks of five take ten times as long as those of four
    ],
)
def test_block_shuffle_has_exactly_its_odds(block: int, epsilon: float) -> None:
    mechanism = BlockShuffle(block, epsilon)
    finding = examine(of(mechanism), inside_blocks(tuple(range(block)), block))
    assert finding.ratio == Fraction(*mechanism.odds)
    assert finding.epsilon <= epsilon
    assert finding.epsilon == pytest.approx(epsilon, abs=1e-12)
    assert mechanism.loss == pytest.approx(finding.epsilon, abs=1e-12)


@pytest.mark.slow
def test_a_block_of_six_by_the_law_of_its_orders() -> None:
    block = 6
    mechanism = BlockShuffle(block, 1.3)

    def perturb(values: Series, *, entropy: Entropy) -> Series:
        return tuple(mechanism.perturb(np.array(values), entropy=entropy).values.tolist())

    orders = Orders(perturb, block)
    values = tuple(range(block))
    pairs = [swapped(values, 0, 1), swapped(values, 2, 5), swapped(values, 0, block - 1)]
    finding = compare_outcomes([(orders.law(first), orders.law(second)) for first, second in pairs])
    assert finding.ratio == Fraction(*mechanism.odds)
    assert finding.epsilon == pytest.approx(1.3, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "values", [(0, 0, 1), (0, 1, 0, 1), (2, 2, 2, 1), (0, 1, 1, 2, 2), ("a", "b", "a", "c"), (1.0, math.nan, math.nan)]
)
def test_ties_only_help(values: Series) -> None:
    mechanism = BlockShuffle(len(values), 1.3)
    finding = examine(of(mechanism), inside_blocks(values, len(values)))
    assert 0 < finding.epsilon <= mechanism.loss * (1 + 2 * FUNCTION)  # both are logarithms


@pytest.mark.parametrize(("block", "length"), [(4, 6), (3, 8), (6, 4), *([(5, 7)] if SCALE >= 1 else [])])
@pytest.mark.slow
def test_a_partial_block_is_a_block(block: int, length: int) -> None:
    mechanism = BlockShuffle(block, 1.3)
    finding = examine(of(mechanism), inside_blocks(tuple(range(length)), block))
    assert finding.ratio == Fraction(*mechanism.odds)


def test_the_law_is_that_of_ewens() -> None:
    mechanism = BlockShuffle(4, 0.9)
    ((law, _),) = examine(of(mechanism), [swapped((0, 1, 2, 3), 0, 1)]).pairs
    odds = Fraction(*mechanism.odds)
    whole = odds * (odds + 1) * (odds + 2) * (odds + 3)
    assert len(law.probabilities) == 24
    for order in itertools.permutations(range(4)):
        assert law.probabilities[((4,), *order)] == odds ** cycles(order) / whole


def test_utility_by_golden_numbers(golden: Any) -> None:
    for row in golden("tldp/ewens_enumeration.json"):
        mechanism = BlockShuffle(int(row["k"]), row["eps"])
        assert mechanism.kept == pytest.approx(row["fix"], abs=1e-12)
        assert mechanism.expected.displacement == pytest.approx(row["disp"], abs=1e-12)
        if "lp_max_fix" in row:  # what linear programming finds that any such mechanism can keep
            assert mechanism.kept == pytest.approx(row["lp_max_fix"], abs=1e-9)


def cycles(order: tuple[int, ...]) -> int:
    seen: set[int] = set()
    count = 0
    for start in order:
        count += start not in seen
        while start not in seen:
            seen.add(start)
            start = order[start]  # noqa: PLW2901 (walks along the cycle)
    return count


def test_channels_move_together_and_people_apart() -> None:
    mechanism = BlockShuffle(2, 1.0)

    def channels(values: Series, /, *, entropy: Entropy) -> object:
        return mechanism.perturb(np.array(values), entropy=entropy).values

    finding = examine(channels, [(((0, 1), (2, 3)), ((2, 3), (0, 1)))])
    assert finding.ratio == Fraction(*mechanism.odds)
    alone = examine(channels, [(((0, 1), (2, 3)), ((2, 1), (0, 3)))])  # one channel swapped against the other
    assert alone.impossible == 1

    def panel(values: Series, /, *, entropy: Entropy) -> object:
        return mechanism.perturb_panel(np.array(values), entropy=entropy).values

    finding = examine(panel, [(((0, 1), (2, 3)), ((1, 0), (2, 3)))])
    assert finding.ratio == Fraction(*mechanism.odds)
    assert len(finding.pairs[0][0].probabilities) == 4


@pytest.mark.parametrize(("distance", "impossible"), [(1, 0.666), (2, 0.793), (3, 0.931)])
@pytest.mark.slow
def test_backward_is_refuted(distance: int, impossible: float, golden: Any) -> None:
    mechanism = Backward(3, 2.0)
    finding = examine(of(mechanism), [swapped(tuple(range(5 + distance)), 2, 2 + distance)])
    assert round(float(finding.impossible), 3) == impossible
    assert float(finding.impossible) == pytest.approx(stored(golden, "BPM", 3, distance), abs=1e-12)
    assert float(finding.impossible) == pytest.approx(backward_rules_out(3, 2.0, distance), abs=1e-12)
    assert largest_possible_loss(finding) == pytest.approx(1.0 if distance < 3 else 0.0, abs=1e-12)  # ε / 2
    assert finding.refutes(50.0)


@pytest.mark.parametrize(("distance", "impossible"), [(1, 0.621), (2, 0.746)])
@pytest.mark.slow
def test_forward_is_refuted(distance: int, impossible: float, golden: Any) -> None:
    mechanism = Forward(3, 2.0)
    finding = examine(of(mechanism), [swapped(tuple(range(5 + distance)), 2, 2 + distance)])
    assert round(float(finding.impossible), 3) == impossible
    assert float(finding.impossible) == pytest.approx(stored(golden, "FPM", 3, distance), abs=1e-12)
    assert forward_rules_out(3, 2.0, distance) <= float(finding.impossible)
    assert largest_possible_loss(finding) == pytest.approx(1.0 + math.log(2), abs=1e-12)  # ε / 2 + ln 2


@pytest.mark.slow
def test_forward_exceeds_epsilon_where_it_is_not_refuted() -> None:
    small = examine(of(Forward(3, 0.5)), [swapped(tuple(range(6)), 2, 3)])
    assert largest_possible_loss(small) == pytest.approx(0.25 + math.log(2), abs=1e-12)  # above ε itself


@pytest.mark.parametrize(
    ("window", "epsilon", "distance", "impossible", "possible"),
    [(4, 2.2, 1, 0.556, 3), (4, 2.2, 2, 0.778, 3), (3, 0.0, 1, 0.5, 2), (3, 0.0, 2, 1.0, 1)],
)
@pytest.mark.slow
def test_threshold_is_refuted(
    window: int, epsilon: float, distance: int, impossible: float, possible: int, golden: Any
) -> None:
    mechanism = Threshold(window, epsilon)
    finding = examine(of(mechanism), [swapped(tuple(range(window + distance)), 0, distance)])
    assert round(float(finding.impossible), 3) == impossible
    wanted = stored(golden, "TM", window, distance, mechanism.choice.threshold)
    assert float(finding.impossible) == pytest.approx(wanted, abs=1e-12)
    found = threshold_rules_out(window, mechanism.choice, distance)
    assert found == pytest.approx(float(finding.impossible), abs=1e-12)
    if impossible < 1:
        assert largest_possible_loss(finding) == pytest.approx(math.log(possible), abs=1e-12)


def test_the_extended_mechanism_and_longer_windows_by_golden_numbers(golden: Any) -> None:
    choice = choose_threshold(4, math.log(3))
    for distance in (1, 2, 3):
        wanted = stored(golden, "ETM", 4, distance, 3)
        assert threshold_rules_out(4, choice, distance) == pytest.approx(wanted, abs=1e-12)
    twenty = choose_threshold(20, 5.0)
    assert twenty.threshold == 10
    assert round(threshold_rules_out(20, twenty, 1), 3) == 0.258
    assert threshold_rules_out(20, twenty, 19) == threshold_rules_out(20, twenty, 20) == 1
    for distance in (1, 2):  # what one value alone gives away is never more than what the pair does
        long = choose_threshold(41, 6.0)
        assert (
            0 < threshold_rules_out(41, long, distance) < threshold_rules_out(40, choose_threshold(40, 6.0), distance)
        )


@pytest.mark.slow
def test_noisy_sort_of_few_values() -> None:
    finding = examine(of(NoisySort(1, 4.0, steps=1)), [((0, 1), (1, 0))])
    assert round(finding.epsilon, 3) == 1.583
    assert not finding.refutes(4.0)
    values = (0, 1, 2)
    finding = examine(of(NoisySort(2, 100.0, steps=1)), [swapped(values, 0, 2), swapped(values, 0, 1)])
    assert not finding.refutes(100.0)
    assert finding.epsilon > 25


def stored(golden: Any, mechanism: str, window: int, distance: int, threshold: int | None = None) -> float:
    rows = golden("tldp/audit_enumeration.json")
    (row,) = (
        row
        for row in rows
        if (row["mech"], row["k"], row["d"], row.get("c0")) == (mechanism, window, distance, threshold)
    )
    return float(row["delta_inf"])
