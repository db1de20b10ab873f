"""Which protection of windows suits which series: as published, and what wins where."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from tests.conftest import Trials

from chronodp.errors import InvalidArgument
from chronodp.randomness import seeded
from chronodp.series.windowed import rehearse

STEPS, COLUMNS = 2000, 100
NAMES = {"Uniform": "the same share", "Sample": "one release", "BD": "half of", "BA": "shares of"}


def examples() -> dict[str, NDArray[np.float64]]:
    chance, times = np.random.default_rng(0), np.arange(STEPS)
    levels = chance.uniform(500, 1500, COLUMNS)
    return {
        "constant": np.tile(levels, (STEPS, 1)),
        "randwalk_sd5": levels + np.cumsum(chance.normal(0, 5, (STEPS, COLUMNS)), axis=0),
        "steps": levels * (1 + 0.2 * (times // 237 % 2))[:, None],
    }


@cache
def rehearsed(case: str, runs: int) -> pd.DataFrame:
    return rehearse(examples()[case], window=40, change=1.0, epsilon=1.0, delta=1e-6, runs=runs, entropy=seeded(3))


def rmse(table: pd.DataFrame, name: str, noise: str = "laplace", reading: str = "as released") -> float:
    chosen = table[
        table["mechanism"].str.startswith(NAMES[name]) & (table["noise"] == noise) & (table["reading"] == reading)
    ]
    return float(chosen["rmse"].iloc[0])


@pytest.mark.parametrize("case", ["constant", "randwalk_sd5"])
@pytest.mark.slow
def test_errors_are_the_published_ones(case: str, golden: Any, trials: Trials) -> None:
    known = golden("continual/wevent_d100.json")[f"w40_{case}"]
    table = rehearsed(case, trials(2))
    for name in NAMES:
        assert rmse(table, name) == pytest.approx(known[name], rel=0.05 if name in {"Uniform", "Sample"} else 0.15)
    assert rmse(table, "Uniform", "gaussian") == pytest.approx(known["UniformGauss"], rel=0.02)
    # The published filter was given its pace; ours finds it, and is not behind.
    assert rmse(table, "Uniform", "gaussian", "Kalman filter") < 1.02 * known["UniformGauss+Kalman"]


@pytest.mark.slow
def test_which_mechanism_wins_depends_on_how_the_series_moves(trials: Trials) -> None:
    best = {case: rehearsed(case, trials(2)).iloc[0] for case in examples()}
    assert best["constant"]["mechanism"].startswith(NAMES["Sample"])
    assert best["randwalk_sd5"]["reading"] == "Kalman filter"
    assert best["steps"]["mechanism"].startswith(NAMES["BD"])


def test_refused(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, dict[str, Any]]] = [
        (np.zeros(3), {}),
        (np.full(20, np.nan), {}),
        ("text", {}),
        (np.zeros(20), {"window": 0}),
        (np.zeros(20), {"runs": 0}),
        (np.zeros(20), {"epsilon": 0.0}),
        (np.zeros(20), {"entropy": 3}),
    ]
    for example, changes in cases:
        with subtests.test(example=example, changes=changes):
            options: dict[str, Any] = {"window": 4, "change": 1.0, "epsilon": 1.0}
            with pytest.raises(InvalidArgument):
                rehearse(example, **(options | changes))
