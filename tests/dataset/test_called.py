"""Where those protected are called something, no sentence of a plan, a release or its page calls them people."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from tests.conftest import SCALE

from chronodp.dataset import TimeSeries
from chronodp.ledger import Ledger
from chronodp.privacy import RecordUnit, User, UserPeriod, Window
from chronodp.series import Plan

_WORDS = re.compile(r"\b(person|people|user)('s)?\b", re.IGNORECASE)

UNITS: list[RecordUnit] = [
    User(called="aircraft"),
    UserPeriod("1D", called="aircraft"),
    Window(2, called="aircraft"),
]
FLIGHTS = pd.DataFrame(
    {
        "at": pd.to_datetime(["2026-01-01 05:00", "2026-01-01 23:00", "2026-01-02 07:00", "2026-01-03 12:00"]),
        "tail": ["d-abcd", "d-efgh", "d-abcd", "d-ijkl"],
        "hours": [2.0, 11.5, 3.0, 1.0],
    }
)


def flights(unit: RecordUnit) -> TimeSeries:
    most = 3 if unit.whole_person else None
    return TimeSeries(
        FLIGHTS, time="at", user="tail", every="1D", start="2026-01-01", end="2026-01-04", unit=unit, max_periods=most
    )


def plans(series: TimeSeries) -> list[Plan]:
    queries = [
        series.count(), series.count(at_most=4), series.sum("hours", clip=(0, 12)),
        series.mean("hours", clip=(0, 12), of="people"), series.mean("hours", clip=(0, 12), of="totals"),
        series.histogram("hours", edges=[0, 4, 8, 12], of="rows", at_most=2), series.variance("hours", clip=(0, 12)),
        series.histogram("hours", edges=[0, 4, 8, 12]),
    ]  # fmt: skip
    return [query.plan(epsilon=1.0) for query in queries]


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_no_sentence_of_a_plan_or_its_release_says_people(unit: RecordUnit, tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("fleet", unit=unit, epsilon=100.0)
        made = plans(flights(unit))
        # A measure says the same of each unit, and a unit of each measure.
        for number, plan in enumerate(made if SCALE >= 1 else made[UNITS.index(unit) :: len(UNITS)]):
            release = plan.release(ledger, dataset="fleet", request=f"{number}")
            page = release.report(tmp_path / f"{number}.html").read_text(encoding="utf-8")
            told = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
            for text in (str(plan), repr(plan), str(release), re.sub(r"<[^>]+>", " ", told)):
                assert "aircraft" in text
                assert not _WORDS.search(text), _WORDS.search(text)
