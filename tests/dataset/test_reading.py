"""The owner's look before paying, and what an owner declares about how cells are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.privacy import load
from chronodp.privacy.documents import dump
from chronodp.randomness import seeded
from chronodp.series import Design

GERMAN = cdp.Reading(time_format="%d.%m.%Y %H:%M", decimal=",", separator=";", encoding="latin-1")


@pytest.fixture
def german(tmp_path: Path) -> Path:
    file = tmp_path / "zaehler.csv"
    rows = ["zeit;zähler;kwh;notiz"]
    rows += [f"{day}.1.2026 10:00;{'Müller' if day % 2 else 'Weiß'};1,5;ja" for day in range(5, 10)]
    file.write_text(
        "\n".join([*rows, "6.1.2026 10:00;Weiß;2,5", '6.1.2026 10:00;Weiß;2,5;"offen', ""]), encoding="latin-1"
    )
    return file


def series(data: Any, **given: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {
        "time": "zeit", "user": "zähler", "every": "1D", "start": "2026-01-05", "end": "2026-01-09",
        "timezone": "Europe/Berlin", "unit": cdp.User(), "max_periods": 4,
    }  # fmt: skip
    return cdp.TimeSeries(data, **(options | given))


def totals(plan: cdp.Plan) -> list[float]:
    numbers = plan.read(key="", progress=lambda _: None)[0]
    return [float(number) for number in numbers[:, 0] * plan.design.noises[0].step]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_what_is_declared_is_read_and_part_of_plan_and_certificate(german: Path, tmp_path: Path) -> None:
    plan = series(german, reading=GERMAN).sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0)
    assert totals(plan) == [1.5, 1.5, 1.5, 1.5]
    assert "times as %d.%m.%Y %H:%M, numbers with a decimal ','" in str(plan)
    assert load(dump(plan.design), Design) == plan.design
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=4.0)
        release = plan.release(ledger, dataset="meters", request="a", entropy=seeded(1), progress=lambda _: None)
        assert "text in latin-1" in release.certificate.mechanism
        other = series(german, reading=cdp.Reading(time_format="%d.%m.%Y %H:%M", encoding="latin-1"))
        with pytest.raises(cdp.errors.ChronodpError, match="request"):
            other.sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0).release(
                ledger, dataset="meters", request="a", entropy=seeded(1), progress=lambda _: None
            )


@pytest.mark.slow
def test_the_owner_sees_what_is_left_out_and_what_to_declare(german: Path) -> None:
    undeclared = series(german, reading=cdp.Reading(encoding="latin-1")).sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0)
    found = undeclared.diagnose(progress=lambda _: None)
    time, person, value = found.reading.columns
    assert (found.reading.rows, found.reading.used, found.reading.incomplete) == (5, 0, 5)
    assert (time.read, time.unreadable, list(time.hints.values())) == (0, 5, [5])
    assert (person.read, person.missing) == (5, 0)
    assert value.hints == {"Reading(decimal=',')": 5}
    assert list(found.reading.broken.values()) == [1, 1]
    assert found.tally is None
    assert "people" not in str(found).lower().replace("owner only", "")
    declared = series(german, reading=GERMAN).sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0)
    after = declared.diagnose(progress=lambda _: None).reading
    assert (after.rows, after.used, after.outside_time, after.wall_clocks, after.instants) == (5, 4, 1, 5, 0)
    assert json.dumps(declared.diagnose(bounds=True, progress=lambda _: None).to_dict())


def test_what_cannot_be_declared_is_named(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"time_format": "%d.%m"}, "time_format"), ({"time_format": 5}, "time_format"),
        ({"time_format": "%Y-%m-%d %q"}, "time_format"), ({"time_format": "%Y-%m-%d %M"}, "time_format"),
        ({"time_format": "(%Y-%m-%d)"}, "time_format"), ({"decimal": ";"}, "decimal"),
        ({"separator": ",,"}, "separator"), ({"separator": "a"}, "separator"),
        ({"separator": ",", "decimal": ","}, "separator"), ({"encoding": "ebcdic"}, "encoding"),
        ({"line_breaks": 1}, "line_breaks"),
    ]  # fmt: skip
    for given, name in cases:
        with subtests.test(given=given, name=name), pytest.raises(InvalidArgument, match=f"^{name} must be"):
            cdp.Reading(**given)


@pytest.mark.parametrize("kind", ["int64", "int32", "float64", "object"])
def test_whole_numbers_are_read_by_their_digits_where_a_pattern_is_declared(kind: str) -> None:
    days = pd.Series([19970101, 19970103, 19970103, 19970230], dtype=kind)
    table = pd.DataFrame({"zeit": days, "zähler": ["a", "a", "b", "c"]})
    dates = {"start": "1997-01-01", "end": "1997-01-05", "timezone": "UTC"}
    plan = series(table, **dates, reading=cdp.Reading(time_format="%Y%m%d")).count().plan(epsilon=1.0)
    assert totals(plan) == [1.0, 0.0, 2.0, 0.0]


def test_only_formats_that_were_seen_to_read_the_column_are_proposed(subtests: pytest.Subtests) -> None:
    for written, formats in [
        (["31/01/2026", "15/01/2026"], ["%d/%m/%Y"]),
        (["01/02/2026", "03/01/2026"], ["%d/%m/%Y", "%m/%d/%Y"]),
        (["19970101", "19970202"], ["%Y%m%d"]),
        (["1767744000", "1767830400"], ["s"]),
        (["1967744000", "1967830400"], []),  # seconds of another year, and of no format
        (["31.01.2026 10:30"], ["%d.%m.%Y %H:%M"]),
        (["garbage", "1.2.3"], []),
    ]:
        with subtests.test(written=written, formats=formats):
            table = pd.DataFrame({"zeit": written, "zähler": "a"})
            time = series(table).count().plan(epsilon=1.0).diagnose().reading.columns[0]
            assert time.hints == {f"Reading(time_format={one!r})": len(written) for one in formats}
