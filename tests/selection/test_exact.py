"""Every outcome of small choices, compared between neighbours; what is of bounded range is charged so, and no other."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.audit.cases.selection import law_of_exponential, moves
from tests.conftest import SCALE

import chronodp as cdp
from chronodp.accounting import gaussian
from chronodp.audit.exact import Finding, compare_outcomes, examine, outcomes
from chronodp.ledger import Ledger, verify
from chronodp.privacy import BoundedRangeCost, GaussianCost, PureCost, Unit, User
from chronodp.randomness import Entropy
from chronodp.selection import (
    Choice,
    ChoiceDesign,
    ChoiceMechanism,
    ExponentialMechanism,
    MonotoneUtilities,
    NoisyMax,
    PermuteAndFlip,
    Utilities,
    choose,
    design_choice,
    pick,
    probabilities,
    score_gaps,
)
from chronodp.selection.design import FARTHEST

Values = tuple[float, ...]
Whole = tuple[int, ...]
EXACT = list(itertools.product((False, True), (0.1, 1.0, 3.0)))
PRICES = list(itertools.product((1e-5, 0.1, 0.3, 1.0, 7.0, 100.0), (False, True)))


@functools.cache
def designed(mechanism: ChoiceMechanism, count: int, *, monotone: bool, epsilon: float = 1.0) -> ChoiceDesign:
    unit: Unit = User() if monotone else User(relation="replace")
    names = tuple(f"candidate {place}" for place in range(count))
    return design_choice(mechanism, names, unit=unit, change=1.0, monotone=monotone, epsilon=epsilon)


@functools.cache
def bounded(values: Sequence[float], *, monotone: bool) -> Utilities | MonotoneUtilities:
    return MonotoneUtilities(values, change=1.0) if monotone else Utilities(values, change=1.0)


@pytest.mark.parametrize(("monotone", "epsilon"), EXACT if SCALE >= 1 else EXACT[::2])
@pytest.mark.slow
def test_permute_and_flip_costs_exactly_epsilon(monotone: bool, epsilon: float) -> None:
    def run(values: Whole, *, entropy: Entropy) -> int:
        design = designed(PermuteAndFlip(), len(values), monotone=monotone, epsilon=epsilon)
        return pick(design, bounded(values, monotone=monotone), entropy)

    finding = examine(run, moves(3, monotone=monotone))
    assert not finding.refutes(epsilon)
    assert finding.epsilon <= epsilon
    assert finding.epsilon == pytest.approx(epsilon, rel=1e-6)


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
    unit: Unit = User() if monotone else User("replace")
    return ChoiceDesign(NoisyMax(), unit, ("a", "b"), 1.0, monotone, epsilon, 1.0)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.slow
def test_the_noisy_maximum_stays_below_epsilon_ties_and_all(monotone: bool) -> None:
    epsilon = 8.0

    def run(values: Whole, *, entropy: Entropy) -> int:
        return pick(coarse(epsilon, monotone=monotone), bounded(values, monotone=monotone), entropy)

    pairs = [((0, start), (up, start + move)) for start in (0, 3) for up in (0, 1) for move in (0, 1)]
    if not monotone:
        pairs += [((0, start), (-1, start + 1)) for start in (0, 3)]
    finding = examine(run, pairs)
    assert not finding.refutes(epsilon)
    assert finding.epsilon > 0.8 * epsilon

    def thin(values: Whole, *, entropy: Entropy) -> int:
        return pick(coarse(epsilon / 0.7, monotone=monotone), bounded(values, monotone=monotone), entropy)

    farthest = ((0, 3), (0, 4) if monotone else (-1, 4))
    assert farthest in pairs
    assert examine(thin, [farthest]).refutes(epsilon)


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


def steps_apart(design: ChoiceDesign, first: Values, second: Values) -> int:
    """What gaps of neighbours span, in steps: times the slope, what log-likelihood ratios do, without rounding."""
    here, there = (score_gaps(design, bounded(values, monotone=design.monotone)) for values in (first, second))
    moved = (here - there).tolist()
    return int(max(moved) - min(moved))


@pytest.mark.slow
def test_ratios_span_at_most_epsilon_in_whole_numbers(subtests: pytest.Subtests) -> None:
    """Ratios of the exponential mechanism are slope times moved gaps and a constant: all of it is rational."""
    for epsilon, monotone in PRICES if SCALE >= 1 else [*PRICES[::4], *PRICES[3::4]]:
        with subtests.test(epsilon=epsilon, monotone=monotone):
            design = designed(ExponentialMechanism(), 3, monotone=monotone, epsilon=epsilon)
            step, far = design.step, FARTHEST * design.step
            starts = (0.0, step / 3, -step / 3, 0.7, far, far - 1, far + 1, far - step, -far, 2.0**60 * step)
            sides = (0.0, 1.0, 1 / 3) if monotone else (-1.0, 0.0, 1.0, 1 / 3)
            widest = 0
            for start in itertools.product(starts, repeat=2):
                for moved in itertools.product(sides, repeat=3):
                    first = (0.0, *start)
                    second = tuple(value + side for value, side in zip(first, moved, strict=True))
                    changes = [Fraction(after) - Fraction(before) for before, after in zip(first, second, strict=True)]
                    # Rounded sums may be farther apart than the change.
                    if changes != [Fraction(side) for side in moved]:
                        continue
                    widest = max(widest, steps_apart(design, first, second))
            assert design.slope * widest <= Fraction(epsilon)
            assert design.slope * widest >= Fraction(epsilon) * Fraction(999_999, 1_000_000)  # and it is attained


@pytest.mark.parametrize("monotone", [False, True])
def test_enumerated_laws_have_the_range_that_is_charged(monotone: bool) -> None:
    def worst(used: ChoiceDesign, pairs: Sequence[tuple[Whole, Whole]]) -> Finding:
        known = {values: law_of_exponential(used, values) for values in {side for pair in pairs for side in pair}}
        return compare_outcomes([(known[first], known[second]) for first, second in pairs])

    pairs = moves(3, monotone=monotone)[::5]
    finding = worst(designed(ExponentialMechanism(), 3, monotone=monotone), pairs)
    assert 0.999_999 < finding.range <= 1 + 1e-12
    if not monotone:  # the factor of monotone utilities where a person is replaced
        assert worst(designed(ExponentialMechanism(), 3, monotone=True), pairs).range == pytest.approx(2.0, rel=1e-6)


def test_permute_and_flip_and_noisy_maxima_span_more_and_stay_pure(golden: Any) -> None:
    stored = golden("bounds/accounting.json")["worst_range_eps1_K_upto_4"]
    design = designed(PermuteAndFlip(), 2, monotone=False)

    def law(values: Whole) -> Finding:
        first, second = (
            outcomes(lambda entropy, one=one: pick(design, Utilities(one, change=1.0), entropy))  # type: ignore[misc]
            for one in (values, values[::-1])
        )
        return compare_outcomes([(first, second)])

    assert law((0, 1)).range == pytest.approx(stored["pf"], rel=1e-9)
    assert law((0, 1)).epsilon < 1.0
    noisy = designed(NoisyMax(), 6, monotone=True)
    here, there = (
        probabilities(noisy, MonotoneUtilities(values, change=1.0))
        for values in ((2, 2.5, 2, 1, 1, 2), (2, 2.5, 3, 2, 1, 3))
    )
    assert float(np.ptp(np.log(here / there))) == pytest.approx(1.155, abs=1e-3)
    for mechanism in (PermuteAndFlip(), NoisyMax()):
        assert designed(mechanism, 2, monotone=True).cost == PureCost(1.0)
    assert designed(ExponentialMechanism(), 2, monotone=True).cost == BoundedRangeCost(1.0)


def decide(ledger: Ledger, request: str, mechanism: ChoiceMechanism, *, epsilon: float = 1.0) -> Choice:
    return choose(
        ("red", "green", "blue"),
        MonotoneUtilities([12, 15, 14], change=1),
        epsilon=epsilon,
        unit=User(),
        mechanism=mechanism,
        ledger=ledger,
        dataset="survey",
        request=request,
    )


def test_a_gaussian_budget_pays_the_smaller_price(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("survey", unit=User(), epsilon=1.0, delta=1e-6)
        ledger.spend("survey", GaussianCost(1.0, 6.0), unit=User())
        before = ledger.status("survey").sums[0].spent
        made = decide(ledger, "colour", ExponentialMechanism(), epsilon=0.1)
        paid = ledger.status("survey").sums[0].spent - before
        assert paid == pytest.approx(gaussian.mu(BoundedRangeCost(0.1)) ** 2, rel=1e-9)
        assert paid < 0.251 * gaussian.mu(PureCost(0.1)) ** 2
        assert made.certificate.claim.cost == BoundedRangeCost(0.1)
        assert made.certificate.guarantee.epsilon == 0.1
        assert "ε = 0.1, bounded range" in str(made.certificate)
        verify(made.signed, ledger.public_key, release=made.text)
        assert decide(ledger, "colour", ExponentialMechanism(), epsilon=0.1) == made
        assert ledger.status("survey").charges == 2
        flipped = decide(ledger, "flip", PermuteAndFlip(), epsilon=0.05)
        assert flipped.certificate.claim.cost == PureCost(0.05)


def test_a_band_around_forecasts_pays_the_smaller_price(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("homes", unit=cdp.User(), epsilon=2.0)
        band = cdp.federated.choose_band(
            np.linspace(0.1, 3.0, 400),
            largest=4.0,
            people=400,
            epsilon=1.0,
            ledger=ledger,
            dataset="homes",
            request="b",
        )
        assert band.choice.certificate.claim.cost == BoundedRangeCost(1.0)
