"""Lives of shares: sound rules meet their bound exactly, every broken one loses what the page says it does."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr

from chronodp.accounting import gaussian
from chronodp.audit import AuditCase, Verdict, judge
from tests.audit.cases import lifetimes
from tests.audit.registry import Entry, Mutant

GOLDEN = Path(__file__).parents[1] / "golden" / "lifetime"
WORLDS: dict[str, Any] = {
    row["name"]: row for row in json.loads((GOLDEN / "worlds.json").read_text(encoding="utf-8"))["results"]
}
GAUSSIAN = json.loads((GOLDEN / "gaussian.json").read_text(encoding="utf-8"))

SOUND = {
    "the first 1 of 4 months": "first 1 of 4",
    "the first 2 of 4 months": "first 2 of 4",
    "the first 3 of 4 months": "first 3 of 4",
    "32 owners who choose prices by what was told": "tokens, 32 adaptive owners",
    "months kept by a key, beside one who is always kept": "thinned by a key, cap 2",
    "months kept by a key, beside one who is kept now and then": "thinned by a key, cap 2",
    "one group of two in a month, two months": "one tally, max_groups 1",
    "someone forgotten who comes back": "erasure burns",
}
TWINS = {
    "a life for each group of a person": "TWIN cap after grouping",
    "a quota of people a month, in which one pushes another out": "TWIN quota of people a month",
    "two people on one entry": "TWIN short hash, shared tally",
    "a life a year, told as a person's": "TWIN K a year as user-level",
    "an erasure that deletes the entry": "TWIN erasure resets",
    "how many people still count, told exactly": "TWIN tally published",
    "people who are used up, counted every month and paid once": "TWIN exhausted people, noisy",
    "shares written after the release": "TWIN tally written after release",
    "people picked by the true series": "TWIN picked by the true series",
    "months of a person chosen anew among all so far": "TWIN chosen anew each month",
}
ALSO = {
    "a budget that renews as payer of a new series": (1, 4.0),
    "shares in a number that wraps": (2, 4.0),
    "totals of one reading, shares of another": (2, 3.0),
    "a series that stops when everyone is used up": (1, math.inf),
}
*WALKED, ON_AVERAGE, ACROSS, ROLLING = lifetimes.MUTANTS


def cases(*entries: Entry) -> list[AuditCase]:
    return [case for entry in entries for case in entry.cases()]


def lost(verdict: Verdict) -> float:
    assert verdict.exact is not None
    return verdict.exact / math.log(2)


def test_every_world_of_the_reference_is_walked() -> None:
    assert {*SOUND.values(), *TWINS.values()} == set(WORLDS)
    assert {*TWINS, *ALSO} == {mutant.name for mutant in WALKED}
    assert set(SOUND) == {case.name for case in lifetimes.ENTRIES[0].cases()}


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(lifetimes.ENTRIES[0]), ids=lambda case: case.name)
def test_a_sound_rule_meets_its_bound_exactly(case: AuditCase) -> None:
    verdict, world = judge(case), WORLDS[SOUND[case.name]]
    assert world["sound"]
    assert verdict.outcome == "holds"
    assert lost(verdict) == pytest.approx(world["found_log2"], abs=1e-12)
    assert case.epsilon == pytest.approx(world["promised_log2"] * math.log(2), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", WALKED, ids=lambda mutant: mutant.name)
def test_a_broken_rule_loses_what_the_page_says(mutant: Mutant) -> None:
    if mutant.name in TWINS:
        world = WORLDS[TWINS[mutant.name]]
        promised, true = world["promised_log2"], math.inf if world["infinite"] else world["found_log2"]
    else:
        promised, true = ALSO[mutant.name]
    assert mutant.epsilon == pytest.approx(promised * math.log(2), abs=1e-12)
    sound, caught = map(judge, mutant.cases)
    assert sound.outcome == "holds"
    assert lost(sound) <= promised + 1e-12
    assert caught.outcome == "refuted"
    assert caught.lower >= mutant.epsilon
    assert lost(caught) == pytest.approx(true, abs=1e-12)


@pytest.mark.slow
def test_gaussian_lives_stay_below_the_curve_and_come_close() -> None:
    asked_more, alike = map(judge, lifetimes.ENTRIES[1].cases())
    assert asked_more.outcome == alike.outcome == "holds"
    assert 0.95 * 4 < asked_more.lower <= 4
    assert 0.99 * 4 < alike.lower <= 4  # rounding to whole steps hides the rest


@pytest.mark.slow
def test_a_life_kept_in_expectation_is_caught() -> None:
    sound, caught = map(judge, ON_AVERAGE.cases)
    assert sound.outcome == "holds"
    assert caught.outcome == "refuted"
    assert caught.lower > 11


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(lifetimes.ENTRIES[2]), ids=lambda case: case.name)
def test_the_front_door_spends_exactly_what_was_paid(case: AuditCase) -> None:
    verdict = judge(case)
    assert verdict.outcome == "holds"
    assert verdict.exact == pytest.approx(case.epsilon, rel=1e-6)  # attained by someone who is always there


Floats = NDArray[np.float64]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def tells(shift: float, second: Callable[[Floats], Floats], cut: float, epsilon: float) -> float:
    """Return delta of two Gaussian answers, of which the second moves by what the first one says; by quadrature."""
    total = 0.0
    for low, high in ((-10.0, cut), (cut, 11.0)):
        y = (high - low) / 2 * NODES + (high + low) / 2
        loss, more = shift * y - shift**2 / 2, np.maximum(second(y), 1e-9)
        z = (epsilon - loss) / more
        gain = np.exp(loss) * ndtr(more / 2 - z) - math.exp(epsilon) * ndtr(-more / 2 - z)
        total += (high - low) / 2 * float(WEIGHTS @ (np.exp(-y * y / 2) / math.sqrt(2 * math.pi) * gain))
    return total


@pytest.mark.parametrize("row", GAUSSIAN["adaptive_filter"]["rows"], ids=lambda row: str(row["epsilon"]))
def test_owners_who_adapt_gain_nothing_and_owners_who_keep_the_mean_gain_much(row: dict[str, float]) -> None:
    """The limit must hold on every path: 5 splits, 15 points, 2 sides; the second part is asked beyond the point."""
    within: list[float] = []
    on_average: list[float] = []
    for part, cut, side in itertools.product((0.1, 0.3, 0.5, 0.7, 0.9), np.linspace(-3.5, 3.5, 15), (1, -1)):
        first = math.sqrt(part)
        chance = max(float(ndtr(-side * cut)), float(ndtr(-side * (cut - first))))  # without and with p
        for found, size in ((within, 1 - part), (on_average, (1 - part) / chance)):
            more = math.sqrt(size)
            found.append(
                tells(first, lambda y, s=side, c=cut, m=more: np.where(s * y > s * c, m, 0.0), cut, row["epsilon"])  # type: ignore[misc]
            )
    curve = gaussian.delta_of(1.0, row["epsilon"])
    assert curve == pytest.approx(row["gdp"], rel=1e-9)
    assert max(within) == pytest.approx(curve, rel=1e-6)
    assert max(on_average) == pytest.approx(row["twin_in_expectation"], rel=2e-4)  # its quadrature was coarser


def test_lives_that_noise_is_shaped_across_and_rolling_ones_lose_what_the_page_says() -> None:
    lowered = GAUSSIAN["sigma_lowered"][-1]
    for mutant, ratio, near in (
        (ACROSS, lowered["mu2_true"] / lowered["mu2_promised"], 1e-4),
        (ROLLING, 120 / 2, 1e-4),  # noise is for the two cells of a window
    ):
        sound, caught = map(judge, mutant.cases)
        assert sound.outcome == "holds"
        assert caught.outcome == "refuted"
        true, claimed = (gaussian.mu_for(epsilon, mutant.delta) for epsilon in (caught.lower, mutant.epsilon))
        assert (true / claimed) ** 2 == pytest.approx(ratio, rel=near)
    always = (True,) * 120
    with_, without = (lifetimes.roll(one, True) for one in (always, (False, *always[1:])))
    assert sum(one != other for one, other in zip(with_, without, strict=True)) == 120
