from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from experiments.temporal_perturbation import applications, costs, scenarios, theorems
from experiments.temporal_perturbation.clustering import k_medoids, mutual_information
from experiments.temporal_perturbation.data import daily_prices, trajectories
from experiments.verdicts import Verdict

pytestmark = pytest.mark.long


def wrong(verdicts: list[Verdict]) -> set[str]:
    return {verdict.claim.split(";")[0] for verdict in verdicts if verdict.verdict == "false"}


def test_theorems_of_privacy_fail_and_those_of_probability_hold() -> None:
    verdicts = theorems.check(range(3, 13))
    assert wrong(verdicts) == {
        "Theorem 2.4: ε-TLDP gives max(ε/2, skewness) for each value",
        "Backward satisfies ε-TLDP",
        "Forward satisfies ε-TLDP",
        "Theorem 4.3: Threshold satisfies ε̂-TLDP",
        "Theorem 4.5: extended Threshold satisfies ε-TLDP",
        "the printed recursion can be computed",
        "Algorithm 2 finds the best threshold",
    }
    assert any("Lemma 4.1" in verdict.claim for verdict in verdicts)


def test_figures_of_costs_hold_but_for_the_bounds() -> None:
    verdicts = costs.check(60_000)
    assert wrong(verdicts) == {"the largest budget Threshold can expend is 10 for k = 10 and 16 for k = 50"}
    assert "7.17 and 14.14; the baselines win from 10.2" in verdicts[-2].ours
    assert len(verdicts) == 9


def test_applications_on_made_up_series() -> None:
    verdicts = applications.check(days=3000, people=200, times=2)
    assert wrong(verdicts) == {"Fig. 7(c): moving average, Threshold has the least error in most cases"}
    assert all("beats all in 8" in verdict.ours for verdict in verdicts if "block shuffle, read" in verdict.ours)


def test_scenarios_hold() -> None:
    verdicts = scenarios.check(20, 12)
    assert len(verdicts) == 3
    assert not wrong(verdicts)
    assert not verdicts[2].ours.startswith("0 minutes")


def test_series_are_read_from_files(tmp_path: Path) -> None:
    pd.DataFrame({"Close": [1.0, 2.0, 3.0]}).to_csv(tmp_path / "prices.csv")
    assert daily_prices(tmp_path / "prices.csv").tolist() == [1, 2, 3]
    rows = [(name, hour, 60.0 + hour) for name in ("a", "b") for hour in range(1, 6)]
    pd.DataFrame(rows, columns=["patient", "ICULOS", "HR"]).to_csv(tmp_path / "vitals.csv")
    assert trajectories(tmp_path / "vitals.csv", 5, 4).shape == (2, 4)


def test_clusters_that_are_far_apart_are_found() -> None:
    rng = np.random.default_rng(1)
    kinds = np.repeat(np.arange(3), 40)
    rows = kinds[:, None] * 50.0 + rng.normal(0, 1, (120, 8))
    assert mutual_information(kinds, k_medoids(rows, 3)) > 0.6
    assert mutual_information(kinds, kinds) == 1.0
    assert mutual_information(kinds, rng.integers(0, 3, 120)) < 0.2
