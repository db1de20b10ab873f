"""A live stream that runs until it dies: ``python -m tests.live.victim SETTINGS POINT COUNT``.

SETTINGS is a JSON text. The process kills itself, with SIGKILL, the COUNT-th time it reaches POINT; with COUNT 0 it
goes on until enough windows are released.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from chronodp import EachPeriod, Event, Ledger
from chronodp.live import Limits, Live, Reader, ScaledClock, State, Windows, alert_design, open_streams, stream_design
from chronodp.live.sinks import CsvSink
from chronodp.live.sources import KafkaSource, MqttSource, Source
from tests.killing import die_at
from tests.live.examples import fields_of

START = "2026-01-01"


def limits_of(told: dict[str, Any]) -> Limits:
    grid = Windows("1s", START, lateness="1s", skew="5s", count=told["windows"])
    return Limits(Event(), grid, at_most=1000, ids=told.get("ids", False))


def source_of(told: dict[str, Any], reader: Reader) -> Source:
    if "servers" in told:
        return KafkaSource("visits", servers=told["servers"], reader=reader, group="victim")
    return MqttSource("visits", host="127.0.0.1", port=told["port"], client="victim", reader=reader)


def main() -> None:
    told: dict[str, Any] = json.loads(sys.argv[1])
    folder, reached = Path(told["folder"]), die_at(sys.argv[2], int(sys.argv[3]))
    limits = limits_of(told)
    with (
        Ledger(folder / "budget.db", reached=reached) as ledger,
        (folder / "told.txt").open("a", encoding="utf-8", buffering=1) as file,
    ):
        state = State(folder / "live.db", keys=ledger.keys, name="live")
        stream = stream_design(limits, workload=EachPeriod(), epsilon=1e6)
        alarm = alert_design(limits, above=24.5, max_alerts=100_000, epsilon=1e8)
        streams = open_streams({"live": stream, "live.alert": alarm}, ledger=ledger, dataset="visits")
        clock = ScaledClock(limits.windows.begins(0), told["speed"], told["begun"])
        live = Live(
            limits,
            source=source_of(told, Reader(fields_of(limits))),
            streams=streams,
            state=state,
            key=ledger.keys.derive("live"),
            ledger=ledger,
            dataset="visits",
            sinks=[CsvSink(folder / "out.csv")],
            clock=clock,
            tell=lambda rows: print(json.dumps(rows[0]), file=file),
            reached=reached,
        )
        live.run(stop=lambda: live.progress.next_window >= told.get("enough", told["windows"]))
        state.close()


if __name__ == "__main__":
    main()
