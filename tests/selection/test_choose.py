"""Choices, one or many in a call: their law, storage and crashes, and what is refused."""

from __future__ import annotations

import itertools
import json
import signal
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats
from tests import forkserver
from tests.conftest import Trials

import chronodp as cdp
from chronodp.audit.exact import outcomes
from chronodp.errors import BudgetExhausted, CertificateInvalid, InvalidArgument, RequestConflict, UnitMismatch
from chronodp.ledger import verify
from chronodp.privacy import Swap, User, Window, dump, load
from chronodp.randomness import Entropy, seeded
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
    pick_runs,
    pick_whole,
    probabilities,
)
from chronodp.selection.design import FARTHEST
from chronodp.selection.score_gaps import score_gaps

EVERY: list[ChoiceMechanism] = [PermuteAndFlip(), ExponentialMechanism(), NoisyMax()]
KNOWN = (-3.0, -1.0, 0.0, -2.0)
KNOWN_CHANCES = ((0.079477, 0.247670, 0.535633, 0.137219), (0.101536, 0.276004, 0.455054, 0.167405))
# Narrower noise shows in choices among these by half as many draws as among the known ones.
FAR_APART = (-6.0, -5.0, 0.0, -4.0)
FALSE_ALARM = 1e-9
by_mechanism = pytest.mark.parametrize("mechanism", EVERY, ids=str)


def designed(
    mechanism: ChoiceMechanism, count: int, *, monotone: bool = False, change: float = 1.0, epsilon: float = 1.0
) -> ChoiceDesign:
    names = tuple(f"candidate {place}" for place in range(count))
    return design_choice(mechanism, names, unit=User(), change=change, monotone=monotone, epsilon=epsilon)


def test_golden_probabilities_of_model_orders(golden: Any, subtests: pytest.Subtests) -> None:
    for epsilon in [0.5, 1.0, 2.0, 4.0]:
        with subtests.test(epsilon=epsilon):
            panel = golden("selection/arima_selection.json")["panel"]
            losses = MonotoneUtilities(panel["utility"], change=1.0)
            replaced = Utilities(panel["utility"], change=1.0)
            known = panel[f"eps={epsilon}"]
            for mechanism, name in ((ExponentialMechanism(), "em_addremove"), (PermuteAndFlip(), "pf_addremove")):
                design = designed(mechanism, 6, monotone=True, epsilon=epsilon)
                np.testing.assert_allclose(probabilities(design, losses), known[name], atol=2e-6)
            design = designed(PermuteAndFlip(), 6, epsilon=epsilon)
            np.testing.assert_allclose(probabilities(design, replaced), known["pf_replace"], atol=2e-6)
    for either, chances in zip(EVERY[:2], KNOWN_CHANCES, strict=True):
        found = probabilities(designed(either, 4), Utilities(KNOWN, change=1.0))
        np.testing.assert_allclose(found, chances, atol=6e-7)


def test_golden_votes_and_regrets_find_the_right_order(golden: Any) -> None:
    panel = golden("selection/arima_selection.json")["panel"]
    design = designed(PermuteAndFlip(), 6, monotone=True)
    assert probabilities(design, MonotoneUtilities(panel["votes"], change=1.0))[2] > 1 - 1e-9
    regrets = MonotoneUtilities(panel["regret_utility_clip0.05"], change=1.0)
    np.testing.assert_allclose(probabilities(design, regrets), panel["regret_pf_addremove_eps1"], atol=2e-6)


def test_permute_and_flip_is_never_worse() -> None:
    generator = np.random.default_rng(3)
    for size in (2, 5, 40):
        values = Utilities(generator.normal(0, 4, size), change=1.0)
        gaps = values.values.max() - values.values
        flip, exponential, noisy = (probabilities(designed(mechanism, size), values) @ gaps for mechanism in EVERY)
        assert flip <= exponential
        assert flip <= noisy


def deviation(mechanism: ChoiceMechanism, places: ArrayLike) -> float:
    """The p-value of drawn choices against the stated law at epsilon 1."""
    drawn = np.bincount(places, minlength=4)
    expected = probabilities(designed(mechanism, 4), Utilities(FAR_APART, change=1.0)) * drawn.sum()
    return float(stats.chisquare(drawn, expected).pvalue)


@by_mechanism
@pytest.mark.slow
def test_what_is_drawn_has_the_stated_law(mechanism: ChoiceMechanism, trials: Trials) -> None:
    count = trials(300_000, least=15_000)
    design, values, entropy = designed(mechanism, 4), Utilities(FAR_APART, change=1.0), seeded(11)
    assert deviation(mechanism, [pick(design, values, entropy) for _ in range(count)]) > FALSE_ALARM
    # The same test rejects noise that is a tenth too narrow, of which all are drawn at once.
    narrow, runs = designed(mechanism, 4, epsilon=1 / 0.9), np.tile(np.array(FAR_APART, np.int64), count)
    assert deviation(mechanism, pick_runs(narrow, runs, np.full(count, 4), seeded(12))) < FALSE_ALARM


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
    assert pick_runs(design, np.empty(0, object), np.empty(0, np.int64), seeded(1)).shape == (0,)


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


def test_the_grid_serves_every_change_and_epsilon(subtests: pytest.Subtests) -> None:
    pairs = [(1.0, 1.0), (0.1, 0.1), (5.0, 1e-3), (1 / 3, 7.3), (1.9, 1e-5), (1.0, 1e-5), (1e-30, 2.0), (1e30, 1e-8)]
    for change, epsilon in [*pairs, (1.0, 1e9)]:
        for mechanism in EVERY:
            with subtests.test(mechanism=mechanism, change=change, epsilon=epsilon):
                for monotone in (False, True):
                    design = designed(mechanism, 3, monotone=monotone, change=change, epsilon=epsilon)
                    assert load(dump(design), ChoiceDesign) == design
                    exact = Fraction(epsilon) / (design.factor * design.reach)
                    assert design.slope <= exact  # never less noise than stated
                    assert design.slope > exact * (1 - Fraction(1, 2**20))
                    assert design.reach * design.step <= change * (1.0 + 2.0**-19 if epsilon >= 1 else 2.0)
                    if epsilon >= 1e-5:
                        assert design.slope * FARTHEST >= 1024
                    # Exponents are products without rounding.
                    for gap in (1, 12345, FARTHEST - 1, FARTHEST):
                        assert Fraction(gap * float(design.slope)) == gap * design.slope
                    values = np.array([0.0, 1e4 * change / epsilon, 1e3 * change / epsilon])
                    kind = MonotoneUtilities if monotone else Utilities
                    assert pick(design, kind(values, change=change), seeded(1)) == 1


def test_utilities_go_to_the_grid_without_rounding_error() -> None:
    design = designed(PermuteAndFlip(), 2, change=0.1)
    generator = np.random.default_rng(1)
    for value in generator.normal(0, 20, 200):
        for move in (Fraction(1, 10), -Fraction(1, 10), Fraction(0)):
            moved = float(Fraction(value) + move)
            (first, second) = (
                score_gaps(design, Utilities([value_, 100.0], change=0.1))[0] for value_ in (value, moved)
            )
            step = Fraction(design.step)
            assert second - first == (Fraction(value) // step) - (Fraction(moved) // step)
            assert abs(second - first) <= design.reach


def test_far_candidates_and_huge_numbers_are_moved_not_refused() -> None:
    design = designed(PermuteAndFlip(), 3)
    gaps = score_gaps(design, Utilities([0.0, 1e6, -1e300], change=1.0))
    assert gaps.tolist() == [FARTHEST, 0, FARTHEST]
    whole = np.array([2**63 - 1, 2**63 - 2, 0], dtype=np.int64)
    assert score_gaps(design, Utilities(whole, change=1.0)).tolist() == [0, 0, FARTHEST]
    assert score_gaps(design, Utilities(whole.astype(np.uint64) * 2, change=1.0)).tolist() == [0, 0, FARTHEST]
    small = Utilities(np.array([3, 2, 0], dtype=np.int8), change=1.0)
    assert score_gaps(design, small).tolist() == [0, design.reach, 3 * design.reach]


def test_shortfall_holds_at_its_level() -> None:
    generator = np.random.default_rng(5)
    for mechanism in EVERY:
        for size in (2, 7, 60):
            design = designed(mechanism, size)
            for level in (0.5, 0.95, 0.999):
                bound = design.shortfall(level)
                # The worst case: all others just beyond the bound.
                values = np.full(size, -bound - 1e-9)
                values[0] = 0.0
                assert probabilities(design, Utilities(values, change=1.0))[0] >= level - 1e-6
                values = generator.normal(0, 3, size)
                likely = probabilities(design, Utilities(values, change=1.0))
                assert likely[values >= values.max() - bound].sum() >= level - 1e-6
    assert designed(PermuteAndFlip(), 1).shortfall() == 0.0
    assert designed(PermuteAndFlip(), 2, epsilon=1e-8).shortfall() > 1e8


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("people", unit=User(), epsilon=3.0)
        yield opened


def chosen(store: Any, **changes: Any) -> Choice:
    options: dict[str, Any] = {
        "candidates": ("a", "b", "c"),
        "utilities": MonotoneUtilities([5, 90, 7], change=1.0),
        "epsilon": 1.0,
        "unit": User(),
        "ledger": store,
        "dataset": "people",
        "request": "one",
    } | changes
    return choose(options.pop("candidates"), options.pop("utilities"), **options)


def test_a_choice_is_paid_for_stored_signed_and_repeated(ledger: cdp.Ledger, tmp_path: Path) -> None:
    made = chosen(ledger, purpose="votes on letters")
    assert made.winner == "b"
    assert made.place == 1
    assert repr(made).startswith("Choice('b' of 3 candidates; 1-differentially private")
    assert "one of 3 candidates by votes on letters; permute-and-flip, monotone" in made.certificate.mechanism
    assert not made.certificate.seeded
    assert ledger.status("people").charges == 1
    assert chosen(ledger, purpose="votes on letters").text == made.text
    assert ledger.status("people").charges == 1
    with pytest.raises(RequestConflict, match="another plan, source or cost"):
        chosen(ledger, purpose="votes on letters", utilities=MonotoneUtilities([5, 90, 8], change=1.0))
    stored = json.loads(made.save(tmp_path / "choice.json").read_text(encoding="utf-8"))
    assert verify(made.signed, ledger.keys.public, release=stored["release"]).request == "one"
    with pytest.raises(CertificateInvalid):
        Choice(made.text.replace('"place":1', '"place":0'), made.signed)
    assert chosen(ledger, request="two", entropy=seeded(1)).certificate.seeded
    chosen(ledger, request="three")
    with pytest.raises(BudgetExhausted):
        chosen(ledger, request="four")
    with pytest.raises(InvalidArgument, match="a place that can be written"):
        made.save(tmp_path / "nowhere" / "choice.json")


def test_a_unit_that_the_budget_does_not_protect_is_refused(ledger: cdp.Ledger) -> None:
    with pytest.raises(UnitMismatch):
        chosen(ledger, unit=Window(3), utilities=Utilities([1, 2, 3], change=1.0))
    assert ledger.status("people").charges == 0


@pytest.mark.parametrize("point", ["debit committed", "noise drawn", "release written"])
@pytest.mark.kill
def test_a_choice_lost_in_a_crash_is_never_drawn_again(point: str, ledger: cdp.Ledger, tmp_path: Path) -> None:
    program = f"""
import os, signal
import chronodp as cdp
from chronodp.selection import MonotoneUtilities, choose

def reached(name):
    if name == {point!r}:
        os.kill(os.getpid(), signal.SIGKILL)

with cdp.Ledger({str(tmp_path / "budget.db")!r}, reached=reached) as ledger:
    choose(("a", "b", "c"), MonotoneUtilities([5, 90, 7], change=1.0), epsilon=1.0, unit=cdp.User(), ledger=ledger,
           dataset="people", request="one")
"""
    died = forkserver.run("-c", program)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert ledger.status("people").unreleased == ("one",)
    assert ledger.status("people").charges == 1
    with pytest.raises(RequestConflict, match="debited and never released"):
        chosen(ledger)
    assert chosen(ledger, request="again").winner == "b"


def test_bad_arguments_are_refused_by_name(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    wrong: dict[str, list[Any]] = {
        "candidates": [(), "abc", ("a", "b", "a"), ("a", "b", 3), ("a", "b", "")],
        "utilities": [[1.0, 2.0, 3.0], MonotoneUtilities([1.0, 2.0], change=1.0)],
        "epsilon": [0.0, float("inf"), 1e-12, 1e30],
        "unit": ["user"],
        "mechanism": ["best"],
        "purpose": [3],
        "entropy": [7],
        "ledger": ["budget.db"],
    }
    cases = [({name: value}, name) for name, values in wrong.items() for value in values]
    cases += [({"unit": unit}, "utilities") for unit in (User(relation="replace"), Swap(4))]
    for changes, name in cases:
        options = {"ledger": ledger} | changes
        with subtests.test(changes=changes, name=name):
            with pytest.raises(InvalidArgument) as caught:
                chosen(options.pop("ledger"), **options)
            assert caught.value.name == name
            assert ledger.status("people").charges == 0


def test_bad_utilities_are_refused_without_showing_them(subtests: pytest.Subtests) -> None:
    bad_changes: list[Any] = [0.0, -1.0, float("nan"), float("inf"), "1"]
    unreadable: list[Any] = [[[1.0, 2.0], [3.0]], [[1.0, 2.0]], ["a"], 3.0, None, np.array([1, 2], np.longdouble)]
    for values in [[], [1.0, float("nan")], [float("inf"), 0.0], *unreadable]:
        for kind in [Utilities, MonotoneUtilities]:
            with (
                subtests.test(kind=kind, values=values),
                pytest.raises(InvalidArgument, match="utilities must be one finite number a candidate; got a"),
            ):
                kind(values, change=1.0)
    for change in bad_changes:
        with subtests.test(change=change), pytest.raises(InvalidArgument, match="change must be"):
            Utilities([1.0], change=change)
    design = designed(PermuteAndFlip(), 2)
    for wrong in (Utilities([1.0, 2.0], change=2.0), MonotoneUtilities([1.0, 2.0], change=1.0)):
        with pytest.raises(InvalidArgument, match="utilities must be"):
            pick(design, wrong, seeded(1))
    assert "1234567" not in repr(Utilities([1234567.0], change=1.0))


def test_too_many_candidates_to_compute_are_refused() -> None:
    many = Utilities(np.zeros(5000), change=1.0)
    with pytest.raises(InvalidArgument, match="at most 1,024"):
        probabilities(designed(PermuteAndFlip(), 5000), many)
    assert probabilities(designed(ExponentialMechanism(), 5000), many)[0] == pytest.approx(1 / 5000)
    assert 0 <= pick(designed(ExponentialMechanism(), 5000), many, seeded(1)) < 5000
    for mechanism in EVERY:
        assert pick(designed(mechanism, 1), Utilities([3.0], change=1.0), seeded(1)) == 0
        assert probabilities(designed(mechanism, 1), Utilities([3.0], change=1.0)).tolist() == pytest.approx([1.0])
