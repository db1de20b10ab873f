"""The door of commands: a question as flags, or as a file where two are asked, released in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pandas
from tests.contracts.combinations.features import MEASURES
from tests.contracts.combinations.questions import EVERY, LEVELS, SPAN, TERMS, Question, Unsaid, question_of
from tests.contracts.combinations.tables import dataset_of, rows
from tests.contracts.combinations.trying import check_numbers
from typer.testing import CliRunner

from chronodp.cli.asking import Asked
from chronodp.cli.shell import app
from chronodp.cli.workload import plan_workload

__all__ = ["Commands", "run", "unit_text", "written"]

_RUNNER = CliRunner(env={"COLUMNS": "160", "TERM": "dumb", "NO_COLOR": "1"})
_NO_FLAG = "there is no option for"


def unit_text(question: Question) -> str:
    """Return the unit as commands and files write it; other doors are tried for whole persons."""
    return "user" if question.unit.relation == "add_remove" else "user/replace"


def run(*arguments: str) -> str:
    """Run a command in this process; a refusal is raised as it is, and what Typer itself refuses has its words."""
    result = _RUNNER.invoke(app, arguments, catch_exceptions=False)
    if result.exit_code:
        raise Unsaid(" ".join(result.output.split()))
    return result.output


class Commands:
    """``chronodp release`` and ``lifetime`` with flags, or with a TOML file where several questions are asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        pandas.DataFrame(rows()).to_parquet(folder / "rows.parquet")

    def plan(self, question: Question) -> None:
        """Plan a question as the command does once its flags are read."""
        if question.ways == ["lifetime"]:
            life = ("--dataset", dataset_of(question.unit), "--name", "life", "--tally", "life.tally", "--dry-run")
            run("lifetime", "open", *_flags(self.shared(question) | self.options(question)), *life)
            return
        first, *flags = self.arguments(question)
        if not flags:
            plan_workload(Asked({"data": first}))
            return
        options = {"data": first, **self.shared(question), **self.options(question)}
        Asked(options).plan()

    def release(self, question: Question, request: str) -> None:
        """Release a question, and check its numbers."""
        ledger = ("--ledger", str(self.folder / "budget.db"), "--json")
        paid = ("--dataset", dataset_of(question.unit), *ledger)
        if question.ways == ["lifetime"]:
            life = ("--name", request, "--tally", str(self.folder / f"{request}.tally"))
            run("lifetime", "open", *_flags(self.shared(question) | self.options(question)), *paid, *life)
            dates = ("--start", SPAN[0], "--end", SPAN[1], "--request", request)
            said = json.loads(run("lifetime", "issue", str(self.folder / "rows.parquet"), *life, *dates, *ledger))
        else:
            said = json.loads(run("release", *self.arguments(question), "--request", request, *paid))
        shown = pandas.read_json(StringIO(json.dumps(said["series"])), orient="records")
        check_numbers(shown, found="keys" in said)

    def arguments(self, question: Question) -> list[str]:
        """Return what stands after the command's name."""
        options = self.shared(question)
        data = str(self.folder / "rows.parquet")
        if not question.ways:
            return [data, *_flags(options | self.options(question))]
        if question.ways != ["plan_together"]:
            raise Unsaid(f"{_NO_FLAG} {question.ways[-1]}")
        beside = self.options(question.beside or question_of([MEASURES[1]], question.unit))
        text = _toml({**options, "data": data}, {"it": self.options(question), "beside": beside})
        path = self.folder / "together.toml"
        path.write_text(text, encoding="utf-8")
        return [str(path)]

    def shared(self, question: Question) -> dict[str, Any]:
        """Return what every question says of the table, and its price."""
        table = {"time": "at", "user": "who", "every": EVERY, "start": SPAN[0], "end": SPAN[1]}
        return {**table, "unit": unit_text(question), **TERMS}

    def options(self, question: Question) -> dict[str, Any]:
        """Return the options of a question, by name."""
        said = dict(question.measure)
        kind = said.pop("kind")
        options: dict[str, Any] = {kind: said.pop("column", said.pop("window", True)), **_clips_of(said)}
        if question.find:
            options["find"] = list(question.find)
        if {"clip", "edges"} & set(question.find):
            options["find_from_zero"] = True
        if question.max_periods is not None:
            options["max_periods"] = question.max_periods
        for column, keys in question.by.items():
            if isinstance(keys, Mapping):
                options |= {"discover": column, **(keys if question.unit.whole_person else {})}
            else:
                options["by"] = {column: list(keys)}
        if question.places is not None:
            path = self.folder / "places.csv"
            pandas.DataFrame(question.places, columns=LEVELS).to_csv(path, index=False)
            options |= {"places": str(path), "levels": ",".join(LEVELS)}
        for block in question.blocks:
            options[block["statistic"]] = block["every"]
        if question.where is not None:
            options["where"] = question.where
        if question.columns:
            options["column"] = question.columns
        if question.missing is not None:
            options["missing"] = question.missing["share"]
        if question.tuned_for is not None:
            raise Unsaid(f"{_NO_FLAG} tuned_for")
        return options


def _clips_of(said: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of a measure, clips of keys by the option that they have."""
    if not isinstance(said.get("clip"), Mapping):
        return said
    clips = said.pop("clip")
    return {**said, "clip_of": [f"{key}={low},{high}" for key, (low, high) in clips.items()]}


def _flags(options: Mapping[str, Any]) -> list[str]:
    """Return options as flags."""
    flags: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        match value:
            case True:
                flags.append(flag)
            case dict():
                for key, said in value.items():
                    flags += [flag, f"{key}={','.join(said) if isinstance(said, list) else said}"]
            case list():
                for one in value:
                    flags += [flag, str(one)]
            case tuple() if name in ("edges", "fractions"):
                flags += [flag, ",".join(map(str, value))]
            case tuple():
                flags += [flag, *map(str, value)]
            case _:
                flags += [flag, str(value)]
    return flags


def _toml(top: Mapping[str, Any], queries: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a file of several questions."""
    lines = [f"{name} = {written(value)}" for name, value in top.items()]
    for query, options in queries.items():
        lines += [f"[queries.{query}]", *(f"{name} = {written(value)}" for name, value in options.items())]
    return "\n".join(lines) + "\n"


def written(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {written(one)}" for name, one in value.items()) + "}"
    return json.dumps(value)
