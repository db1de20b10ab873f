"""Rows and figures of the paper on correlated sequences: every verdict can turn, numbers are the reference's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from experiments.claims import Given
from experiments.correlated_sequences import additions, panel
from experiments.correlated_sequences.chains import alone, chain, leaving, path
from experiments.correlated_sequences.claims import claims
from experiments.correlated_sequences.errors import ALIKE, APART, drift, error, error_jointly, noise
from experiments.correlated_sequences.figure_3 import exactly, falls, faster
from experiments.correlated_sequences.figure_4 import level, spread_of_couplings
from experiments.correlated_sequences.figure_5 import age_dependent, dropped, level_at, linearised
from experiments.correlated_sequences.figures import figures
from experiments.correlated_sequences.leakages import degree, distance, exact, linear, logarithmic, theorem_1
from experiments.correlated_sequences.spectral import cross_correlation
from experiments.figures import Panel
from tests.experiments.rooms import check_room, find_all, series, stated

from chronodp.correlated import Maximum, Mean, WeightedSum, leakage

pytestmark = pytest.mark.slow

ROOM = "correlated_sequences."

DISAGREES = {
    "C01": "a mean does tell less at λ = 0.5 than at λ = 1 once it is old enough, by up to 8 %; age 1 alone was seen",
    "C43": "over t = 1 to 3, which the panel calls its initial periods, the first line of (45) gives 15 % at ε_C = 1.5",
    "C56": "as of C55: varying are the states (1, 1) in panels (a) and (b), its numbers are those of (1, 0)",
    "C59": "on the chain of the panel a step of age weighs more than its whole range of noise at every age",
}


@pytest.fixture(scope="module")
def numbers(golden: Any) -> Mapping[str, Any]:
    read: Mapping[str, Any] = golden("claims/correlated_figures.json")
    return read


@stated
def test_verdicts_follow_from_what_is_computed(golden: Any) -> None:
    found = find_all(claims(series()))
    expected = golden("claims/correlated_sequences.json")
    assert len(found) == len(claims(Given())), "an id stands twice"
    assert not expected.keys() - found.keys()
    assert sum(name.startswith("C") for name in found) == 70
    for name, word in expected.items():
        finding = found[name]
        shown = finding.verdict if finding.claim.origin == "ours" else finding.word
        agrees = shown.partition(":")[0] == word
        assert agrees != (name in DISAGREES), f"{name}: {finding.verdict}, {word} expected"
    assert all(found[claim.id].word == "as expected" for claim in additions.claims())
    check_room(found, "correlated_sequences")


def test_leakage_is_the_reference(numbers: Mapping[str, Any]) -> None:
    for name, by_age in numbers["phi"].items():
        for age, value in by_age.items():
            assert distance(chain(float(name)), int(age)) == pytest.approx(value, rel=1e-6, abs=1e-14)
    for name, by_age in numbers["exact_eps1"].items():
        for age, value in by_age.items():
            assert exactly(float(name), int(age), 1.0) == pytest.approx(value, rel=1e-6, abs=1e-14)
    couplings = (0.0, 0.25, 0.5, 0.75, 1.0)
    for key, query in (("U_exact_x1", WeightedSum((1.0, 0.0))), ("U_exact_max", Maximum())):
        for name, row in numbers[key].items():
            age, epsilon = int(name[1]), float(name.partition("eps")[2])
            assert [exact(chain(c), age, epsilon, query) for c in couplings] == pytest.approx(row, rel=1e-9)


def test_figure_3_is_the_reference(numbers: Mapping[str, Any]) -> None:
    formulas = {
        "formula15": (linear, 1.0),
        "exact_eps1": (exactly, 1.0),
        "sound_eps2": (logarithmic, 2.0),
        "sound_eps3": (logarithmic, 3.0),
    }
    for name, by_ages in numbers["fig3_falls"].items():
        formula, epsilon = formulas[name]
        for ages, by_coupling in by_ages.items():
            start, stop = map(int, ages.split("-"))
            assert falls(formula, start, stop, epsilon) == pytest.approx(list(by_coupling.values()), rel=1e-6)
    decay = numbers["faster_decay"]
    assert faster(linear, 0, 1, 1.0) == pytest.approx(list(decay["0-1 relative"].values()))
    assert faster(linear, 1, 3, 1.0) == pytest.approx(list(decay["1-3 relative"].values()))
    assert faster(exactly, 0, 1, 1.0) == pytest.approx(list(decay["exact 0-1 relative"].values()))
    for age, growth in numbers["fig3c_growth"].items():
        for name, value in growth["exact"].items():
            c = float(name)
            assert exactly(c, int(age), 10.0) / exactly(c, int(age), 1.0) == pytest.approx(value, rel=1e-6)


def test_figure_4_is_the_reference(numbers: Mapping[str, Any]) -> None:
    for age, row in numbers["fig4a"].items():
        t = int(age)
        assert 1 - error(APART, t, 10.0) / error(ALIKE, t, 10.0) == pytest.approx(
            row["lower at eps10, marginals"], abs=1e-9
        )
        assert 1 - error_jointly(APART, t, 10.0) / error_jointly(ALIKE, t, 10.0) == pytest.approx(
            row["joint"], abs=1e-9
        )
    spreads = numbers["fig4b"]["spread over lam, (1,0), relative at eps1"]
    assert [spread_of_couplings(APART, int(age)) for age in spreads] == pytest.approx(list(spreads.values()), abs=1e-9)
    assert error(ALIKE, 10, 1.0) / error(APART, 10, 1.0) == pytest.approx(numbers["fig4b"]["ratio t10 eps1 marginals"])
    bounds = (0.6, 0.7, 0.8, 0.9, 1.0)
    for states, name in ((ALIKE, "(1,1)"), (APART, "(1,0)")):
        assert [level(states, bound) for bound in bounds] == pytest.approx(numbers["fig4c"][name])
    for coupling, by_age in numbers["drift"].items():
        assert [drift(float(coupling), int(age)) for age in by_age] == pytest.approx(list(by_age.values()), abs=1e-9)


def test_figure_5_is_the_reference(numbers: Mapping[str, Any]) -> None:
    stated = numbers["fig5"]
    assert level_at(0.8) == pytest.approx(stated["eps_C at l=.8 (stale .125)"], rel=1e-6)
    assert linearised(0.8) == pytest.approx(stated["ADP linear"], rel=1e-6)
    assert age_dependent(0.8) == pytest.approx(stated["ADP prop1"], rel=1e-6)
    assert noise(0.8, 0.0) == pytest.approx(stated["DP"])
    for name, row in stated["curves"].items():
        bound = float(name)
        assert dropped(bound) == pytest.approx(row["CSDP printed (d dropped)"], rel=1e-6)
        assert linear(0.5, 10, level_at(bound)) == pytest.approx(row["CSDP thm1"], rel=1e-6)
        assert exactly(0.5, 10, level_at(bound)) == pytest.approx(row["exact"], rel=1e-6)


def test_counterexamples_are_the_reference(numbers: Mapping[str, Any]) -> None:
    six = path(6, 0.2, 0.2, 0.4, 0.6)
    assert degree(six) == numbers["path6"]["k (Def 7)"]
    assert theorem_1(six, 1, 1.0) == pytest.approx(numbers["path6"]["thm1 d(3)*Delta (reading 1)"])
    assert exact(six, 1, 1.0) == pytest.approx(numbers["path6"]["exact"])
    for name, row in numbers["counterexamples"].items():
        length, *rest = (part.split("=")[-1] for part in name.removeprefix("path ").split(", "))
        zero, one, own, age, epsilon = map(float, rest)
        model = path(int(length), zero, one, own)
        assert theorem_1(model, int(age), epsilon) == pytest.approx(row["paper d(3) Delta eps"], rel=1e-6)
        assert exact(model, int(age), epsilon) == pytest.approx(row["exact own"], rel=1e-6)
    for leaves, row in numbers["symmetric"].items():
        model = chain(row["lambda"], float(leaves))
        assert theorem_1(model, row["A"], float(row["eps_C"])) == pytest.approx(row["(15)"], rel=1e-6)
        assert exact(model, row["A"], float(row["eps_C"])) == pytest.approx(row["exact"], rel=1e-6)
    ages = [exact(leaving(0.001, 0.001, 0.5), age, 3.0) for age in range(5)]
    assert ages == pytest.approx(numbers["ageing"])
    assert [cross_correlation(float(c)) for c in numbers["correlation"]] == pytest.approx(
        list(numbers["correlation"].values()), abs=1e-9
    )


def test_exact_leakage_is_what_the_library_tells_of_a_release() -> None:
    for model in (chain(0.5), chain(1.0), alone(0.3, 0.3), path(4, 0.01, 0.5, 0.4), leaving(1e-4, 0.5, 0.5)):
        told = leakage(model, query=Mean(), ages=3, epsilon=2.0)
        assert exact(model, 3, 2.0) == pytest.approx(told.exact)
        assert theorem_1(model, 3, 2.0) == pytest.approx(told.paper_theorem_1)


@stated
def test_figures_are_complete() -> None:
    known = {claim.id for claim in claims(Given())}
    drawn = {figure.name: figure for figure in figures(Given())}
    assert list(drawn)[:7] == [f"correlated-{name}" for name in ("3a", "3b", "3c", "4a", "4b", "4c", "5")]
    for figure in drawn.values():
        assert all((figure.title, figure.paper_caption, figure.found_caption))
        for one in figure.panels:
            names = [curve.name for curve in one.curves]
            assert all((one.title, one.x_title, one.y_title, *names))
            assert len(set(names)) == len(names) > 0
            assert bool(one.right_title) == any(curve.right for curve in one.curves)
            for curve in one.curves:
                assert len(curve.x) == len(curve.y) > 1
                assert not one.log_y or curve.right or min(curve.y) > 0
            assert _marked(one) <= known
    marked = {claim for figure in drawn.values() for one in figure.panels for claim in _marked(one)}
    assert marked >= {f"C{number}" for number in (39, *range(40, 49), 50, 52, 53, *range(55, 59), *range(60, 64))}


def _marked(one: Panel) -> set[str]:
    return {point.claim for point in one.stated} | {level.claim for level in one.levels}


def test_a_table_of_vitals_is_read(tmp_path: Path) -> None:
    rows = [
        {"patient": who, "HR": 70 + who, "O2Sat": None if hour else 97, "SBP": 120, "Resp": 15 + hour}
        for who in (1, 2, 30)
        for hour in range(panel.HOURS if who < 30 else 3)
    ]
    name = tmp_path / "vitals.csv"
    pd.DataFrame(rows).to_csv(name, index=False)
    assert panel.read(name).shape == (2, panel.HOURS, 4)
    assert panel.claims(Given({"vitals": name}))[0].data.startswith("stand-in: a file of ours")
