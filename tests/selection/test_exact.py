"""Every outcome of small choices, compared between neighbours; broken variants must be caught."""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.audit.cases.selection import law_of_exponential, moves
from tests.conftest import SCALE

import chronodp as cdp
from chronodp.audit.exact import Finding, compare_outcomes, examine, outcomes
from chronodp.privacy import Unit, User
from chronodp.randomness import Entropy
from chronodp.selection import (
    ChoiceDesign,
    ExponentialMechanism,
    MonotoneUtilities,
    NoisyMax,
    PermuteAndFlip,
    Utilities,
    choose,
    design_choice,
    pick,
    probabilities,
)

Values = tuple[int, ...]
REPLACED = User(relation="replace")
NUMBERS = itertools.count()


@functools.cache
def designed(mechanism: object, count: int, *, monotone: bool, epsilon: float = 1.0) -> ChoiceDesign:
    names = tuple(f"candidate {place}" for place in range(count))
    unit: Unit = User() if monotone else REPLACED
    return design_choice(
        mechanism,  # type: ignore[arg-type]  # one of three
        names,
        unit=unit,
        change=1.0,
        monotone=monotone,
        epsilon=epsilon,
    )


@functools.cache
def bounded(values: Sequence[float], *, monotone: bool) -> Utilities | MonotoneUtilities:
    return MonotoneUtilities(values, change=1.0) if monotone else Utilities(values, change=1.0)


PRICES = list(itertools.product((False, True), (0.1, 1.0, 3.0)))


@pytest.mark.parametrize(("monotone", "epsilon"), PRICES if SCALE >= 1 else PRICES[::2])
@pytest.mark.slow
def test_permute_and_flip_costs_exactly_epsilon(monotone: bool, epsilon: float) -> None:
    def run(values: Values, *, entropy: Entropy) -> int:
        design = designed(PermuteAndFlip(), len(values), monotone=monotone, epsilon=epsilon)
        return pick(design, bounded(values, monotone=monotone), entropy)

    finding = examine(run, moves(3, monotone=monotone))
    assert not finding.refutes(epsilon)
    assert finding.epsilon <= epsilon
    assert finding.epsilon == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.slow
def test_dropping_the_two_on_general_utilities_costs_twice_epsilon() -> None:
    def shortcut(values: Values, *, entropy: Entropy) -> int:
        return pick(designed(PermuteAndFlip(), len(values), monotone=True), bounded(values, monotone=True), entropy)

    finding = examine(shortcut, moves(3, monotone=False))
    assert finding.epsilon == pytest.approx(2.0, rel=1e-6)
    assert finding.refutes(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("monotone", [False, True])
def test_the_exponential_mechanism_stays_below_epsilon_and_comes_near_it(monotone: bool) -> None:
    def worst(used: ChoiceDesign, pairs: Sequence[tuple[Values, Values]]) -> Finding:
        known = {values: law_of_exponential(used, values) for values in {side for pair in pairs for side in pair}}
        return compare_outcomes([(known[first], known[second]) for first, second in pairs])

    pairs = moves(3, monotone=monotone)
    far = ((0, 40, 40), (1, 40, 40)) if monotone else ((0, 40, 40), (1, 39, 39))
    finding = worst(designed(ExponentialMechanism(), 3, monotone=monotone), [*pairs, far])
    assert 0.99 < finding.epsilon <= 1.0
    assert not finding.refutes(1.0)
    if not monotone:
        assert worst(designed(ExponentialMechanism(), 3, monotone=True), [*pairs, far]).epsilon > 1.9


def test_the_exponential_mechanism_repeats_attempts_until_one_accepts() -> None:
    # Two candidates, e^-x tiny: the second attempt's law is the first one's, so the draw's law is known from one try.
    design = designed(ExponentialMechanism(), 2, monotone=False, epsilon=2.0)
    law = law_of_exponential(design, (0, 1))
    expected = probabilities(design, bounded((0, 1), monotone=False))
    assert float(law.probabilities[0]) == pytest.approx(expected[0], rel=1e-12)
    assert float(law.probabilities[1]) == pytest.approx(expected[1], rel=1e-12)


@functools.cache
def coarse(epsilon: float, *, monotone: bool) -> ChoiceDesign:
    """Whole numbers, of which one unit changes 1: so coarse that noise ties often and every outcome can be walked."""
    unit: Unit = User() if monotone else REPLACED
    return ChoiceDesign(NoisyMax(), unit, ("a", "b"), 1.0, monotone, epsilon, 1.0)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.slow
def test_the_noisy_maximum_stays_below_epsilon_ties_and_all(monotone: bool) -> None:
    epsilon = 8.0

    def run(values: Values, *, entropy: Entropy) -> int:
        return pick(coarse(epsilon, monotone=monotone), bounded(values, monotone=monotone), entropy)

    pairs = [((0, start), (up, start + move)) for start in (0, 3) for up in (0, 1) for move in (0, 1)]
    if not monotone:
        pairs += [((0, start), (-1, start + 1)) for start in (0, 3)]
    finding = examine(run, pairs)
    assert not finding.refutes(epsilon)
    assert finding.epsilon > 0.8 * epsilon

    def thin(values: Values, *, entropy: Entropy) -> int:
        return pick(coarse(epsilon / 0.7, monotone=monotone), bounded(values, monotone=monotone), entropy)

    farthest = ((0, 3), (0, 4) if monotone else (-1, 4))
    assert farthest in pairs
    assert examine(thin, [farthest]).refutes(epsilon)


@pytest.mark.parametrize("rule", ["last", "better"])
def test_ties_may_go_by_place_but_not_by_merit(rule: str) -> None:
    epsilon = 8.0

    def run(values: Values, *, entropy: Entropy) -> int:
        noisy = np.array(values) + entropy.exponential(2 / epsilon, len(values))
        tied = np.flatnonzero(noisy == noisy.max())
        return int(tied[-1] if rule == "last" else max(tied, key=lambda place: (values[place], place)))

    finding = examine(run, [((2, 0), (1, 1))])
    assert finding.epsilon == pytest.approx(epsilon if rule == "last" else 1.5 * epsilon, rel=1e-9)
    assert finding.refutes(epsilon) is (rule == "better")


def test_probabilities_of_permute_and_flip_are_those_of_the_walked_outcomes() -> None:
    values = (0, 3, 5, 5, 1)
    design = designed(PermuteAndFlip(), 5, monotone=True, epsilon=0.7)
    walked = outcomes(lambda entropy: pick(design, bounded(values, monotone=True), entropy)).probabilities
    expected = probabilities(design, bounded(values, monotone=True))
    assert math.fsum(expected) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose([float(walked[place]) for place in range(5)], expected, rtol=1e-12)


def test_probabilities_of_the_noisy_maximum_are_those_of_noise_on_a_fine_grid() -> None:
    values, steps = (0, 3, 2, 2), 2**9
    design = designed(NoisyMax(), 4, monotone=True, epsilon=0.7)
    edges = (np.arange(-60 * steps, 60 * steps) + 0.5) / steps

    def below(at: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
        tails = np.exp(-np.abs(at)) / 2
        return np.asarray(np.where(at < 0, tails, 1 - tails))

    functions = np.array([below(edges - 0.7 * value) for value in values])
    masses = np.diff(functions, axis=1)
    middles = (functions[:, 1:] + functions[:, :-1]) / 2  # half of a tie goes to either
    found = [float((masses[place] * np.delete(middles, place, 0).prod(0)).sum()) for place in range(4)]
    np.testing.assert_allclose(probabilities(design, bounded(values, monotone=True)), found, rtol=1e-5)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("people", unit=REPLACED, epsilon=1e6)
        yield opened


def test_the_public_call_ledger_and_all_costs_epsilon(ledger: cdp.Ledger) -> None:
    def run(values: Values, *, entropy: Entropy) -> int:
        made = choose(
            ("a", "b", "c"),
            Utilities(values, change=1.0),
            epsilon=1.0,
            unit=REPLACED,
            ledger=ledger,
            dataset="people",
            request=f"{next(NUMBERS)}",
            entropy=entropy,
        )
        assert json.loads(made.text)["place"] == made.place
        return made.place

    finding = examine(run, [((0, 2, 2), (1, 1, 1)), ((2, 0, 0), (1, 1, 1))])
    assert finding.epsilon == pytest.approx(1.0, rel=1e-6)
    assert not finding.refutes(1.0)
