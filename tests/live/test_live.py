"""The whole path on growing files: what is counted where, what is left out, and what a restart finds."""

from __future__ import annotations

import gc
import os
import re
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chronodp as cdp
from chronodp import Event, Ledger, User, Window
from chronodp.alerts import design_alert
from chronodp.errors import InvalidArgument, LedgerSetBack, LedgerUnavailable, StreamConflict
from chronodp.live import Limits, Progress, State, Windows
from chronodp.live.metrics import serve_metrics
from chronodp.live.records import Reader
from chronodp.live.sinks import CsvSink, ParquetSink
from chronodp.live.sources import FileSource
from chronodp.live.streams import open_streams
from chronodp.live.warming import collecting_later
from chronodp.series import Stream, design_stream
from chronodp.series.windowed import BudgetDistribution, Uniform, WindowedMechanism, design_windowed
from tests.cases import raising
from tests.live.brokers import free_port
from tests.live.examples import NAME, Bench, at, fields_of, write

SECONDS = Windows("1s", "2026-01-01", lateness="1s", skew="2s", count=1000)
SUMS = Limits(User(), SECONDS, clip=(-1.0, 2.0), max_periods=3)
COUNTS = Limits(Event(), SECONDS, at_most=1000)


def visit(limits: Limits, window: int, who: str = "ann", value: float = 1.0) -> dict[str, object]:
    return {"at": at(limits, window), "who": who, "value": value}


def test_late_records_are_left_out_and_early_ones_touch_nobody(tmp_path: Path) -> None:
    bench = Bench(tmp_path, COUNTS)
    bench.run_to(3)
    write(bench.path, visit(COUNTS, 2), visit(COUNTS, 3), visit(COUNTS, 900), visit(COUNTS, 4))
    live = bench.run_to(6)
    assert bench.totals() == [0, 0, 0, 1, 1, 0]
    owner = live.progress.owner
    assert (owner.counted, owner.late, owner.future, owner.malformed) == (2, 1, 1, 0)


def test_bad_records_are_never_fatal_and_never_quoted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bench = Bench(tmp_path, SUMS)
    time = at(SUMS, 0)
    secret = "s3cret"
    write(
        bench.path,
        visit(SUMS, 0),
        f'{{"at": {time}, "who": "{secret}"',
        f'{{"at": {time}, "who": "{secret}", "value": NaN}}',
        f'{{"at": {time}, "who": "{secret}", "value": 1e400}}',
        f'{{"at": {time}, "who": "{secret}", "value": "1 kWh"}}',
        f'{{"at": {time}, "who": ["{secret}"], "value": 1}}',
        f'{{"at": "yesterday", "who": "{secret}", "value": 1}}',
        f'{{"at": -1e300, "who": "{secret}", "value": 1}}',
        f'{{"at": -5, "who": "{secret}", "value": 1}}',
        "[" * 100_000,
        '{"a":' * 100_000,
        f'{{"at": {time}, "who": "{secret}", "value": {"9" * 5000}}}',
        f'"{secret}"',
        "null",
        f'{{"at": {time}, "who": "bo", "value": 1, "more": "{"x" * 10**6}"}}',
    )
    with bench.path.open("ab") as file:
        file.write(b'{"who": "\xff\xfe"}\n')
    live = bench.run_to(1)
    assert bench.totals() == [2.0]
    owner = live.progress.owner
    assert (owner.counted, owner.late, owner.malformed) == (2, 1, 13)
    shown = capfd.readouterr()
    assert secret not in shown.out + shown.err + " ".join(bench.said)


def test_a_change_of_fields_is_told_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path, COUNTS)
    write(bench.path, *[{"when": at(COUNTS, 0), "who": "ann"} for _ in range(500)])
    bench.run_to(1)
    assert bench.said == ["no record can be read any more: do the fields in the settings still fit what is sent?"]


def test_a_pause_is_released_as_empty_windows_and_what_waited_is_counted(tmp_path: Path) -> None:
    bench = Bench(tmp_path, COUNTS)
    bench.run_to(1)
    write(bench.path, *[visit(COUNTS, window) for window in (1, 300, 600, 600)])
    live = bench.run_to(700)
    assert [row["window"] for row in bench.rows] == list(range(700))
    assert [window for window, total in enumerate(bench.totals()) if total] == [1, 300, 600]
    assert live.progress.owner.counted == 4
    assert live.entries == 0  # nothing is kept of closed windows


@pytest.mark.parametrize("share", [Uniform(), BudgetDistribution()], ids=str)
def test_windows_without_end_go_on_and_are_read_back(tmp_path: Path, share: WindowedMechanism) -> None:
    limits = Limits(Window(2), replace(SECONDS, count=None), at_most=9, groups=("a", "b"))
    bench = Bench(tmp_path, limits, share=share)
    table = tmp_path / "out.csv"
    for window in range(4):
        write(bench.path, *[visit(limits, window, f"p{number}") | {"place": "b"} for number in range(5 * window)])
        bench.run_to(window + 1, sinks=[CsvSink(table)] if window != 1 else [])
    assert bench.totals() == [0, 0, 0, 5, 0, 10, 0, 15]
    lines = [line.split(",") for line in table.read_text(encoding="utf-8").splitlines()[1:]]
    assert [float(line[3]) for line in lines] == [row["value"] for row in bench.rows]


def test_whoever_is_in_a_released_window_has_counted_whatever_dies(tmp_path: Path) -> None:
    limits = Limits(User(), SECONDS, at_most=1, max_periods=1)
    bench = Bench(tmp_path, limits)

    def die_at(point: str) -> Callable[[str], None]:
        def reached(name: str) -> None:
            if name == point:
                raise KeyboardInterrupt

        return reached

    with pytest.raises(KeyboardInterrupt):  # closing was begun
        bench.run_to(1, reached=die_at("state committed"))
    write(bench.path, visit(limits, 0))
    with pytest.raises(KeyboardInterrupt):  # released, and not settled
        bench.run_to(1, reached=die_at("stepped"))
    write(bench.path, visit(limits, 0), visit(limits, 1))
    bench.run_to(2)
    assert bench.totals() == [1, 0]


def test_repeats_with_an_id_count_once_within_a_person_and_window(tmp_path: Path) -> None:
    limits = Limits(User(), SECONDS, clip=(0.0, 100.0), max_periods=9, ids=True)
    bench = Bench(tmp_path, limits)
    rows = [visit(limits, 0, who, 3.0) | {"id": name} for who in ("ann", "bo") for name in ("x", "x", "y")]
    write(bench.path, *rows)
    bench.run_to(0)
    write(bench.path, rows[0], rows[-1], visit(limits, 1, value=4.0) | {"id": "x"})
    bench.run_to(2)
    assert bench.totals() == [12.0, 4.0]


def test_sinks_hold_every_window_once_after_any_stop(tmp_path: Path) -> None:
    bench = Bench(tmp_path, COUNTS, alert={"above": 2.0, "max_alerts": 1, "epsilon": 1e4})
    write(bench.path, *[visit(COUNTS, window) for window in (0, 3, 3, 3, 4)])
    table, folder = tmp_path / "out.csv", tmp_path / "out"

    def run_to(window: int) -> None:
        bench.run_to(window, sinks=[CsvSink(table), ParquetSink(folder)])

    run_to(2)
    with table.open("ab") as file:
        file.write(b"2,half a line")
    run_to(4)
    text = table.read_bytes()
    table.write_bytes(text[: len(text) // 2])  # a crash that lost the end
    bench.run_to(5)  # without sinks
    run_to(6)
    lines = table.read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in lines] == ["window", *map(str, range(6))]
    import pandas as pd

    frame = pd.read_parquet(folder)
    assert frame["window"].tolist() == list(range(6))
    assert frame["value"].round().tolist() == [1, 0, 0, 3, 1, 0]
    assert frame["alert"].tolist() == [False, False, False, True, None, None]
    told = [float(line.split(",")[2]) for line in lines[1:]]
    assert told == frame["value"].tolist() == [row["value"] for row in bench.rows]
    (tmp_path / "other").mkdir()
    other = Bench(tmp_path / "other", COUNTS, alert={"above": 2.0, "max_alerts": 1, "epsilon": 1e4})
    with pytest.raises(StreamConflict, match="another stream"):
        other.run_to(1, sinks=[CsvSink(table)])


def test_a_state_that_was_lost_or_set_back_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SUMS)
    bench.run_to(2)
    old = (tmp_path / "live.db").read_bytes()
    bench.run_to(4)
    (tmp_path / "live.db").write_bytes(old)
    with pytest.raises(StreamConflict, match="state is missing or was set back"):
        bench.run_to(5)
    os.unlink(tmp_path / "live.db")
    with pytest.raises(StreamConflict, match="count people again"):
        bench.run_to(5)


def test_a_ledger_that_was_set_back_is_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SUMS)
    bench.run_to(2)
    old, keys = (tmp_path / "budget.db").read_bytes(), (tmp_path / "budget.db.keys").read_bytes()
    bench.run_to(4)
    (tmp_path / "budget.db").write_bytes(old)
    with pytest.raises(LedgerSetBack, match="ledger was set back"):
        bench.run_to(5)
    (tmp_path / "budget.db.keys").write_bytes(keys)  # set back as well: now the state alone knows
    with pytest.raises(StreamConflict, match="ledger was set back"):
        bench.run_to(5)


def test_a_ledger_that_cannot_be_written_ends_the_run_and_nothing_is_lost(tmp_path: Path) -> None:
    bench = Bench(tmp_path, COUNTS, patience=0.2)
    write(bench.path, *(visit(COUNTS, window) for window in (0, 0, 1, 2)))
    bench.run_to(1)
    other = sqlite3.connect(tmp_path / "budget.db", isolation_level=None)

    def lock(point: str) -> None:
        if point == "state committed" and not other.in_transaction:
            other.execute("BEGIN IMMEDIATE")

    with pytest.raises(LedgerUnavailable, match="locked"):
        bench.run_to(3, reached=lock)
    other.execute("ROLLBACK")
    other.close()
    bench.run_to(3)
    assert bench.totals() == [2.0, 1.0, 1.0]


@pytest.mark.slow
def test_other_terms_and_a_second_process_are_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, SUMS)
    live, state, ledger = bench.start()
    with pytest.raises(LedgerUnavailable, match="used by another process"):
        State(tmp_path / "live.db", keys=ledger.keys, name=NAME)
    state.close()
    ledger.close_connection()
    other = Bench(tmp_path, Limits(User(), SECONDS, clip=(-1.0, 3.0), max_periods=3))
    with pytest.raises(StreamConflict, match="another clip"):
        other.start()
    Ledger(tmp_path / "budget.db").close_connection()
    assert live.progress.closed == 0


def test_csv_lines_are_read_by_their_header(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    source = FileSource(path, reader=Reader(fields_of(SUMS)), layout="csv")
    path.write_text('who,at,value\nann,5,1.5\n"b, o",2026-01-01T00:00:00Z,2\nbad\nann,5,much\n', encoding="utf-8")
    source.begin("")
    batch = source.read(100, wait=0.0)
    assert batch.names == ["ann", "b, o"]
    assert batch.malformed == 2
    positions = source.positions
    source.close()
    source = FileSource(path, reader=Reader(fields_of(SUMS)), layout="csv")
    source.begin(positions)
    write(path, "cy,6,2.5")
    assert source.read(100, wait=0.0).names == ["cy"]
    source.close()


FEW = Limits(Event(), Windows("1s", "2026-01-01", count=100), at_most=9)


def scrape(progress: Progress, *, owner: bool = False) -> dict[str, float]:
    port = free_port()
    server = serve_metrics(progress, port=port, owner=owner)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
    finally:
        server.shutdown()
        server.server_close()
    return {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", text, re.MULTILINE)}


@pytest.mark.slow
@pytest.mark.parametrize("records", [0, 1, 700])
def test_other_records_make_no_other_metrics(tmp_path: Path, records: int) -> None:
    bench = Bench(tmp_path, FEW)
    write(
        bench.path, *[{"at": at(FEW, number % 90), "who": f"p{number}"} for number in range(records)], *["?"] * records
    )
    live = bench.run_to(3)
    shown = scrape(live.progress)
    timely = {name: value for name, value in shown.items() if not name.endswith("_seconds")}
    assert timely == {
        "chronodp_live_next_window": 3,
        "chronodp_live_windows_closed": 3,
        "chronodp_live_releases": 3,
        "chronodp_live_alerts_told": 0,
        "chronodp_live_budget_spent_share": pytest.approx(0.001),
        "chronodp_live_source_reachable": 1,
        "chronodp_live_clock_doubted": 0,
    }
    assert all(value == int(value) for name, value in shown.items() if name.endswith("_seconds"))
    for_owner = scrape(live.progress, owner=True)
    assert for_owner["chronodp_live_owner_records_malformed"] == records


OPENED = """
import sys
from pathlib import Path
from chronodp import User
from chronodp.live import Limits, Windows
from tests.live.examples import Bench, at, write

limits = Limits(User(), Windows("1s", "2026-01-01", count=3), clip=(0.0, 5.0), max_periods=3)
bench = Bench(Path(sys.argv[1]), limits, alert={"above": 2.0, "max_alerts": 1, "epsilon": 1e4})
write(bench.path, {"at": at(limits, 0), "who": "ann", "value": 1.0})
live, state, ledger = bench.start()
opened = set(sys.modules)
bench.clock.moment = limits.windows.closes(1)
live.run(windows=2)
print(*sorted(set(sys.modules) - opened))
"""


@pytest.mark.slow
def test_the_first_release_imports_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENED, str(tmp_path)]  # a fresh interpreter: what is loaded is the question
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert done.stdout.split() == []


def test_collecting_is_as_it_was_whatever_happens() -> None:
    for enabled in [True, False]:
        before = gc.isenabled()
        try:
            (gc.enable if enabled else gc.disable)()
            with raising(KeyboardInterrupt, case=enabled):
                interrupted()
            assert gc.isenabled() == enabled, enabled
        finally:
            (gc.enable if before else gc.disable)()


@collecting_later()
def interrupted() -> None:
    assert not gc.isenabled()
    raise KeyboardInterrupt


BAD_TOTALS = [None, 3.0, [1.0, 2.0], [["a"]], [[np.nan]], [[1.0], [np.inf]], [[1.0, 2.0]], [[1.0], [2.0, 3.0]]]
WINDOW = cdp.Window(3)
STREAM = design_stream(
    cdp.EachPeriod(), unit=WINDOW, horizon=9, max_periods=None, change=1.0, keys=1, max_groups=1, epsilon=1.0, delta=0.0
)
DESIGNS: dict[str, Any] = {
    "stream": STREAM,
    "windowed": design_windowed(Uniform(), unit=WINDOW, change=1.0, columns=1, epsilon=1.0),
    "alert": design_alert(above=5.0, change=1.0, unit=WINDOW, max_alerts=2, epsilon=1.0),
}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as store:
        store.open("doors", unit=WINDOW, epsilon=10.0)
        yield store


@pytest.mark.parametrize("kind", DESIGNS)
def test_totals_that_are_no_table_of_finite_numbers_release_nothing(ledger: cdp.Ledger, kind: str) -> None:
    (stream,) = open_streams({kind: DESIGNS[kind]}, ledger=ledger, dataset="doors")
    for totals in BAD_TOTALS:
        with raising(InvalidArgument, match="totals", case=totals):
            stream.release_windows(0, totals, level=0.95)
        assert stream.period == 0, totals
    assert len(stream.release_windows(0, [[1], [2]], level=0.95)) == 2  # whole numbers in a list are numbers


def test_designs_are_given_by_name(ledger: cdp.Ledger) -> None:
    cases: list[Any] = [None, [STREAM], STREAM, {"one": 3}, {"one": None}]
    for designs in cases:
        with raising(InvalidArgument, match="designs", case=designs):
            open_streams(designs, ledger=ledger, dataset="doors")
    with pytest.raises(InvalidArgument, match="ledger"):  # its path is none
        open_streams({"one": STREAM}, ledger="budget.db", dataset="doors")  # type: ignore[arg-type]
    assert not ledger.history("doors")


def test_a_stream_to_be_opened_by_another_is_checked() -> None:
    cases: list[tuple[Any, Any]] = [(None, 3), (STREAM, 3), (DESIGNS["alert"], None)]
    for design, entropy in cases:
        with raising(InvalidArgument, case=(design, entropy)):
            Stream.opening(design, "one", entropy=entropy)
