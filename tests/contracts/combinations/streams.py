"""The door of live streams: a question as a file of settings, run on windows that are over."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas
from tests.contracts.combinations.commands import run, unit_text, written
from tests.contracts.combinations.questions import TERMS, Question
from tests.contracts.combinations.tables import dataset_of, rows
from tests.contracts.combinations.trying import check_numbers

__all__ = ["LiveStreams"]


class LiveStreams:
    """``chronodp live`` with a file of settings, on windows that are over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def release(self, question: Question, request: str) -> None:
        """Run a stream to its end, and check its numbers."""
        folder = self.folder / request.replace("`", "").replace(" ", "-").replace("/", "-")
        folder.mkdir()
        begin = int(time.time()) - 30
        people = [
            {**{name: row[name] for name in ("who", "kwh", "region", "town", "page")}, "at": begin + 0.5 + day}
            for row in rows()
            for day in [(row["at"].day - 1)]
        ]
        (folder / "in.jsonl").write_text("".join(json.dumps(one) + "\n" for one in people), encoding="utf-8")
        path = folder / "live.toml"
        path.write_text(_settings(question, folder, begin, str(self.folder / "budget.db")), encoding="utf-8")
        told = [json.loads(line) for line in run("live", str(path), "--json").splitlines() if line.startswith("{")]
        check_numbers(pandas.DataFrame(told), found=any(isinstance(keys, Mapping) for keys in question.by.values()))


def _settings(question: Question, folder: Path, begin: int, ledger: str) -> str:
    """Return the settings of a question; what has no name among them is written as it is called elsewhere."""
    fields, measure = {"time": "at", "user": "who"}, _measure(question)
    if question.measure["kind"] == "sum":
        fields["value"] = question.measure["column"]
    if question.by:
        fields["group"] = next(iter(question.by))
    discovers = "discover" in measure
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin))
    tables: dict[str, dict[str, Any]] = {
        "source": {"kind": "file", "path": str(folder / "in.jsonl")},
        "fields": fields,
        "windows": {"every": "1s", "lateness": "100ms", "start": start, "horizon": 4},
        "measure": measure,
        "stream": {**TERMS, **({} if discovers else (question.tuned_for or {"kind": "each_period"}))},
    }
    tables["stream"] = {name.replace("kind", "workload"): value for name, value in tables["stream"].items()}
    top: dict[str, Any] = {"name": folder.name, "dataset": dataset_of(question.unit), "ledger": ledger}
    top["unit"] = unit_text(question)
    if question.max_periods is not None and not discovers:
        top["max_periods"] = question.max_periods
    lines = [f"{name} = {written(value)}" for name, value in top.items()]
    for name, content in tables.items():
        lines += [f"[{name}]", *(f"{key} = {written(value)}" for key, value in content.items())]
    return "\n".join(lines) + "\n"


def _measure(question: Question) -> dict[str, Any]:
    """Return what is asked of each window."""
    said = {name: value for name, value in question.measure.items() if name not in ("kind", "column", "window")}
    if (kind := question.measure["kind"]) not in ("sum", "count"):
        said = {kind: True, **said}
    for keys in question.by.values():
        said |= {"discover": {**keys, "looks": 2}} if isinstance(keys, Mapping) else {"groups": keys}
    said |= {block["statistic"]: block["every"] for block in question.blocks}
    said |= dict.fromkeys(question.ways, True)
    others = ("find", "places", "where", "columns", "missing")
    return said | {name: getattr(question, name) for name in others if getattr(question, name)}
