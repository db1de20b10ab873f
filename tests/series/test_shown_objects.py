"""What a user sees of an object at once: a line, a short text, and in a notebook a chart and a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest

from chronodp import Ledger, Plan, Release, TimeSeries, User
from chronodp.errors import UnknownColumn
from chronodp.randomness import seeded

KEYS = ["north", "<b>south</b>\x1b[2J"]


@pytest.fixture(scope="module")
def plan() -> Plan:
    rng = np.random.default_rng(5)
    count = 4000
    table = pandas.DataFrame(
        {
            "at": pandas.Timestamp("2026-01-01") + pandas.to_timedelta(rng.integers(0, 31 * 24, count), unit="h"),
            "who": rng.integers(0, 300, count),
            "town": rng.choice(KEYS, count),
            "kwh": rng.uniform(0, 3, count),
        }
    )
    series = TimeSeries(
        table, time="at", user="who", every="1h", start="2026-01-01", end="2026-02-01", unit=User(), max_periods=20
    )
    return series.sum("kwh", clip=(0.0, 3.0)).by(town=KEYS).plan(epsilon=1.0, delta=1e-6)


@pytest.fixture(scope="module")
def release(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Release:
    with Ledger(tmp_path_factory.mktemp("shown") / "budget.db") as ledger:
        ledger.open("meters", unit=User(), epsilon=4.0, delta=1e-6)
        return plan.release(ledger, dataset="meters", request="load", entropy=seeded(3))


def test_notebooks_show_a_line_a_table_and_the_promise(release: Release, plan: Plan) -> None:
    for shown in (release, release.running_total(), release.resample("1D").over("town")):
        html = shown._repr_html_()
        assert len(repr(shown).splitlines()) == 1
        assert isinstance(shown, Release) or len(str(shown).splitlines()) < 20
        assert html.count("<svg") == 1
        assert html.count("<table") == 1
        assert "noise only, not what the limits removed" in html
        assert "differentially private" in html
        assert len(html) < 30_000
    assert "Candidates" in plan._repr_html_()
    assert "Precision" in release.certificate._repr_html_()


def test_keys_of_others_are_seen_and_not_obeyed(release: Release) -> None:
    for shown in (release, release.running_total()):
        assert "<b>south" not in shown._repr_html_()
        assert "\x1b" not in shown._repr_html_() + str(shown) + repr(shown)


@pytest.mark.parametrize(("end", "words"), [("2026-01-01", "for two such releases"), ("2025-02-01", "a year of 12")])
def test_a_year_is_a_year(end: str, words: str) -> None:
    series = TimeSeries(
        pandas.DataFrame({"at": [], "who": []}),
        time="at",
        user="who",
        every="1D",
        start="2025-01-01",
        end=end,
        unit=User(),
        max_periods=20,
    )
    assert words in " ".join(str(series.count().plan(epsilon=1.0, delta=1e-6)).split())


@pytest.mark.slow
def test_times_in_the_index_are_read(tmp_path: Path) -> None:
    table = pandas.DataFrame({"at": pandas.date_range("2026-01-01", periods=3, freq="D"), "who": [1, 2, 3]})
    terms = {"time": "at", "user": "who", "every": "1D", "start": "2026-01-01", "end": "2026-01-04"}
    tables = {"plain": table, "index": table.set_index("at"), "both": table.set_index(["who", "at"])}
    nameless = table.set_index("at").rename_axis(None)
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("people", unit=User(), epsilon=100.0, delta=1e-6)
        drawn = [
            TimeSeries(data, **terms, unit=User(), max_periods=3)  # type: ignore[arg-type]
            .count()
            .plan(epsilon=1.0, delta=1e-6)
            .release(ledger, dataset="people", request=name, entropy=seeded(1))
            for name, data in tables.items()
        ]
        unnamed = TimeSeries(nameless, **terms | {"time": "index"}, unit=User(), max_periods=3)  # type: ignore[arg-type]
        plan = unnamed.count().plan(epsilon=1.0, delta=1e-6)
        drawn.append(plan.release(ledger, dataset="people", request="nameless", entropy=seeded(1)))
        twice = table.set_index(["at", "who"]).rename_axis(["at", "at"])
        doubtful = TimeSeries(twice, **terms, unit=User(), max_periods=3)  # type: ignore[arg-type]
        with pytest.raises(UnknownColumn, match="the table has no column 'at'"):
            doubtful.count().plan(epsilon=1.0).release(ledger, dataset="people", request="twice")
    values = [one.to_pandas()["value"].tolist() for one in drawn]
    assert values[1:] == values[:1] * 3
