"""A whole release, ledger and all, enumerated through its public call."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import chronodp as cdp
from chronodp.audit.exact import examine
from chronodp.randomness import Entropy
from chronodp.series import Plan

NAMES = itertools.count()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("people", unit=cdp.User(), epsilon=1e6)
        yield opened


def plan_for(visits: tuple[str, ...], *, thin: float = 1.0) -> Plan:
    """A plan on a grid of whole people, so coarse that every outcome can be walked."""
    table = pd.DataFrame({"at": pd.Timestamp("2026-01-01", tz="UTC"), "who": pd.Series(visits, dtype=str)})
    table["at"] = pd.to_datetime(table["at"], utc=True)
    series = cdp.TimeSeries(
        table, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-02", unit=cdp.User(), max_periods=1
    )
    plan = series.count().plan(epsilon=2.0)
    (noise,) = plan.design.noises
    coarse = replace(plan.design, noises=(replace(noise, step=1.0, scale=noise.scale * thin),))
    return replace(plan, design=coarse)


@pytest.mark.parametrize(("thin", "caught"), [(1.0, False), (0.9, True)])
def test_a_release_keeps_its_epsilon_and_a_thinner_one_is_caught(thin: float, caught: bool, ledger: cdp.Ledger) -> None:
    def release(visits: tuple[str, ...], *, entropy: Entropy) -> int:
        made = plan_for(visits, thin=thin).release(
            ledger, dataset="people", request=f"{next(NAMES)}", entropy=entropy, progress=lambda _: None
        )
        return int(json.loads(made.text)["noisy"][0][0])

    finding = examine(release, [(("ann", "ann", "bo"), ("ann",))])
    assert finding.refutes(2.0, 0.0) is caught
    assert finding.epsilon > 1.9
