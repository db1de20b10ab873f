"""What a user sees of an object at once: a line, a text, a chart, what bands cover, and whether numbers are of use."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow.parquet
import pytest
from tests.cli.conftest import run
from tests.series.releases import over

import chronodp as cdp
from chronodp import Find, Ledger, Missing, Plan, Release, TimeSeries, User
from chronodp.errors import InvalidArgument, UnknownColumn
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
    series = over(table, "2026-02-01", every="1h", max_periods=20)
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
    series = over(pandas.DataFrame({"at": [], "who": []}), end, start="2025-01-01", max_periods=20)
    assert words in " ".join(str(series.count().plan(epsilon=1.0, delta=1e-6)).split())


@pytest.mark.slow
def test_times_in_the_index_are_read(tmp_path: Path) -> None:
    table = pandas.DataFrame({"at": pandas.date_range("2026-01-01", periods=3, freq="D"), "who": [1, 2, 3]})
    tables = {"plain": table, "index": table.set_index("at"), "both": table.set_index(["who", "at"])}
    nameless = table.set_index("at").rename_axis(None)
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("people", unit=User(), epsilon=100.0, delta=1e-6)
        drawn = [
            over(data, "2026-01-04", max_periods=3)
            .count()
            .plan(epsilon=1.0, delta=1e-6)
            .release(ledger, dataset="people", request=name, entropy=seeded(1))
            for name, data in tables.items()
        ]
        unnamed = over(nameless, "2026-01-04", time="index", max_periods=3)
        plan = unnamed.count().plan(epsilon=1.0, delta=1e-6)
        drawn.append(plan.release(ledger, dataset="people", request="nameless", entropy=seeded(1)))
        twice = table.set_index(["at", "who"]).rename_axis(["at", "at"])
        doubtful = over(twice, "2026-01-04", max_periods=3)
        with pytest.raises(UnknownColumn, match="the table has no column 'at'"):
            doubtful.count().plan(epsilon=1.0).release(ledger, dataset="people", request="twice")
    values = [one.to_pandas()["value"].tolist() for one in drawn]
    assert values[1:] == values[:1] * 3


def released(folder: Path, keys: list[str], *, people: int = 3) -> Release:
    """Release a count by declared keys, of which later ones have more people."""
    rows = [("2026-01-01", f"{key}-{who}", key) for at, key in enumerate(keys) for who in range(people * at)]
    series = over(pandas.DataFrame(rows, columns=["at", "who", "page"]), "2026-01-02", max_periods=1)
    with Ledger(folder / "budget.db") as ledger:
        ledger.open("web", unit=cdp.User(), epsilon=100.0)
        return series.count().by(page=keys).plan(epsilon=50.0).release(ledger, dataset="web", request="one")


@pytest.mark.slow
def test_of_many_lines_the_largest_are_drawn_and_counted(tmp_path: Path) -> None:
    keys = [f"page {number}" for number in range(30)]
    release = released(tmp_path, keys, people=10)
    figure: Any = release.plot()
    drawn = [trace.name for trace in figure.data if trace.fill is None]
    assert drawn == keys[6:]
    assert "drawn are the largest 24 of 30, the table has all" in figure.layout.title.subtitle.text
    assert "drawn" not in release.each_period().note


@pytest.mark.slow
def test_of_published_lines_those_with_values_are_drawn(tmp_path: Path) -> None:
    keys = [f"page {number}" for number in range(30)]
    view = released(tmp_path, keys, people=10).each_period().publish(relative=0.0005)
    shown = view.to_pandas().dropna(subset="value")["page"].tolist()
    figure: Any = view.plot()
    drawn = [trace.name for trace in figure.data if trace.fill is None and trace.name]
    assert 0 < len(shown) < 24
    assert [name for name in keys if name in drawn] == shown
    assert f"drawn are {len(shown)} of 30, those with most values, the table has all" in view.drawn_note


def test_keys_that_differ_in_a_nul_stay_apart(tmp_path: Path) -> None:
    release = released(tmp_path, ["nul", "nul\x00"])
    assert release.to_pandas()["page"].tolist() == ["nul", "nul\x00"]
    assert release.to_arrow()["page"].to_pylist() == ["nul", "nul\x00"]


@pytest.fixture(scope="module")
def banded(tmp_path_factory: pytest.TempPathFactory) -> Release:
    rows = pandas.DataFrame({"at": pandas.date_range("2026-01-01", periods=90), "who": range(90), "eur": 90_000.0})
    series = over(rows, "2026-04-01", every="1mo", max_periods=3)
    with Ledger(tmp_path_factory.mktemp("ledger") / "b.db") as ledger:
        ledger.open("d", unit=User(), epsilon=10, delta=1e-6)
        plan = series.sum("eur", clip=(0, 90_000)).plan(epsilon=1, delta=1e-7, missing=Missing())
        return plan.release(ledger, dataset="d", request="r")


def test_frames_and_arrow_say_what_their_bands_cover(banded: Release) -> None:
    frame, table = banded.to_pandas(), banded.to_arrow()
    assert frame.attrs["covers"] == "noise only"
    assert table.schema.metadata[b"covers"] == b"noise only"
    outer = [name for name in frame.columns if name.startswith("lower_")]
    assert outer  # of what was asked beside the numbers
    for name in outer:
        assert frame.attrs[f"covers{name.removeprefix('lower')}"] == "noise and what limits removed"


def test_files_and_pages_say_what_their_bands_cover(banded: Release, tmp_path: Path) -> None:
    banded.save(tmp_path / "r.json")
    run("read", str(tmp_path / "r.json"), "--out", str(tmp_path / "r.csv"), "--out", str(tmp_path / "r.parquet"))
    assert set(pandas.read_csv(tmp_path / "r.csv")["covers"]) == {"noise only"}
    assert pyarrow.parquet.read_schema(tmp_path / "r.parquet").metadata[b"covers"] == b"noise only"
    page = banded.report(tmp_path / "r.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="csv">(.*?)</script>', page, re.DOTALL)
    assert found
    rows = list(csv.DictReader(io.StringIO(json.loads(found[1]))))
    assert {row["covers"] for row in rows} == {"noise only"}
    words = page[: page.index('<script type="application/json"')]  # no calls of the library for readers
    for call in ("Missing()", "plan.", "diagnose()"):
        assert call not in words


def series(**more: Any) -> TimeSeries:
    rows = pandas.DataFrame({"at": pandas.date_range("2026-01-01", periods=31), "who": range(31), "kwh": 2.0})
    return over(rows, "2026-02-01", **({"max_periods": 10} | more))


def said(plan: object) -> str:
    return " ".join(str(plan).split())


def test_a_plan_says_how_many_people_a_cell_needs() -> None:
    plan = series().count().plan(epsilon=1)
    needed = int(re.findall(r"a cell needs about ([\d,]+) people to come out within ± 10 %", said(plan))[0])
    assert needed == pytest.approx(10 * plan.half_width(), abs=1)


@pytest.mark.parametrize(("expect", "words"), [(3_000, ""), (100, "that is rough"), (20, "noise would hide")])
def test_a_guess_gives_the_relative_error(expect: float, words: str) -> None:
    plan = series().count().plan(epsilon=1, expect=expect)
    part = float(re.findall(r"is ([\d.]+) % of the", said(plan))[0])
    assert part == pytest.approx(100 * plan.half_width() / expect, rel=0.06)
    assert words in said(plan)
    assert plan.design == series().count().plan(epsilon=1).design


def test_an_earlier_view_says_how_many_cells_come_out_well(tmp_path: Any) -> None:
    with Ledger(tmp_path / "b.db") as ledger:
        ledger.open("d", unit=User(), epsilon=100)
        release = series().count().plan(epsilon=50).release(ledger, dataset="d", request="r")
    for earlier in (release, release.each_period()):
        assert "of 31 expected numbers come out within ± 10 %" in said(series().count().plan(epsilon=1, expect=earlier))


def test_what_is_no_size_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[Any] = [0, -5, "500", [500], float("nan"), True]
    for expect in cases:
        with subtests.test(expect=expect), pytest.raises(InvalidArgument, match="expect must be"):
            series().count().plan(epsilon=1, expect=expect)


def test_where_a_bound_is_found_the_widest_noise_counts() -> None:
    plan = series(max_periods=Find()).count().plan(epsilon=1)
    assert "if 31 periods count" in said(plan)
    with pytest.raises(InvalidArgument, match="expect must be left out where something is found"):
        series(max_periods=Find()).count().plan(epsilon=1, expect=500)


def test_a_promise_of_little_worth_says_how_often_a_guess_is_right(subtests: pytest.Subtests) -> None:
    for (terms, warned), asked in itertools.product(
        [
            ({"epsilon": 1.0}, ""),
            ({"epsilon": 4.0, "delta": 1e-6}, ""),
            ({"epsilon": 1e9}, "ε = 1e+09 hardly hides anybody"),
            ({"epsilon": 1.0, "delta": 0.5}, "δ = 0.5 may give everything of one unit away"),
        ],
        ["count", "find", "quantiles"],
    ):
        with subtests.test(terms=terms, warned=warned, asked=asked):
            if asked == "quantiles":
                query: Any = series().quantiles("kwh", [0.5], edges=[0, 1, 2, 3])
            else:
                query = series(**({"max_periods": Find()} if asked == "find" else {})).count()
            text = said(query.plan(**terms))
            assert bool(re.search(r"Warning .* a guess whether the unit is in the data may be right", text)) is bool(
                warned
            )
            assert warned in text
