"""Records of people: messages of a live source, and tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import chronodp as cdp
from chronodp.cli.stream import number_in
from chronodp.engines import DuckDB
from chronodp.federated.training import read_people, read_plan
from chronodp.live import Fields, Reader
from chronodp.live.records import Batch
from chronodp.live.sources import FileSource
from tests.cli.clinics import MODEL, TOP
from tests.fuzz.target import MARK, Target, loose

__all__ = ["NAMES", "make_csv_records", "make_json_records", "make_line", "make_people", "make_table"]

NAMES = ("json_records", "csv_records", "line", "people", "table")

_FIELDS = Fields("at", user="who", value="kwh", group="site", id="id", timezone="Europe/Berlin")
_READER = Reader(_FIELDS, groups=("north", "south"))
_ONE = '{"at": "2026-01-01T06:00:00", "who": "%s", "kwh": 1.5, "site": "north", "id": 1}'


def _check(batch: Batch) -> None:
    if batch.values is None or len(batch.times) != len(batch.values) or not np.all(np.isfinite(batch.values)):
        raise AssertionError("a batch holds what is no number")


def make_json_records(folder: Path) -> Target:
    file = folder / "records.jsonl"
    one = (_ONE % MARK.decode()).encode()

    def door(content: bytes) -> None:
        _check(_READER.read([content]))
        file.write_bytes(content)
        source = FileSource(str(file), reader=_READER)
        source.begin("")
        source.read(1000, wait=0)
        source.close()

    other = b'{"at": 1767225600.5, "who": 7346281, "kwh": 2, "site": "south", "id": "a"}'
    return Target(
        "json_records", (one, b"[" + one + b"," + other + b"]", one + b"\n" + other + b"\n"), door, secret=b""
    )


def make_csv_records(folder: Path) -> Target:
    file = folder / "records.csv"

    def door(content: bytes) -> None:
        header, _, rest = content.partition(b"\n")
        _check(_READER.read_csv(rest.splitlines(), loose(header).split(",")))
        file.write_bytes(content)
        source = FileSource(str(file), reader=_READER, layout="csv")
        source.begin("")
        source.read(1000, wait=0)
        source.close()

    seed = b'at,who,kwh,site,id\n2026-01-01T06:00,"7346281",1.5,north,1\n1767225600,b,2,south,"x, y"\n'
    return Target("csv_records", (seed,), door, secret=b"")


def make_line(_folder: Path) -> Target:
    """A line on the standard input of a stream."""

    def door(content: bytes) -> None:
        number_in(loose(content).strip().split(","), 2)

    return Target("line", (b"1,7346281", b"2026-01-01,1e5,x"), door, secret=b"")


def make_people(folder: Path) -> Target:
    plan, table = folder / "people.toml", folder / "north.csv"
    plan.write_text(f'{TOP}{MODEL}[holders.north]\ndata = "north.csv"\npeople = 50\n', encoding="utf-8")
    file = read_plan(plan)

    def door(content: bytes) -> None:
        table.write_bytes(content)
        read_people(file, table)

    rows = "".join(f"7346281{person},{hour},{80 + hour}.5,36.9,{person}\n" for person in (0, 1) for hour in range(12))
    return Target("people", (f"patient,hour,pulse,temperature,label\n{rows}".encode(),), door, secret=b"")


def make_table(folder: Path) -> Target:
    """A table of records as CSV, read as a release reads it."""
    table = folder / "table.csv"
    rows = "".join(f"2026-01-0{day}T01:00,7346281{day},{day}.5,north\n" for day in range(1, 5))
    seed = f"at,who,kwh,site\n{rows}".encode()
    table.write_bytes(seed)
    series = cdp.TimeSeries(
        str(table),
        time="at",
        user="who",
        every="1D",
        start="2026-01-01",
        end="2026-01-05",
        unit=cdp.User(),
        max_periods=2,
        engine=DuckDB(threads=1),
    )
    plan = series.sum("kwh", clip=(0.0, 5.0)).by(site=["north", "south"]).plan(epsilon=1.0)

    def door(content: bytes) -> None:
        table.write_bytes(content)
        plan.origin.numbers(plan.design, key="key", progress=lambda _: None)

    return Target("table", (seed,), door, secret=b"")
