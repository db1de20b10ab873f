"""Issues of a lifetime series: paid once, counted by lives, told only when they are on disk, and the same for ever."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp.errors import (
    InvalidArgument,
    RequestConflict,
    StreamConflict,
    TallyMismatch,
    UnknownDocument,
    UnknownStream,
)
from chronodp.ledger import Ledger
from chronodp.randomness import seeded
from tests.cases import raising
from tests.lifetime.lives import QUIET, counted, issue, month, open_series, series
from tests.series.releases import Forbidden, Silent

pytestmark = pytest.mark.slow
ALL = [("ann", 1.0), ("bo", 2.0), ("cy", 3.0)]


def value(release: cdp.Release) -> float:
    return float(release.to_pandas()["value"].iloc[0])


def count(periods: int = 2, **terms: Any) -> Any:
    return series().count().lifetime(epsilon=1.0, max_periods=periods, **terms)


def test_everyone_counts_for_a_life_and_issues_go_on_as_noise(tmp_path: Path) -> None:
    ledger, load = open_series(tmp_path, count(2))
    with ledger:
        people = [ALL, ALL[:2], ALL, ALL, [*ALL, ("di", 1.0)], ALL]
        made = [issue(load, some, number) for number, some in enumerate(people)]
        assert [value(one) for one in made] == [3, 2, 1, 0, 1, 0]
        lives = [one.design.life for one in made]
        assert [life.issue for life in lives if life is not None] == [1, 2, 3, 4, 5, 6]
        assert len(ledger.history("meters")) == 1  # the one charge
        assert len(ledger.chain("meters")) == 6
        assert load.status.issues == 6
        assert load.status.requests[-1] == "2026-06"
        assert load.diagnose().used_up == 3


def test_the_same_request_returns_the_same_issue_whatever_the_table_holds_by_then(tmp_path: Path) -> None:
    ledger, load = open_series(tmp_path, count(2))
    with ledger:
        first = issue(load, ALL, 0)
        issue(load, ALL, 1)
        assert issue(load, ALL[:1], 0, entropy=Forbidden()).text == first.text
        assert load.issue("no such file", start="2026-01-01", end="2026-02-01", request="2026-01").text == first.text
        with pytest.raises(RequestConflict, match="for another plan"):
            issue(load, ALL, 2, request="2026-01")
        with pytest.raises(RequestConflict, match="for another plan"):
            issue(load, ALL, 0, late=True)
        assert load.status.issues == 2
        assert load.diagnose().people == 3


def test_a_series_is_resumed_where_it_stands(tmp_path: Path) -> None:
    ledger, load = open_series(tmp_path, count(2))
    with ledger:
        issue(load, ALL, 0)
    with Ledger(tmp_path / "budget.db") as ledger:
        load = cdp.Lifetime.resume(ledger, "load", tally=tmp_path / "load.tally")
        assert value(issue(load, ALL, 1)) == 3
        other = cdp.Lifetime.resume(ledger, "load", tally=str(tmp_path / "load.tally"))
        assert value(issue(other, ALL, 2)) == 0
        assert value(issue(load, [("di", 1.0)], 3)) == 1  # who was overtaken reads the newest state
        with pytest.raises(UnknownStream):
            cdp.Lifetime.resume(ledger, "weather", tally=tmp_path / "load.tally")
        ledger.open("visits", unit=cdp.Event(), epsilon=1.0)
        terms: dict[str, Any] = {"horizon": 3, "change": 1.0, "unit": cdp.Event(), "epsilon": 0.5}
        cdp.Stream(cdp.EachPeriod(), ledger=ledger, dataset="visits", name="door", **terms)
        with pytest.raises(UnknownDocument, match="no lifetime series has this name"):
            cdp.Lifetime.resume(ledger, "door", tally=tmp_path)
        with pytest.raises(StreamConflict, match="exists"):
            count().open(ledger, dataset="meters", name="load", tally=tmp_path / "other.tally")


def test_it_is_paid_once_and_not_from_a_budget_that_renews(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("monthly", unit=cdp.User(), epsilon=1.0, renews="1mo")
        with pytest.raises(InvalidArgument, match="a purchase for ever belongs to no month"):
            count().open(ledger, dataset="monthly", name="load", tally=tmp_path / "t")
        ledger.open("small", unit=cdp.User(), epsilon=0.5)
        with pytest.raises(cdp.errors.BudgetExhausted):
            count().open(ledger, dataset="small", name="load", tally=tmp_path / "t")
        assert not (tmp_path / "t").exists()
        ledger.open("meters", unit=cdp.User(), epsilon=1.0)
        load = count().open(ledger, dataset="meters", name="load", tally=tmp_path / "t")
        assert ledger.status("meters").share == 1.0
        assert value(issue(load, ALL, 0)) == 3
        with pytest.raises(InvalidArgument, match="new or empty"):
            series().count().lifetime(epsilon=1e-3, max_periods=2).open(
                ledger, dataset="small", name="other", tally=tmp_path / "t"
            )


def test_a_correction_of_late_rows_takes_shares_of_those_in_it(tmp_path: Path) -> None:
    ledger, load = open_series(tmp_path, series().sum("kwh", clip=(0.0, 4.0)).lifetime(epsilon=1.0, max_periods=2))
    with ledger:
        assert value(issue(load, ALL, 0)) == 6
        late = issue(load, [("ann", 2.0), ("di", 1.0)], 0, request="2026-01 late", late=True)
        assert value(late) == 3
        assert late.design.life is not None
        assert late.design.life.late
        assert "rows that came late, clipped by themselves" in str(late.certificate).replace("\n             ", " ")
        both = issue(load, ALL, 0).each_period() + late.each_period()
        assert both.to_pandas()["value"].iloc[0] == 9


def test_another_clip_takes_more_and_says_so_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = series().sum("kwh", clip=(0.0, 2.0)).lifetime(epsilon=1.0, delta=1e-6, max_periods=20)
    ledger, load = open_series(tmp_path, plan)
    with ledger:
        assert load.takes(clip=(0.0, 4.0)) == "a counted month takes 4 of 20 shares"
        with pytest.raises(cdp.errors.SourceError):
            load.issue("nowhere.parquet", start="2026-01-01", end="2026-02-01", request="a", clip=(0.0, 4.0), **QUIET)
        assert capsys.readouterr().err == "a counted month takes 4 of 20 shares\n"
        wide = [value(issue(load, ALL, number, clip=(0.0, 4.0))) for number in range(6)]
        assert wide == [6, 6, 6, 6, 6, 0]  # five times four shares
        assert load.status.issues == 6
        with pytest.raises(InvalidArgument, match="only a count has another number of rows"):
            issue(load, ALL, 7, at_most=3)
    ledger, load = open_series(tmp_path / "rows", count(9))
    with ledger, pytest.raises(InvalidArgument, match="only a sum has another clip"):
        issue(load, ALL, 0, clip=(0.0, 2.0))


def test_whoever_is_forgotten_counts_no_more(tmp_path: Path) -> None:
    ledger, load = open_series(tmp_path, count(3))
    with ledger:
        issue(load, ALL, 0)
        load.forget("ann")
        load.forget("never seen")
        assert value(issue(load, [*ALL, ("never seen", 1.0)], 1)) == 2
        assert load.status.requests == ("2026-01", "2026-02")  # events are nobody's business
        with pytest.raises(InvalidArgument, match="person must be a person's id") as refused:
            load.forget(3.5)  # type: ignore[arg-type]
        assert "3.5" not in str(refused.value)


def test_two_ids_of_one_person_share_a_life(tmp_path: Path) -> None:
    ledger, load = open_series(tmp_path, series().count().lifetime(epsilon=1.0, delta=1e-6, max_periods=16))
    with ledger:
        for number in range(4):
            issue(load, [("old", 1.0), ("new", 1.0)] if number else [("old", 1.0)], number)
        lives = load.same("old", "new")
        assert lives == pytest.approx((4**0.5 + 3**0.5) ** 2 / 16)  # both may have moved the same numbers
        made = [value(issue(load, [("old", 1.0), ("new", 1.0)], number)) for number in range(4, 8)]
        assert made == [1, 1, 0, 0]  # 13.93 of 16 are used, and the old id counts no more
        with pytest.raises(InvalidArgument, match="another"):
            load.same("new", "new")


def test_merged_files_and_an_older_tally(tmp_path: Path) -> None:
    ledger, load = open_series(tmp_path / "a", count(5))
    with ledger:
        issue(load, ALL, 0)
        shutil.copytree(tmp_path / "a" / "load.tally", tmp_path / "older")
        issue(load, ALL, 1)
        with pytest.raises(TallyMismatch):
            cdp.Lifetime.resume(ledger, "load", tally=tmp_path / "older")
        load.compact()
        load.verify()
        assert value(issue(load, ALL, 2)) == 3


def test_a_lost_tally_is_made_again_from_the_tables_or_not_at_all(tmp_path: Path) -> None:
    ledger, load = open_series(tmp_path, count(2))
    tables: dict[str, object] = {}
    with ledger:
        for number, some in enumerate((ALL, ALL[:2], [*ALL, ("di", 1.0)])):
            tables[f"2026-0{number + 1}"] = counted(some, number)
            issue(load, some, number)
            if number == 0:
                load.forget("bo")
        tables["late"] = counted(ALL[1:], 0)
        issue(load, ALL[1:], 0, request="late", late=True)
        load.same("cy", "di")
        before = load.diagnose()
        shutil.rmtree(tmp_path / "load.tally")
        again = {"tally": tmp_path / "new.tally"} | QUIET
        with pytest.raises(InvalidArgument, match="the table of every issue, by its request"):
            cdp.Lifetime.rebuild(ledger, "load", tables={}, **again)
        with pytest.raises(TallyMismatch, match="rows were changed or erased"):
            cdp.Lifetime.rebuild(ledger, "load", tables=tables | {"2026-02": counted(ALL[1:], 1)}, **again)
        load = cdp.Lifetime.rebuild(ledger, "load", tables=tables, **again)
        assert load.diagnose() == before
        load.verify()
        assert value(issue(load, [*ALL, ("ed", 1.0)], 3)) == 1


def test_nothing_of_the_tally_is_public(tmp_path: Path) -> None:
    """Two worlds that differ in a used-up person: all that anybody sees is the same, byte by byte."""
    ledger, load = open_series(tmp_path / "one", count(1))
    with ledger:
        issue(load, ALL, 0)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    seen = []
    for world, people in (("one", ALL), ("two", ALL[1:])):
        with Ledger(tmp_path / world / "budget.db") as ledger:
            load = cdp.Lifetime.resume(ledger, "load", tally=tmp_path / world / "load.tally")
            made = issue(load, [*people, ("di", 1.0)], 1, entropy=seeded("same"))
            page = made.report(tmp_path / world / "page.html").read_text(encoding="utf-8")
            shown = [made.text, str(made.certificate), str(load.status), repr(load), repr(made), str(made)]
            files = sorted(path.stat().st_size for path in (tmp_path / world / "load.tally").iterdir())
            seen.append(([*shown, str(error(load)), page], files))
    assert seen[0] == seen[1]


def error(load: cdp.Lifetime) -> Exception:
    with pytest.raises(RequestConflict) as refused:
        issue(load, ALL, 0, late=True)
    return refused.value


def test_a_seeded_issue_marks_all_that_follow(tmp_path: Path) -> None:
    ledger, load = open_series(tmp_path, count(5))
    with ledger:
        first = load.issue(counted(ALL, 0), start="2026-01-01", end="2026-02-01", request="a", **QUIET)
        assert not first.certificate.seeded
        assert issue(load, ALL, 1, entropy=seeded(1)).certificate.seeded
        third = load.issue(counted(ALL, 2), start=month(2)[0], end=month(2)[1], request="c", **QUIET)
        assert third.certificate.seeded
        assert load.status.seeded
        assert str(load.status).startswith("SEEDED RUN")


def test_a_job_that_is_overtaken_begins_anew(tmp_path: Path) -> None:
    ledger, load = open_series(tmp_path, count(2))
    with ledger:
        other = cdp.Lifetime.resume(ledger, "load", tally=tmp_path / "load.tally")
        booked = load._book
        overtaken: list[cdp.Release] = []

        def slow(*given: Any, **more: Any) -> Any:
            made = booked(*given, **more)
            if not overtaken:
                overtaken.append(issue(other, ALL[:1], 0, request="quicker"))
            return made

        load._book = slow  # type: ignore[method-assign]
        mine = issue(load, ALL, 1, entropy=Silent())
        assert value(overtaken[0]) == 1
        assert value(mine) == 3
        assert mine.design.life is not None
        assert mine.design.life.issue == 2
        assert value(issue(other, ALL, 2)) == 2  # ann has counted twice


def test_bad_terms_of_an_issue_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    cases: list[dict[str, Any]] = [
        {"request": ""},
        {"start": "2026-02-01", "end": "2026-01-01"},
        {"end": "2026-01-15"},
        {"late": "yes"},
        {"clip": (3.0, 0.0)},
        {"at_most": 0},
        {"entropy": 7},
    ]
    ledger, load = open_series(tmp_path, count(2))
    terms: dict[str, Any] = {"request": "a", "start": "2026-01-01", "end": "2026-02-01"}
    with ledger:
        for wrong in cases:
            with raising(InvalidArgument, case=wrong):
                load.issue("no such file", **(terms | wrong))
