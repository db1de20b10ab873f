"""The settings of a live stream: a TOML file with a table for each part, checked before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from chronodp.cli.stream import parse_share, parse_workload
from chronodp.cli.watch import parse_noise
from chronodp.privacy import check_fraction, parse_record_unit
from chronodp.settings import (
    Section,
    Setting,
    Settings,
    anything,
    load_settings,
    options,
    rows,
    table,
    text,
    truth,
    whole,
)

if TYPE_CHECKING:
    from chronodp.ledger import Ledger
    from chronodp.live import Fields, KeyLimits, Limits, Reader, TotalsStream
    from chronodp.live.sinks import Sink
    from chronodp.live.sources import Source
    from chronodp.series.key_streams import KeyStreamDesign

__all__ = ["LiveSettings", "read_settings"]

_MQTT = {
    "host": text(needed=True),
    "topic": text(needed=True),
    "port": whole(),
    "client": text(),
    "username": text(),
    "password": text(),
    "secure": truth(),
}
_KAFKA = {"servers": text(needed=True), "topic": text(needed=True), "options": options()}
_SOURCES: dict[str, Settings] = {
    "kafka": {**_KAFKA, "group": text()},
    "mqtt": _MQTT,
    "file": {"path": text(needed=True), "layout": text()},
}
_SINKS: dict[str, Settings] = {
    "kafka": _KAFKA,
    "mqtt": _MQTT,
    "csv": {"path": text(needed=True)},
    "parquet": {"path": text(needed=True)},
}


def _of_kind(kinds: Mapping[str, Settings]) -> Setting:
    """Declare a table whose ``kind`` says what else it holds."""

    def settings(given: Section) -> Settings:
        kind = given.get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            raise given.wrong("kind", f"one of {', '.join(kinds)}")
        return {"kind": text(), **kinds[kind]}

    return table(settings, needed=True)


def _open(names: str, *needed: str) -> Settings:
    """Declare keys whose values the room below checks."""
    return {name: anything(needed=name in needed) for name in names.split()}


_LIVE: Settings = {
    "name": text(needed=True, longest=2000),
    "dataset": text(needed=True, longest=2000),
    "ledger": text(default="budget.db"),
    "keys": text(),
    "state": text(),
    "unit": anything(default="user"),
    "max_periods": anything(),
    "source": _of_kind(_SOURCES),
    "fields": table(_open("time user value group id time_unit", "time"), needed=True),
    "windows": table(_open("every start timezone lateness skew horizon", "every"), needed=True),
    "measure": table(
        {
            **_open("clip at_most groups max_groups"),
            "discover": table(_open("max_keys max_groups looks longest delta")),
        },
        default=True,
    ),
    "stream": table(_open("workload share epsilon delta level", "epsilon")),
    "alert": table(_open("above below max_alerts epsilon value_epsilon noise", "epsilon")),
    "clock": table({"jump": text()}, default=True),
    "spark": table(
        {
            "checkpoint": text(needed=True, longest=2000),
            "master": text(longest=2000),
            "partitions": whole(least=1),
            "every": text(longest=100),
            "options": options(),
        }
    ),
    "metrics": table({"port": whole(needed=True), "address": text(), "owner": truth()}),
    "sinks": rows(_of_kind(_SINKS)),
}


@dataclass(frozen=True)
class LiveSettings:
    """What a file of settings says: by key what stands at its top, and each table by its name."""

    said: Section

    @property
    def name(self) -> str:
        """The name of the stream."""
        return str(self.said["name"])

    @property
    def state(self) -> Path:
        """Where the state is kept: beside the ledger's file unless told otherwise."""
        if "state" in self.said:
            return Path(self.said["state"])
        if "://" in self.said["ledger"]:
            raise self.said.wrong("state", "given where the ledger is a database: a file for what must not be lost")
        return Path(f"{self.said['ledger']}.{quote(self.name, safe='')}.live")

    @property
    def spark(self) -> Section | None:
        """How it runs on Spark; None where this process counts."""
        return self.said.get("spark")  # type: ignore[no-any-return]  # as it is declared

    def fields(self) -> Fields:
        """Return which fields of a record say what."""
        from chronodp.live import Fields

        with self.said.pointing():
            return Fields(**self.said["fields"], timezone=self.said["windows"].get("timezone", "UTC"))

    @property
    def discovers(self) -> bool:
        """Whether keys are found that nobody declared."""
        return "discover" in self.said["measure"]

    def limits(self, start: str) -> Limits | KeyLimits:
        """Return who is protected and how far one person reaches; windows begin at ``start``."""
        from chronodp.live import Limits, Windows

        if self.discovers:
            return self._key_limits(start)
        fields, measure, grid = self.fields(), self.said["measure"], dict(self.said["windows"])
        horizon = grid.pop("horizon", None)
        if "clip" in measure and fields.value is None:
            raise self.said["fields"].wrong("value", "the name of the field to add up, where clip is given")
        if "clip" not in measure and fields.value is not None:
            raise measure.wrong("clip", "given where a value is added up, such as clip = [0.0, 5.0]")
        groups = measure.get("groups", [])
        if not isinstance(groups, list) or not all(isinstance(key, str | int) for key in groups):
            raise measure.wrong("groups", "a list of public keys")
        if bool(groups) != (fields.group is not None):
            raise measure.wrong("groups", "given with `group` in [fields], and only with it")
        clip = measure.get("clip")
        with self.said.pointing():
            return Limits(
                parse_record_unit(self.said["unit"]),
                Windows(**{**grid, "start": start, "count": horizon}),
                clip=tuple(clip) if isinstance(clip, list) else clip,
                at_most=None if clip is not None else measure.get("at_most", 1),
                max_periods=self.said.get("max_periods"),
                groups=tuple(str(key) for key in groups),
                max_groups=measure.get("max_groups", 1),
                people=fields.user is not None,
                ids=fields.id is not None,
            )

    def _key_limits(self, start: str) -> KeyLimits:
        """Return how many keys of one person count, where keys are found."""
        from chronodp.live import KeyLimits, Windows

        fields, measure, grid = self.fields(), self.said["measure"], dict(self.said["windows"])
        horizon = grid.pop("horizon", None)
        for name in ("clip", "at_most", "groups", "max_groups"):
            if name in measure:
                raise measure.wrong(name, "left out with discover: people are counted, under keys that are found")
        for name in ("group", "user"):
            if getattr(fields, name) is None:
                raise self.said["fields"].wrong(name, "the name of a field, where keys are found: people are counted")
        for name in ("value", "id"):
            if getattr(fields, name) is not None:
                raise self.said["fields"].wrong(name, "left out with discover: a person counts once under a key")
        for name in ("max_periods", "alert"):
            if name in self.said:
                raise self.said.wrong(name, "left out with discover")
        asked = {name: value for name, value in measure["discover"].items() if name != "delta"}
        with self.said.pointing():
            return KeyLimits(
                parse_record_unit(self.said["unit"]), Windows(**{**grid, "start": start, "count": horizon}), **asked
            )

    def _key_design(self, limits: KeyLimits) -> KeyStreamDesign:
        """Return the stream that finds keys."""
        stream = self.said.get("stream")
        if stream is None:
            raise self.said.wrong("stream", "given: a table with epsilon and delta")
        for name in ("workload", "share"):
            if name in stream:
                raise stream.wrong(name, "left out with discover: people so far are told")
        if "delta" not in stream:
            raise stream.wrong(
                "delta", "given: a key that only one person holds may be published, with at most this probability"
            )
        with self.said.pointing(but=("key_delta",)):
            return limits.design(
                epsilon=stream["epsilon"],
                delta=stream["delta"],
                key_delta=self.said["measure"]["discover"].get("delta"),
            )

    def streams(self, limits: Limits | KeyLimits, ledger: Ledger) -> list[TotalsStream]:
        """Open, or go on with, what is released; all terms are checked before the first one pays."""
        from chronodp.live import KeyLimits, alert_design, open_streams, stream_design

        designs: dict[str, Any] = {}
        stream, alert = self.said.get("stream"), self.said.get("alert")
        if isinstance(limits, KeyLimits):
            designs[self.name] = self._key_design(limits)
        elif stream is not None:
            share = stream.get("share")
            with stream.pointing():
                designs[self.name] = stream_design(
                    limits,
                    workload=parse_workload(stream.get("workload", "each_period" if share else "running_total")),
                    share=None if share is None else parse_share(share),
                    epsilon=stream["epsilon"],
                    delta=stream.get("delta", 0.0),
                )
        if alert is not None and not isinstance(limits, KeyLimits):
            with alert.pointing():
                noise = parse_noise(alert.get("noise", "exponential"))
                designs[f"{self.name}.alert"] = alert_design(limits, **{"max_alerts": 1, **alert, "noise": noise})
        if not designs:
            raise self.said.wrong("stream", "given, or alert: a table that says what is released")
        with self.said.pointing():
            check_fraction("level", self.level)
            return open_streams(designs, ledger=ledger, dataset=self.said["dataset"])

    @property
    def level(self) -> float:
        """How often intervals hold the value before noise."""
        wanted: float = self.said.get("stream", {}).get("level", 0.95)
        return wanted

    @property
    def jump(self) -> str:
        """The largest change of the clock that is believed at once."""
        from chronodp.live import parse_duration

        wanted = str(self.said["clock"].get("jump", "10s"))
        with self.said.pointing():
            parse_duration("jump", wanted)
        return wanted

    @property
    def status(self) -> Path:
        """Where the process that runs says how it is."""
        return self.state.with_name(f"{self.state.name}.status")

    def reader(self, limits: Limits | KeyLimits) -> Reader:
        """Return what reads records."""
        from chronodp.live import KeyLimits, Reader

        longest = limits.longest if isinstance(limits, KeyLimits) else None
        return Reader(self.fields(), groups=limits.groups, longest=longest)

    def source(self, reader: Reader) -> Source:
        """Return where records come from."""
        from chronodp.live.sources import FileSource, KafkaSource, MqttSource

        given = dict(self.said["source"])
        kind = given.pop("kind")
        who = f"chronodp-{self.name}"
        match kind:
            case "kafka":
                return KafkaSource(given.pop("topic"), reader=reader, **{"group": who, **given})
            case "mqtt":
                return MqttSource(given.pop("topic"), reader=reader, **{"client": who, **given})
        return FileSource(given.pop("path"), reader=reader, **given)

    def make_sinks(self) -> list[Sink]:
        """Return where releases go."""
        from chronodp.live.sinks import CsvSink, KafkaSink, MqttSink, ParquetSink

        made: list[Sink] = []
        for number, sink in enumerate(self.said["sinks"]):
            given = dict(sink)
            kind = given.pop("kind")
            match kind:
                case "kafka":
                    made.append(KafkaSink(given.pop("topic"), **given))
                case "mqtt":
                    client = f"chronodp-{self.name}-sink-{number}"
                    made.append(MqttSink(given.pop("topic"), **{"client": client, **given}))
                case "csv":
                    made.append(CsvSink(given["path"]))
                case _:
                    made.append(ParquetSink(given["path"]))
        return made


def read_settings(path: Path) -> LiveSettings:
    """Return the settings in a file; what is unknown, missing or of the wrong kind is named."""
    return LiveSettings(load_settings("settings", path, _LIVE))
