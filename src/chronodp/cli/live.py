"""``chronodp live``: a stream from Kafka, MQTT or growing files, released window by window, here or on Spark."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from chronodp.cli.live_runner import prepare_runner
from chronodp.cli.live_settings import LiveSettings, read_settings
from chronodp.cli.live_status import StatusFile, show_status
from chronodp.cli.options import JsonLines
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_moment, check_zone, microseconds_of
from chronodp.reading import closed_file

if TYPE_CHECKING:
    from chronodp.cli.live_view import View
    from chronodp.ledger import Ledger
    from chronodp.live import State

__all__ = ["live"]


def live(
    settings: Annotated[Path, typer.Argument(help="A TOML file: source, fields, windows, what is released, sinks.")],
    windows: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many windows, or more that are due at once.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Stop at this moment, such as 2026-01-01T06:00.")] = None,
    clock_is_right: Annotated[
        bool, typer.Option("--clock-is-right", help="Believe a clock that jumped: windows wait for it otherwise.")
    ] = False,
    status: Annotated[bool, typer.Option("--status", help="Say what windows wait for and what is missing.")] = False,
    as_json: JsonLines = False,
) -> None:
    """Count what a live source brings, and release each window when the clock closes it; goes on after a crash.

    Ctrl-C, or SIGTERM, stops it with everything on disk; started again it goes on with the next window.

    **Example**

    `chronodp live visits.toml` with, in visits.toml:

        name = "door"
        dataset = "visits"
        unit = "user"
        max_periods = 24

        [source]
        kind = "kafka"
        servers = "localhost:9092"
        topic = "visits"

        [fields]
        time = "at"
        user = "who"

        [windows]
        every = "1min"
        lateness = "10s"

        [stream]
        workload = "running_total"
        epsilon = 1.0
        delta = 1e-6
    """
    from chronodp.cli.live_view import LineView, ScreenView
    from chronodp.ledger import Ledger
    from chronodp.live import State

    with closed_file():
        wanted = read_settings(settings)
        if status:
            show_status(wanted.status, as_json=as_json)
            return
        zone = check_zone(wanted.said["windows"].get("timezone", "UTC"))
        end = None if until is None else microseconds_of(check_moment("until", until, zone))
        address = str(wanted.said["ledger"])
        if "://" not in address and not Path(address).exists():
            raise InvalidArgument("ledger", address, "the file of a ledger: `chronodp budget open` makes one")
        with Ledger(address, keys=wanted.said.get("keys")) as ledger:
            wanted.limits(wanted.said["windows"].get("start", "2026-01-01"))  # refuses before anything is made
            state = State(wanted.state, keys=ledger.keys, name=wanted.name)
            try:
                screen = not as_json and sys.stdout.isatty()
                view: View = ScreenView(wanted.name) if screen else LineView(as_json=as_json)
                _run(wanted, ledger, state, view, windows=windows, until=end, clock_is_right=clock_is_right)
            finally:
                state.close()


def _run(
    wanted: LiveSettings,
    ledger: Ledger,
    state: State,
    view: View,
    *,
    windows: int | None,
    until: int | None,
    clock_is_right: bool,
) -> None:
    from chronodp.live import serve_metrics, terms_of

    limits, fields = wanted.limits(_start(wanted, state)), wanted.fields()
    releases = " and ".join(name for name in ("stream", "alert") if name in wanted.said)
    named = {"group": fields.group} if wanted.discovers else {}
    terms = terms_of(limits, dataset=wanted.said["dataset"], user=fields.user, id=fields.id, releases=releases, **named)
    state.check_terms(terms)
    jump, sinks = wanted.jump, wanted.make_sinks()
    for sink in sinks:
        sink.check()
    make = prepare_runner(wanted, limits)
    streams = wanted.streams(limits, ledger)
    state.write(terms=terms)
    running, run = make(
        streams=streams,
        state=state,
        key=ledger.keys.derive("live", wanted.said["dataset"], wanted.name),
        ledger=ledger,
        dataset=wanted.said["dataset"],
        level=wanted.level,
        sinks=sinks,
        jump=jump,
        tell=view.tell,
        say=view.say,
    )
    if clock_is_right:
        running.believe_clock()
    status = StatusFile(wanted.status)

    def refresh() -> None:
        view.refresh(running.progress)
        status.refresh(running.progress)

    for stream in streams:
        view.say(f"promised: {stream.certificate.guarantee}")
    server = None
    if "metrics" in wanted.said:
        server = serve_metrics(running.progress, **wanted.said["metrics"])
    try:
        with _Stop() as stopped:
            run(windows=windows, until=until, stop=stopped, each=refresh)
    finally:
        if server is not None:
            server.shutdown()
            server.server_close()
        view.close(running.progress)


def _start(wanted: LiveSettings, state: State) -> str:
    """Return when the first window begins: as told, or else when the stream was first started."""
    from chronodp.live import SystemClock, begin_of

    told = wanted.said["windows"].get("start")
    if told is not None:
        return str(told)
    known = state.fact("terms")
    if known is not None:
        return str(json.loads(known)["start"])
    grid = wanted.said["windows"]
    return begin_of(grid["every"], SystemClock().now(), grid.get("timezone", "UTC"))


class _Stop:
    """Whether the process was asked to stop; a second time ends it at once."""

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        return self._asked

    def _ask(self, number: int, _frame: FrameType | None) -> None:
        if self._asked:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self._asked = True
