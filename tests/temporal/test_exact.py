"""Every outcome of small series, through `perturb` alone: the block shuffle holds, the paper's mechanisms do not."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chronodp as cdp
from chronodp.audit.exact import Finding, Mechanism, compare_outcomes, examine, outcomes
from chronodp.errors import InvalidArgument
from chronodp.privacy import Swap
from chronodp.randomness import Entropy, secure, seeded
from chronodp.temporal import (
    Backward,
    BlockShuffle,
    BlurredStream,
    DispatchStatement,
    Forward,
    NoisySort,
    Threshold,
    UnitCosts,
    choose_threshold,
    derived_budget,
    expected_warm_up,
)
from chronodp.temporal.published.dispatch import dispatch_probabilities
from chronodp.temporal.published.juggling import juggle, juggle_many, steady_slots
from chronodp.temporal.published.observer import backward_rules_out, forward_rules_out, threshold_rules_out
from chronodp.temporal.published.printed_start import juggle_from_empty
from chronodp.temporal.published.stirling import stirling_ratios
from tests.audit.cases.temporal import Orders
from tests.cases import case
from tests.conftest import SCALE, Trials
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


POINTS = list(itertools.product((10, 20, 50), (2.0, 5.0, 8.0)))


def displacement(source: NDArray[np.int64], block: int) -> tuple[float, float]:
    """The mean over blocks, and its standard error."""
    moved = np.abs(source - np.arange(len(source))).reshape(-1, block).mean(axis=1)
    return float(moved.mean()), float(moved.std() / math.sqrt(len(moved)))


def test_block_shuffle_moves_as_little_as_it_may(trials: Trials) -> None:
    length = trials(10**7, least=400_000)
    blurred = BlockShuffle(20, 5.0).perturb(np.arange(length), entropy=secure())
    mean, error = displacement(blurred.source, 20)
    assert abs(mean - 0.7944) < 6.5 * error
    assert abs(mean - 0.79) < 0.01 + 6.5 * error
    kept = float(np.mean(blurred.source == np.arange(length)))
    assert abs(kept - 0.8865) < 0.001 + 6.5 * math.sqrt(0.1 / (length / 20))
    assert blurred.damage.delay == blurred.damage.displacement / 2
    assert BlockShuffle(20, 5.0).expected.displacement == pytest.approx(0.7944, abs=1e-4)
    assert BlockShuffle(20, 5.0).expected_by_clock.delay == 9.5
    assert (blurred.damage.missing, blurred.damage.repeated, blurred.damage.empty) == (0.0, 0.0, 0.0)
    assert np.array_equal(np.sort(blurred.values.data), np.arange(length))
    wrong, _ = displacement(BlockShuffle(20, 4.9).perturb(np.arange(length)).source, 20)
    assert abs(wrong - 0.7944) > 6.5 * error  # a budget two per cent off is seen


@pytest.mark.parametrize("kind", [Backward, Forward, Threshold])
def test_costs_are_what_theory_says(kind: type[Backward] | type[Forward] | type[Threshold], trials: Trials) -> None:
    length = trials(10**6, least=50_000)
    tolerance = 0.01 * math.sqrt(10**6 / length)
    for window, epsilon in POINTS:
        mechanism, costs = kind(window, epsilon), UnitCosts.relative(window)
        seen = mechanism.perturb(np.zeros(length), entropy=seeded(window)).damage
        wanted = mechanism.expected
        # At the ends a window is cut off.
        assert seen.cost(costs) == pytest.approx(wanted.cost(costs), rel=tolerance, abs=2 * window * window / length)
        for name in ("missing", "repeated", "empty", "delay", "displacement"):
            part = getattr(wanted, name)
            spread = 6.5 * math.sqrt(window * part / length)  # none is above the window
            assert abs(getattr(seen, name) - part) <= spread + 2 * window / length, (window, epsilon, name)
        other = kind(window, epsilon + 1).expected.cost(costs)  # another budget is told apart
        assert other == wanted.cost(costs) or abs(seen.cost(costs) / other - 1) > 0.01


@pytest.mark.parametrize(("window", "threshold"), [(20, 3), (20, 10), (50, 12), (3, 2)])
def test_a_series_starts_in_the_steady_state(window: int, threshold: int, trials: Trials) -> None:
    rows = trials(400_000, least=40_000)
    empty = steady_slots(rows, window, threshold, seeded(1))
    assert np.all(empty.sum(axis=1) == threshold)
    assert np.all(empty[:, -1])
    first = juggle_many(1, empty, seeded(2))[:, 0]
    later = juggle_many(40, empty, seeded(3))[:, 39]
    for delay in range(window):
        one, two = (np.mean(part == delay) for part in (first, later))
        assert abs(one - two) < 7 * math.sqrt(2 * 0.25 / rows)
    cold = np.ones((2, window), dtype=bool)
    cold[:, : window - threshold] = False  # a start that is not steady is told apart
    assert np.all(juggle_many(1, cold, seeded(4)) >= window - threshold)


def test_one_series_and_many_have_the_same_law(trials: Trials) -> None:
    length = trials(400_000, least=60_000)
    one = juggle(length, steady_slots(1, 12, 5, seeded(1))[0], seeded(2))
    many = juggle_many(length // 50, steady_slots(50, 12, 5, seeded(3)), seeded(4))
    for delay in range(12):
        assert abs(np.mean(one == delay) - np.mean(many == delay)) < 7 * 2 * math.sqrt(0.25 / length)


def test_noisy_sort_moves_as_expected_and_stays_a_permutation(trials: Trials) -> None:
    length = trials(10**6, least=100_000)
    blurred = NoisySort(20, 5.0).perturb(np.arange(length), entropy=seeded(1))
    assert np.array_equal(np.sort(blurred.source), np.arange(length))
    assert blurred.damage.displacement == pytest.approx(8.1, abs=0.1)


@pytest.mark.slow
def test_ties_of_a_stable_sort_tell_more_than_epsilon() -> None:
    assert round(worst_sort(2, 1, 2.0, stable=True), 2) == 1.40
    assert round(worst_sort(2, 1, 2.0, stable=False), 2) == 0.90
    assert worst_sort(4, 3, 6.0, stable=True) > 6.1
    assert worst_sort(4, 3, 6.0, stable=False) < 6.0


def worst_sort(length: int, window: int, epsilon: float, *, stable: bool) -> float:
    """The largest log ratio of orders under a swap, for noise on a grid of whole periods, cut far out in its tail."""
    scale, reach = 2 * window / epsilon, 12 if length == 4 else 60
    noise = np.arange(-reach, reach + 1)
    edges = np.append(noise - 0.5, reach + 0.5)
    above = np.where(edges >= 0, np.exp(-np.abs(edges) / scale) / 2, 1 - np.exp(-np.abs(edges) / scale) / 2)
    chance = above[:-1] - above[1:]
    keys = np.stack([part.ravel() for part in np.meshgrid(*(noise + time for time in range(length)), indexing="ij")], 1)
    weight = np.array([1.0])
    for _ in range(length):
        weight = np.multiply.outer(weight, chance).ravel()
    starts = [tuple(range(length))] if stable else list(itertools.permutations(range(length)))
    law: dict[tuple[int, ...], float] = {}
    for start in starts:
        order = np.array(start)[np.argsort(keys[:, start], axis=1, kind="stable")]
        codes = order @ length ** np.arange(length)
        for code, mass in enumerate(np.bincount(codes, weight, minlength=length**length)):
            key = tuple(code // length**place % length for place in range(length))
            law[key] = law.get(key, 0.0) + mass / len(starts)
    worst = 0.0
    for one, two in itertools.combinations(range(length), 2):
        if two - one <= window:
            exchange = {one: two, two: one}
            for order_seen, mass in law.items():
                other = law[tuple(exchange.get(value, value) for value in order_seen)]
                if mass > 1e-13 and other > 1e-13:
                    worst = max(worst, math.log(mass / other))
    return worst


SMALL = [(3, 2, 6), (4, 2, 5), (4, 3, 5), (5, 2, 4), (5, 3, 4), (5, 4, 5)]


def listed(window: int, threshold: int, length: int) -> dict[tuple[int, ...], Fraction]:
    """Algorithm 1 line by line: how likely values go to which times, in turn."""
    found: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for now in range(length):
        after: dict[tuple[int, ...], Fraction] = {}
        for went, chance in found.items():
            empty = [time for time in range(now, now + window) if time not in went]
            choices = [now] if len(empty) <= threshold and now in empty else empty
            for time in choices:
                after[(*went, time)] = chance / len(choices)
        found = after
    return found


@pytest.mark.parametrize(("window", "threshold", "length"), SMALL)
@pytest.mark.slow
def test_every_outcome_has_the_probability_that_the_algorithm_gives_it(
    window: int, threshold: int, length: int
) -> None:
    def run(entropy: Entropy) -> object:
        waits, _ = juggle_from_empty(length, window, threshold, entropy)
        return tuple((waits + np.arange(length)).tolist())

    assert outcomes(run).probabilities == listed(window, threshold, length)


@pytest.mark.slow
def test_golden_steps_until_the_threshold(golden: Any, trials: Trials) -> None:
    for name, steps in golden("claims/algorithm1_printed_start.json")["expected_steps"].items():
        window, threshold = map(int, name.split(","))
        assert expected_warm_up(window, threshold) == pytest.approx(steps, rel=1e-12)
    runs = trials(4_000, least=400)
    drawn = [juggle_from_empty(500, 6, 3, seeded(seed))[1] for seed in range(runs)]
    assert abs(np.mean(drawn) - expected_warm_up(6, 3)) < 6.5 * np.std(drawn) / math.sqrt(runs)
    for window, threshold in ((13, 4), (4, 4), (4, 1)):
        with pytest.raises(InvalidArgument, match=r"(window|threshold) must be"):
            expected_warm_up(window, threshold)


def test_the_extended_mechanism_drops_nothing_before_the_threshold() -> None:
    mechanism = Threshold(6, 0.5, start="printed")
    assert mechanism.choice.extended
    for seed in range(40):
        _, warm = juggle_from_empty(60, 6, mechanism.choice.threshold, seeded(seed))
        blurred = mechanism.perturb(np.arange(60), entropy=seeded(seed))
        assert set(range(warm)) <= set(blurred.source.tolist())


def test_no_budget_is_stated_since_none_holds() -> None:
    mechanism = Threshold(3, 0.0, start="printed")
    statement = mechanism.statement()
    assert statement.budget is None
    assert "no marginal dispatch budget" in " ".join(str(statement).split())
    assert statement.ruled_out == ((3, 1.0),)
    assert Threshold(3, 0.0).statement().budget == choose_threshold(3, 0.0).budget == 0.0
    # In the steady state every delay is as likely; the second value of a printed start stays 8/5 times as often.
    second = [Fraction(0)] * 3
    for went, chance in listed(3, 2, 2).items():
        second[went[1] - 1] += chance
    assert second == [Fraction(4, 9), Fraction(5, 18), Fraction(5, 18)]


def test_a_stream_goes_on_where_it_was_in_the_midst_of_its_start(tmp_path: Path) -> None:
    mechanism = Threshold(8, 4.0, start="printed")
    spare = 8 - mechanism.choice.threshold
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("loose", unit=Swap(8), epsilon=1.0, accepts=("times are not protected",))
        live = BlurredStream(mechanism, ledger=ledger, dataset="loose", name="pulse", entropy=seeded(2))
        shown: list[Any] = []
        for value in range(200):
            if value in (1, 3, 7):
                live = BlurredStream.resume(ledger, "pulse", entropy=seeded(value))
            shown += live.step(value).values
        assert live.mechanism == mechanism
        assert isinstance(live.promise, DispatchStatement)
        assert live.promise.budget is None
        shown += live.finish().values
    assert shown[:200].count(None) == spare
    assert sorted(value for value in shown if value is not None) == list(range(200))  # no value is lost


@cache
def stirling(size: int, groups: int) -> int:
    if size == groups:
        return 1
    if not 0 < groups < size:
        return 0
    return groups * stirling(size - 1, groups) + stirling(size - 1, groups - 1)


def exact_probability(window: int, threshold: int, delay: int) -> Fraction:
    """The sum of positive terms of the written argument, as a fraction."""
    whole = stirling(window, threshold)
    if not delay:
        return Fraction(stirling(window - 1, threshold - 1), whole)
    last = min(delay - 1, window - threshold - 1)
    terms = (math.comb(delay - 1, lag) * stirling(window - 2 - lag, threshold - 1) for lag in range(last + 1))
    return Fraction(sum(terms), whole)


def test_golden_probabilities_as_exact_fractions(golden: Any) -> None:
    for name, stored in golden("tldp/pj_k10.json").items():
        threshold = int(name.partition("_c")[2])
        wanted = [Fraction(text) for text in stored["exact"]]
        assert [exact_probability(10, threshold, delay) for delay in range(10)] == wanted
        assert np.allclose(dispatch_probabilities(10, threshold), [float(part) for part in wanted], rtol=1e-14, atol=0)


@pytest.mark.slow
def test_probabilities_are_exact_to_a_window_of_a_thousand() -> None:
    for window, threshold in [(3, 2), (20, 8), (50, 2), (50, 17), (90, 45), (90, 89)]:
        with case(window, threshold):
            wanted = [float(exact_probability(window, threshold, delay)) for delay in range(window)]
            assert np.allclose(dispatch_probabilities(window, threshold), wanted, rtol=1e-12, atol=0)
    row = [1]  # S(K, 0..K), whole numbers
    for size in range(1, 1001):
        row = [0, *(groups * row[groups] + row[groups - 1] for groups in range(1, size)), 1]
    table = stirling_ratios(1000)
    for groups in (2, 3, 50, 131, 500, 999, 1000):
        exact = Fraction(row[groups - 1], row[groups])
        assert table[1000, groups] == pytest.approx(float(exact), rel=5e-12)
    for threshold in [2, 130, 400, 999]:
        with case(threshold):
            found = dispatch_probabilities(1000, threshold)
            assert found.sum() == pytest.approx(1, abs=1e-10)
            assert float(found @ np.arange(1000)) == pytest.approx(1000 - threshold, rel=1e-10)
            assert np.all(np.diff(found[1:]) >= 0)
            assert derived_budget(1000, threshold) == pytest.approx(2 * math.log(found.max() / found[1]), rel=1e-11)


def test_every_golden_budget_and_where_mechanisms_cross(golden: Any) -> None:
    count = 0
    for window, rows in golden("tldp/eps_hat.json").items():
        for row in rows:
            assert derived_budget(int(window), row["c0"]) == pytest.approx(row["eps_hat"], abs=1e-11)
            count += 1
    assert count > 300
    for window, row in golden("tldp/derivable_range.json").items():
        size = int(window)
        budgets = [derived_budget(size, threshold) for threshold in range(2, size)]
        assert min(budgets) == pytest.approx(row["lowest_eps"], abs=1e-11)
        assert 2 + int(np.argmin(budgets)) == row["lowest_c0"]
        useful = 2 * math.log(math.comb(size - 1, 2))
        assert derived_budget(size, size - 1) == pytest.approx(useful, abs=1e-11) == row["max_useful_eps_c0_km1"]
        costs = UnitCosts.relative(size)
        ((low, high),) = row["tm_etm_beats_baselines_eps_segments"]
        for epsilon, wins in ((low - 0.04, False), (low + 0.02, True), (high - 0.02, True), (high + 0.04, False)):
            ours, base = (kind(size, epsilon).expected.cost(costs) for kind in (Threshold, Backward))
            assert (ours < base) is wins, (size, epsilon)


def test_every_golden_threshold_and_cost(golden: Any) -> None:
    for window, rows in golden("tldp/optimal_c0.json").items():
        for row in rows:
            size, epsilon = int(window), float(row["eps"])
            choice = choose_threshold(size, epsilon)
            assert choice.extended is (row["tm_c0"] is None)
            assert choice.threshold == (row["etm_c0"] if choice.extended else row["tm_c0"])
            costs = UnitCosts.relative(size)
            assert Threshold(size, epsilon).expected.cost(costs) == pytest.approx(row["cost"], rel=1e-11)
            assert Backward(size, epsilon).expected.cost(costs) == pytest.approx(row["bpm_cost"], rel=1e-11)
            assert Forward(size, epsilon).expected.cost(costs) == pytest.approx(row["bpm_cost"], rel=1e-11)
    point = golden("tldp/fig5.json")
    costs = UnitCosts.relative(20)
    backward = Backward(20, 5.0).expected
    assert backward.missing == pytest.approx(point["missing_prob"], rel=1e-12)
    assert backward.delay == pytest.approx(point["bpm_delay"], rel=1e-12)
    assert round(backward.cost(costs), 4) == round(Forward(20, 5.0).expected.cost(costs), 4) == 15.6601
    assert Threshold(20, 5.0).expected.cost(costs) == 10
    assert Threshold(20, 5.0).choice.budget == pytest.approx(point["tm_eps_hat"], rel=1e-12)


def test_refuses_windows_and_thresholds_that_do_not_exist() -> None:
    window: Any
    threshold: Any
    for window, threshold in [(2, 2), (5, 1), (5, 5), (1001, 4), (True, 2), (5.0, 2)]:
        with case(window, threshold):
            with pytest.raises(InvalidArgument, match=r"window|threshold"):
                dispatch_probabilities(window, threshold)
            with pytest.raises(InvalidArgument, match=r"window|threshold"):
                derived_budget(window, threshold)
