"""The settings of a live stream: a TOML file with a table for each part, checked before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from chronodp.cli.stream import parse_share, parse_workload
from chronodp.cli.watch import parse_noise
from chronodp.errors import InvalidArgument
from chronodp.privacy.parameters import check_fraction
from chronodp.privacy.unit_text import parse_record_unit
from chronodp.reading import read_toml

if TYPE_CHECKING:
    from chronodp.ledger import Ledger
    from chronodp.live import Limits, TotalsStream
    from chronodp.live.records import Fields, Reader
    from chronodp.live.sinks import Sink
    from chronodp.live.sources import Source

__all__ = ["LiveSettings", "read_settings"]

_NAMES = ("name", "dataset", "ledger", "keys", "state", "unit", "max_periods")
_TABLES = {
    "fields": ("time", "user", "value", "group", "id", "time_unit"),
    "windows": ("every", "start", "timezone", "lateness", "skew", "horizon"),
    "measure": ("clip", "at_most", "groups", "max_groups"),
    "stream": ("workload", "share", "epsilon", "delta", "level"),
    "alert": ("above", "below", "max_alerts", "epsilon", "value_epsilon", "noise"),
    "metrics": ("port", "address", "owner"),
}
_SOURCES = {
    "kafka": (("servers", "topic"), ("group", "options")),
    "mqtt": (("host", "topic"), ("port", "client", "username", "password", "secure")),
    "file": (("path",), ("layout",)),
}
_SINKS = {
    "kafka": (("servers", "topic"), ("options",)),
    "mqtt": (("host", "topic"), ("port", "client", "username", "password", "secure")),
    "csv": (("path",), ()),
    "parquet": (("path",), ()),
}


@dataclass(frozen=True)
class LiveSettings:
    """What a file of settings says.

    Attributes:
        top: what stands above all tables.
        tables: each table by its name.
        sinks: the tables of sinks.
    """

    top: dict[str, Any]
    tables: dict[str, dict[str, Any]]
    sinks: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """The name of the stream."""
        return str(self.top["name"])

    @property
    def state(self) -> Path:
        """Where the state is kept: beside the ledger's file unless told otherwise."""
        if "state" in self.top:
            return Path(self.top["state"])
        if "://" in self.top["ledger"]:
            raise InvalidArgument(
                "state", None, "given where the ledger is a database: a file for what must not be lost"
            )
        return Path(f"{self.top['ledger']}.{quote(self.name, safe='')}.live")

    def fields(self) -> Fields:
        """Return which fields of a record say what."""
        from chronodp.live.records import Fields

        zone = self.tables["windows"].get("timezone", "UTC")
        return Fields(**{"time": None, **self.tables["fields"]}, timezone=zone)

    def limits(self, start: str) -> Limits:
        """Return who is protected and how far one person reaches; windows begin at ``start``."""
        from chronodp.live import Limits, Windows

        fields, measure, grid = self.fields(), self.tables["measure"], dict(self.tables["windows"])
        horizon = grid.pop("horizon", None)
        if "clip" in measure and fields.value is None:
            raise InvalidArgument("value in [fields]", None, "the name of the field to add up, where clip is given")
        if "clip" not in measure and fields.value is not None:
            raise InvalidArgument(
                "clip in [measure]", None, "given where a value is added up, such as clip = [0.0, 5.0]"
            )
        groups = measure.get("groups", [])
        if not isinstance(groups, list) or not all(isinstance(key, str | int) for key in groups):
            raise InvalidArgument("groups in [measure]", None, "a list of public keys")
        if bool(groups) != (fields.group is not None):
            raise InvalidArgument("groups in [measure]", None, "given with `group` in [fields], and only with it")
        clip = measure.get("clip")
        return Limits(
            parse_record_unit(self.top.get("unit", "user")),
            Windows(**{**grid, "start": start, "count": horizon}),
            clip=tuple(clip) if isinstance(clip, list) else clip,
            at_most=None if clip is not None else measure.get("at_most", 1),
            max_periods=self.top.get("max_periods"),
            groups=tuple(str(key) for key in groups),
            max_groups=measure.get("max_groups", 1),
            people=fields.user is not None,
            ids=fields.id is not None,
        )

    def streams(self, limits: Limits, ledger: Ledger) -> list[TotalsStream]:
        """Open, or go on with, what is released; all terms are checked before the first one pays."""
        from chronodp.live import alert_design, open_streams, stream_design

        designs: dict[str, Any] = {}
        stream, alert = self.tables.get("stream"), self.tables.get("alert")
        if stream is not None:
            share = stream.get("share")
            designs[self.name] = stream_design(
                limits,
                workload=parse_workload(stream.get("workload", "each_period" if share else "running_total")),
                share=None if share is None else parse_share(share),
                epsilon=_needed(stream, "epsilon", "stream"),
                delta=stream.get("delta", 0.0),
            )
        if alert is not None:
            _needed(alert, "epsilon", "alert")
            noise = parse_noise(alert.get("noise", "exponential"))
            designs[f"{self.name}.alert"] = alert_design(limits, **{"max_alerts": 1, **alert, "noise": noise})
        if not designs:
            raise InvalidArgument("stream", None, "given, or alert: a table that says what is released")
        check_fraction("level", self.level)
        return open_streams(designs, ledger=ledger, dataset=self.top["dataset"])

    @property
    def level(self) -> float:
        """How often intervals hold the value before noise."""
        wanted: float = self.tables.get("stream", {}).get("level", 0.95)
        return wanted

    def source(self, reader: Reader) -> Source:
        """Return where records come from."""
        from chronodp.live.sources import FileSource, KafkaSource, MqttSource

        given = dict(self.tables["source"])
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
        for number, table in enumerate(self.sinks):
            given = dict(table)
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
    content = read_toml("settings", path)
    sinks = content.pop("sinks", [])
    if not isinstance(sinks, list) or not all(isinstance(sink, dict) for sink in sinks):
        raise InvalidArgument("sinks", None, "tables [[sinks]], one for each")
    tables = {name: content.pop(name) for name in ("source", *_TABLES) if name in content}
    _check_keys("", content, _NAMES, others=("source", *_TABLES))
    for name in ("name", "dataset"):
        if not isinstance(content.get(name), str) or not content[name]:
            raise InvalidArgument(name, content.get(name), "given, at the top of the file")
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise InvalidArgument(name, None, f"a table [{name}]")
        if name in _TABLES:
            _check_keys(name, table, _TABLES[name])
    for name in ("source", "fields", "windows"):
        if name not in tables:
            raise InvalidArgument(name, None, f"given: a table [{name}]")
    tables.setdefault("measure", {})
    _needed(tables["windows"], "every", "windows")
    _needed(tables["fields"], "time", "fields")
    _check_kind("source", tables["source"], _SOURCES)
    for sink in sinks:
        _check_kind("sinks", sink, _SINKS)
    if "metrics" in tables:
        _needed(tables["metrics"], "port", "metrics")
        _check_types("metrics", tables["metrics"])
    return LiveSettings({"ledger": "budget.db", **content}, tables, sinks)


def _check_kind(where: str, table: dict[str, Any], kinds: dict[str, Any]) -> None:
    kind = table.get("kind")
    if kind not in kinds:
        raise InvalidArgument(f"kind in [{where}]", kind, f"one of {', '.join(kinds)}")
    needed, others = kinds[kind]
    for key in needed:
        _needed(table, key, where)
    _check_keys(where, table, ("kind", *needed, *others))
    _check_types(where, table)


def _check_types(where: str, table: dict[str, Any]) -> None:
    kinds = {"port": (int, "a whole number"), "secure": (bool, "true or false"), "owner": (bool, "true or false")}
    for key, value in table.items():
        kind, allowed = kinds.get(key, (dict, "a table") if key == "options" else (str, "a text"))
        if type(value) is not kind:
            raise InvalidArgument(f"{key} in [{where}]", value, allowed, private=key == "password")


def _check_keys(where: str, table: dict[str, Any], known: tuple[str, ...], others: tuple[str, ...] = ()) -> None:
    unknown = sorted(table.keys() - set(known))
    if unknown:
        place = f"{unknown[0]} in [{where}]" if where else unknown[0]
        raise InvalidArgument(place, table[unknown[0]], f"one of {', '.join((*known, *others))}", private=True)


def _needed(table: dict[str, Any], key: str, where: str) -> Any:
    if table.get(key) is None:
        raise InvalidArgument(f"{key} in [{where}]", None, "given")
    return table[key]
