"""What runs a live stream: this process or, where its settings have a table ``[spark]``, Spark."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronodp.cli.live_settings import LiveSettings

if TYPE_CHECKING:
    from chronodp.live import KeyLimits, Limits, Live, LiveOnSpark

__all__ = ["Runner", "prepare_runner"]

Runner = tuple["Live | LiveOnSpark", Callable[..., None]]
"""Who counts and releases, and what begins it."""


def prepare_runner(wanted: LiveSettings, limits: Limits | KeyLimits) -> Callable[..., Runner]:
    """Return what makes the runner once streams are paid for; where records come from is refused now, if it is."""
    return _in_this_process(wanted, limits) if wanted.spark is None else _on_spark(wanted, limits)


def _in_this_process(wanted: LiveSettings, limits: Limits | KeyLimits) -> Callable[..., Runner]:
    from chronodp.live import Live

    source = wanted.source(wanted.reader(limits))

    def make(**options: Any) -> Runner:
        running = Live(limits, source=source, **options)
        return running, running.run

    return make


def _on_spark(wanted: LiveSettings, limits: Limits | KeyLimits) -> Callable[..., Runner]:
    from chronodp.live import LiveOnSpark, parse_duration

    said = wanted.said["spark"]
    every, partitions = said.get("every", "1s"), {name: said[name] for name in ("partitions",) if name in said}
    with said.pointing():
        parse_duration("every", every)
    folder = _folder(wanted)
    session = _session(wanted)

    def make(**options: Any) -> Runner:
        running = LiveOnSpark(
            limits,
            messages=session.readStream.text(folder),
            fields=wanted.fields(),
            checkpoint=said["checkpoint"],
            **partitions,
            **options,
        )
        return running, partial(running.run, every=every)

    return make


def _folder(wanted: LiveSettings) -> str:
    """Return the folder that Spark follows."""
    source = wanted.said["source"]
    if source["kind"] != "file":
        raise source.wrong(
            "kind", "file with [spark], a folder; from Python chronodp.live.LiveOnSpark takes every stream of Spark"
        )
    if source.get("layout", "jsonl") != "jsonl":
        raise source.wrong("layout", "jsonl, or left out, with [spark]: a line is a record")
    path = str(source["path"])
    if "://" not in path and not Path(path).is_dir():
        raise source.wrong("path", "a folder with [spark]: files are written elsewhere and moved into it when whole")
    return path


def _session(wanted: LiveSettings) -> Any:
    """Return the session; it ends with this program."""
    from chronodp.engines import local_session
    from chronodp.extras import check_extra

    said = wanted.said["spark"]
    options = {name: str(value) for name, value in said.get("options", {}).items()}
    if "master" not in said:
        return local_session(failures=4, settings=options)
    check_extra("spark", "pyspark")
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master(said["master"]).appName(f"chronodp live {wanted.name}")
    for name, value in {"spark.sql.session.timeZone": "UTC", **options}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
