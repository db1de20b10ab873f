"""Rows and figures of the paper on temporal perturbation: every verdict can turn, numbers are the reference's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from experiments.claims import Given
from experiments.figures import Panel
from experiments.temporal_perturbation.claims import claims
from experiments.temporal_perturbation.clustering import k_medoids, mutual_information
from experiments.temporal_perturbation.costs import crossings, expected_part, extended, strategy_costs, total_cost
from experiments.temporal_perturbation.data import daily_prices, flights, pulses, tracks
from experiments.temporal_perturbation.dispatch import derived_curve, lowest_budget, ratio_to_first
from experiments.temporal_perturbation.figure_5 import RELATIVE, WINDOWS, relative_costs
from experiments.temporal_perturbation.figure_6 import BUDGETS
from experiments.temporal_perturbation.figures import figures
from experiments.temporal_perturbation.privacy import best_guess
from experiments.temporal_perturbation.ranges import GRID, region
from experiments.temporal_perturbation.search import pairs_searched, scan, searched
from experiments.temporal_perturbation.start import STEPS, warm_up
from experiments.temporal_perturbation.trajectories import stand_ins
from tests.experiments.rooms import check_room, stated

pytestmark = pytest.mark.slow

ROOM = "temporal_perturbation."

DISAGREES = {
    "L30": "a swap leaves the range of a series as it is, so the order is kept with the range of the data too; a "
    "public one is needed only where a single value changes"
}
MADE_UP = {"L41", "L42", "L43", "L44", "L45", "L46", "L49", "L50"}
"""Rows that would be bare verdicts on real prices and days, and stand on made-up ones here."""


@pytest.fixture(scope="module")
def numbers(golden: Any) -> Mapping[str, Any]:
    read: Mapping[str, Any] = golden("claims/temporal_figures.json")
    return read


@stated
def test_verdicts_follow_from_what_is_computed(golden: Any, numbers: Mapping[str, Any]) -> None:
    found = {claim.id: claim.find() for claim in claims(Given())}
    expected = golden("claims/temporal_perturbation.json")
    assert len(found) == len(claims(Given())), "an id stands twice"
    assert {name for name in found if name.startswith("L")} == expected.keys()
    assert [name for name, finding in found.items() if not finding.values] == ["L52"]
    for name, word in expected.items():
        finding = found[name]
        needs_data = finding.verdict.startswith("needs real data")
        assert needs_data == (word == "needs real data" or name in MADE_UP), f"{name}: {finding.verdict}"
        agrees = word == "needs real data" or finding.word.partition(":")[0] == word
        assert agrees != (name in DISAGREES), f"{name}: {finding.verdict}, {word} expected"
    assert all(one.word == "as expected" for one in found.values() if one.claim.origin == "ours")
    for name, share in numbers["impossible"].items():
        (pairs,) = found[name].values.values()
        assert pairs[0].found == pytest.approx(share, abs=5e-4)
    check_room(found, "temporal_perturbation")


def test_best_guesses_of_times_are_the_reference(numbers: Mapping[str, Any]) -> None:
    for epsilon, (backward, threshold) in numbers["restored"].items():
        guesses = [best_guess(kind, 10, float(epsilon)) for kind in ("Backward", "Threshold")]
        assert guesses == pytest.approx([backward, threshold], abs=1e-3)


def test_thresholds_are_the_reference(numbers: Mapping[str, Any]) -> None:
    for name, lines in numbers["fig4"].items():
        window = int(name)
        assert lowest_budget(window) == pytest.approx(tuple(lines["V"]))
        for line, delay in (("red", window - 1), ("blue", 0)):
            drawn = [ratio_to_first(window, part, delay) for part in range(2, window)]
            assert drawn == pytest.approx(lines[line], abs=1e-6)
    for name, row in numbers["fig6c"].items():
        window = int(name)
        assert lowest_budget(window) == pytest.approx((row["c0*"], row["lowest"]))
        assert derived_curve(window)[-1] == pytest.approx(row["at c0=k-1"])
        assert crossings(window) == pytest.approx((row["wins from"], row["wins to"]), abs=0.02)
    for pair, steps in numbers["expected_steps"].items():
        window, threshold = map(int, pair.split(","))
        assert warm_up(window, threshold) == pytest.approx(steps)
        assert STEPS[window, threshold] == pytest.approx(steps, abs=5e-5)
    slope, offset = np.polyfit([int(k) for k in numbers["fig6c"]], [r["c0*"] for r in numbers["fig6c"].values()], 1)
    assert (slope, offset) == pytest.approx((numbers["c0_fit"]["slope"], numbers["c0_fit"]["intercept"]))


def test_costs_are_the_reference(numbers: Mapping[str, Any]) -> None:
    names = {"BPM": "Backward", "FPM": "Forward", "TM": "Threshold"}
    for part in ("missing", "repeated", "empty"):
        for short, kind in names.items():
            drawn = [total_cost(kind, 20, 5.0, *relative_costs(part, relative)) for relative in RELATIVE]
            assert drawn == pytest.approx(numbers["fig5abc"][part][short])
    assert list(RELATIVE) == pytest.approx(numbers["fig5abc"]["relative"])
    for window in WINDOWS:
        row = numbers["fig5d"][str(window)]
        assert total_cost("Backward", window, 5.0) == pytest.approx(row["BPM"])
        assert total_cost("Threshold", window, 5.0) == pytest.approx(row["TM/ETM"])
        assert expected_part("Threshold", window, 5.0, "delay") == row["TM delay"]
        assert extended(window, 5.0) == row["extended"]
    for name, row in numbers["fig6ab"].items():
        window = int(name)
        for short, kind in (("BPM=FPM", "Forward"), ("TM/ETM", "Threshold")):
            assert [total_cost(kind, window, epsilon) for epsilon in BUDGETS] == pytest.approx(row[short])
        assert [extended(window, epsilon) for epsilon in BUDGETS] == row["extended"]


def test_the_strategy_is_right_as_often_as_in_the_reference(numbers: Mapping[str, Any]) -> None:
    right: Counter[str] = Counter()
    wins = 0
    for window, epsilon in GRID:
        costs = strategy_costs(window, epsilon)
        least = min(costs["Backward"], costs["Forward"], costs["Threshold"])
        right[region(window, epsilon)] += costs["picked"] <= least * (1 + 1e-9)
        wins += costs["Threshold"] < min(costs["Backward"], costs["Forward"])
    by_region = numbers["strategy"]["by region [pairs, right, worst excess]"]
    assert right == {name: row[1] for name, row in by_region.items()}
    assert wins == numbers["threshold_cheapest"]["wins"]


def test_the_binary_search_fails_as_often_as_in_the_reference(numbers: Mapping[str, Any]) -> None:
    kinds: Counter[str] = Counter()
    for pair in pairs_searched():
        (kind, _), best = searched(*pair), scan(*pair)
        if kind == "nothing":
            kinds["nothing"] += 1
        elif searched(*pair) != best:
            kinds["worse" if best[0] == "plain" else "other extended"] += 1
    assert {"pairs": len(pairs_searched()), **kinds} == numbers["algorithm_2"]


@stated
def test_figures_are_complete() -> None:
    known = {claim.id for claim in claims(Given())}
    drawn = {figure.name: figure for figure in figures(Given())}
    names = ("3", "4", "5a", "5b", "5c", "5d", "6a", "6b", "6c", "7a", "7b", "7c", "7d", "table-2")
    assert list(drawn) == [f"temporal-{name}" for name in names]
    for figure in drawn.values():
        assert all((figure.title, figure.paper_caption, figure.found_caption))
        assert {panel.gallery for panel in figure.panels} == {"paper", "found"}
        for panel in figure.panels:
            curves = [curve.name for curve in panel.curves]
            assert all((panel.title, panel.x_title, panel.y_title, *curves))
            assert len(set(curves)) == len(curves) > 0
            assert bool(panel.right_title) == any(curve.right for curve in panel.curves)
            for curve in panel.curves:
                assert len(curve.x) == len(curve.y) > 0
                assert not panel.log_y or curve.right or min(curve.y) > 0 or np.isnan(curve.y).any()
            assert _marked(panel) <= known
    marked = set[str]().union(*(_marked(panel) for figure in drawn.values() for panel in figure.panels))
    cells = {f"L47.{place}" for place in range(1, 9)}
    assert marked >= {"L16", "L25", "L31a", "L31b", "L31c", "L34", "L35", "L38", "L44", "L46"} | cells


def _marked(panel: Panel) -> set[str]:
    return {mark.claim for mark in panel.stated} | {level.claim for level in panel.levels}


def test_series_are_read_from_files(tmp_path: Path) -> None:
    pd.DataFrame({"Close": [1.0, 2.0, 3.0]}).to_csv(tmp_path / "prices.csv")
    assert daily_prices(tmp_path / "prices.csv").tolist() == [1, 2, 3]
    rows = [(name, hour, 60.0 + hour) for name in ("a", "b") for hour in range(1, 6)]
    pd.DataFrame(rows, columns=["patient", "ICULOS", "HR"]).to_csv(tmp_path / "vitals.csv")
    assert pulses(tmp_path / "vitals.csv", 5, 4).shape == (2, 4)
    given = Given({"prices": tmp_path / "prices.csv", "vitals": tmp_path / "vitals.csv"})
    marks = {claim.id: claim.data for claim in claims(given)}
    assert marks["L41"] == "stand-in: a file of ours (prices.csv)"
    assert marks["L47.1"].startswith("stand-in:")


def test_flights_with_enough_positions_are_taken() -> None:
    tables = [pd.DataFrame({"latitude": range(size), "longitude": range(size)}) for size in (70, 59, 60, 80)]
    assert tracks(tables, 2, 60).shape == (2, 60, 2)
    found = flights()  # only where their package is installed
    names = [one.name for one in stand_ins(Given())]
    assert names == (["pulses"] if found is None else ["flights", "pulses"])


def test_clusters_that_are_far_apart_are_found() -> None:
    rng = np.random.default_rng(1)
    kinds = np.repeat(np.arange(3), 40)
    rows = kinds[:, None] * 50.0 + rng.normal(0, 1, (120, 8))
    assert mutual_information(kinds, k_medoids(rows, 3)) > 0.6
    assert mutual_information(kinds, kinds) == 1.0
    assert mutual_information(kinds, rng.integers(0, 3, 120)) < 0.2
