"""Kill -9 where it is written who has counted: nobody counts in a window too many or too few, and none is told anew."""

from __future__ import annotations

import csv
import json
import random
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from chronodp import Ledger
from tests import forkserver
from tests.conftest import Trials
from tests.live.people_victim import NAME, prepare, run
from tests.live.test_crashes import POINTS


def check(folder: Path, totals: list[int]) -> None:
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(int(row["window"]), round(float(row["value"]))) for row in rows] == list(enumerate(totals))
    with Ledger(folder / "budget.db") as ledger:
        assert [entry.purpose for entry in ledger.history("visits")] == [NAME]
    told = {float(row["value"]) for row in rows}
    for line in (folder / "told.txt").read_text(encoding="utf-8").splitlines():
        assert json.loads(line)[0]["value"] in told  # what was told before a kill has the noise that is on disk


@pytest.mark.slow
def test_people_count_in_their_first_windows_over_restarts(tmp_path: Path) -> None:
    totals = prepare(tmp_path)
    for until in (1, 2, 5, 6, 11, 20, 21, 30):
        run(tmp_path, lambda _: None, until=until)
    check(tmp_path, totals)
    with closing(sqlite3.connect(tmp_path / "live.db")) as database:
        assert database.execute("SELECT count(*) FROM people").fetchone() == (1,)  # everything was written at times


@pytest.mark.kill
def test_people_count_in_their_first_windows_whatever_dies(tmp_path: Path, trials: Trials) -> None:
    totals = prepare(tmp_path)
    chance = random.Random(6)
    points = (*POINTS, "people written")
    for number in range(trials(60, least=len(points))):
        point = points[number % len(points)]
        died = forkserver.run("-m", "tests.live.people_victim", str(tmp_path), point, str(chance.randint(1, 2)))
        assert died.returncode in (-signal.SIGKILL, 0), died.stderr
    last = forkserver.run("-m", "tests.live.people_victim", str(tmp_path), "", "0")
    assert last.returncode == 0, last.stderr
    check(tmp_path, totals)
