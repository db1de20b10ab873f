"""Every door, and all trials: a question as flags or a file of settings, as JSON to a curator, and as a live stream."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pandas
from tests.contracts.combinations.asking import (
    EVERY,
    LEVELS,
    PEOPLE,
    SPAN,
    TERMS,
    Combination,
    InMemory,
    Outcome,
    Question,
    Unsaid,
    check_numbers,
    combinations,
    dataset_of,
    ledger_in,
    named,
    planned,
    question_of,
    rows,
    tried,
)
from tests.contracts.combinations.features import FEATURES, MEASURES, UNITS, Feature
from tests.contracts.combinations.page import page
from typer.testing import CliRunner

import chronodp as cdp
from chronodp.cli.asking import Asked
from chronodp.cli.shell import app
from chronodp.cli.workload import plan_workload
from chronodp.errors import ServiceError
from chronodp.privacy.units import RecordUnit
from chronodp.service.app import make_app
from chronodp.service.curator import Caller, Curator
from chronodp.service.pacing import Unpaced
from chronodp.service.policy_file import read_policy
from chronodp.service.question import QueryRequest
from chronodp.service.runner import Runner
from chronodp.service.tokens import add_token

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
        text = _toml({**options, "data": data}, {"queries.it": self.options(question), "queries.beside": beside})
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


def _toml(top: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a file of settings."""
    lines = [f"{name} = {written(value)}" for name, value in top.items()]
    for table, content in tables.items():
        lines += [f"[{table}]", *(f"{name} = {written(value)}" for name, value in content.items())]
    return "\n".join(lines) + "\n"


def written(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {written(one)}" for name, one in value.items()) + "}"
    return json.dumps(value)


_DATASET = """
[datasets.{name}]
source = "{source}"
other_people = true
time = "at"
user = "who"
every = "{every}"
start = "{start}"
end = "{end}"
unit = "{unit}"
max_periods = 2
people = {people}
epsilon = 1e6
delta = 0.1
reserve = 0.05

[datasets.{name}.columns.kwh]
clip = [0.0, 4.0]
[datasets.{name}.columns.twice]
clip = [0.0, 4.0]

[datasets.{name}.groups]
region = {{ north = {people}, south = {people} }}
town = {{ Ayr = {people}, Bath = {people} }}

[datasets.{name}.allow]
find = true
expression_columns = ["kwh"]
[datasets.{name}.allow.discover]
columns = ["page"]

[datasets.{name}.analysts.ana]
epsilon = 1e6
delta = 0.1
reserve = 0.05
"""


class Curators:
    """A curator whose policy allows everything, of a dataset for each relation."""

    def __init__(self, folder: Path) -> None:
        source = folder / "rows.parquet"
        pandas.DataFrame(rows()).to_parquet(source)
        terms = {"source": source.name, "every": EVERY, "start": SPAN[0], "end": SPAN[1], "people": PEOPLE}
        units = {"add_remove": "user", "replace": "user/replace"}
        text = "[service]\nrate = 1000000\n"
        text += "".join(_DATASET.format(name=name, unit=unit, **terms) for name, unit in units.items())
        (folder / "policy.toml").write_text(text, encoding="utf-8")
        self.curator = Curator(read_policy(folder / "policy.toml"), str(folder / "curator.db"))
        self.curator.open_budgets()
        self.headers = {"Authorization": f"Bearer {add_token(self.curator.store, 'ana', 'analyst')}"}
        self.app = make_app(self.curator)

    def close(self) -> None:
        """Close the curator's ledger."""
        self.curator.close()

    def _call(self, method: str, path: str, content: object = None) -> httpx.Response:
        """Ask the application as a browser does, without a network."""

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://curator") as client:
                return await client.request(method, f"/api/v1{path}", json=content, headers=self.headers)

        return asyncio.run(ask())

    def plan(self, question: Question) -> tuple[str, dict[str, Any]]:
        """Plan a question over the API; return its dataset and what was asked."""
        asked, name = _json(question), question.unit.relation
        answer = self._call("POST", f"/datasets/{name}/plan", asked)
        said = answer.json()
        if answer.status_code != 200:
            assert answer.status_code < 500, said
            problem = said["error"]
            mend = "" if problem["mend"].removeprefix("give ") in problem["message"] else f": {problem['mend']}"
            raise ServiceError(problem["message"] + mend)
        return name, asked

    def release(self, question: Question, request: str) -> None:
        """Plan a question, let it be released, and check its numbers."""
        name, asked = self.plan(question)
        dataset, caller = self.curator.policy.datasets[name], Caller("ana", "analyst", "ana")
        parsed = QueryRequest.model_validate_json(json.dumps(asked))
        job, _ = self.curator.submit(caller, dataset, parsed, request=request, fresh=False)
        self._check(name, job.id, found=any(isinstance(keys, Mapping) for keys in question.by.values()))

    def _check(self, name: str, job: str, *, found: bool = False) -> None:
        """Let a job end, and check the numbers that it released."""
        assert Runner(self.curator, pace=Unpaced()).run_one()
        ended = self._call("GET", f"/jobs/{job}").json()
        assert ended["state"] == "done", ended
        table = self._call("GET", f"/datasets/{name}/releases/{ended['release']}/table").json()
        check_numbers(pandas.DataFrame(table["rows"], columns=table["columns"]), found=found)


def _json(question: Question) -> dict[str, Any]:
    """Return a question as a curator is asked."""
    if question.ways or len(question.blocks) > 1:
        raise Unsaid("a question holds one measure, and one block at most")
    by = {name: keys if isinstance(keys, Mapping) else list(keys) for name, keys in question.by.items()}
    asked: dict[str, Any] = {"measure": question.measure, "by": by, **TERMS}
    if "norm" in {*question.measure, *question.find}:
        asked["measure"] = {**question.measure, "signed": False}  # the policy's column begins at 0
    if "window" in question.measure:
        asked["start"] = "2026-01-03"  # rows before the start are read too, and data begin on the first
    if question.places is not None:
        leaves = [leaf for _, leaf in question.places]
        by[LEVELS[-1]] = leaves
        asked["places"] = {
            "column": LEVELS[-1],
            "names": list(LEVELS),
            "keys": [[question.places[0][0]]],
            "children": [[len(leaves)]],
        }
    if question.find:
        asked["find"] = {"bounds": question.find, "from_zero": bool({"clip", "edges"} & set(question.find))}
    if question.blocks:
        asked["block"] = question.blocks[0]
    for name in ("where", "columns", "missing", "tuned_for"):
        if getattr(question, name):
            asked[name] = getattr(question, name)
    return asked


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
    return _toml(top, tables)


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


Doors = dict[str, dict[Feature, Outcome]]

SPARK: tuple[tuple[str, ...], ...] = (
    ("sum", "`Find` of clip", "`Find` of max_periods", "`Find` of max_groups", "`Missing`", "public keys"),
    ("count of rows", "`Find` of at_most", "`where`"),
    ("sum within a norm", "`Find` of a norm", "a derived column"),
    ("mean of rows", "`Discover`"),
    ("mean of people", "public keys", "a clip for each key"),
    ("mean of totals", "variance"),
    ("mean of totals, `people=`",),
    ("histogram of people", "`Places`"),
    ("histogram of rows", "quantiles of people"),
    ("histogram of rows", "`Find` of edges"),
    ("quantiles of rows", "`where`"),
    ("active people", "`plan_together` with a count"),
    ("count of people", "tuned for running totals"),
    ("sum", "peaks of blocks"),
    ("sum", "totals of blocks"),
    ("sum", "a lifetime series"),
)
"""What Spark is asked: few questions, since it compiles each one, that have every feature between them."""


def every_plan(units: int = len(UNITS)) -> dict[RecordUnit, dict[Combination, Outcome]]:
    """Return what came of planning each feature under every unit, and each pair under ``units`` of them, by turns.

    Whatever breaks is raised.
    """
    data, engine = rows(), InMemory()
    return {
        unit: {
            one: planned(one, unit, data, engine)
            for number, one in enumerate(combinations())
            if len(one) == 1 or (number + place) % len(UNITS) < units
        }
        for place, unit in enumerate(UNITS)
    }


def unit_for(features: Sequence[Feature]) -> RecordUnit:
    """Return the unit for which other doors and engines are tried: whole persons, replaced where that is needed."""
    public = any("people" in feature.says.get("measure", {}) for feature in features)
    return cdp.User("replace") if public else cdp.User()


def every_door(askers: int = 2) -> Doors:
    """Return what came of each feature at the doors: released there, refused, or without words.

    Of commands and the curator, which release nearly all, each feature is asked at ``askers``, by turns; live streams
    refuse most at once.
    """
    folder = Path(tempfile.mkdtemp())
    try:
        ledger_in(folder).close_connection()
        curators = Curators(folder)
        doors: dict[str, Any] = {"commands": Commands(folder), "curator": curators, "live": LiveStreams(folder)}
        found = {
            name: {
                one: _at(door, one)
                for number, one in enumerate(FEATURES)
                if name == "live" or (number + place) % 2 < askers
            }
            for place, (name, door) in enumerate(doors.items())
        }
        curators.close()
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _at(door: Any, feature: Feature) -> Outcome:
    """Return what came of a feature at a door; a change is tried on a count where a sum does not take it."""
    unit = unit_for([feature])
    first = tried(lambda: door.release(question_of([feature], unit), named([feature])))
    if first.state == "works" or feature.measures or feature.needs:
        return first
    counted = [MEASURES[1], feature]
    second = tried(lambda: door.release(question_of(counted, unit), named(counted)))
    return second if second.state == "works" else first


def written_page(plans: dict[RecordUnit, dict[Combination, Outcome]], doors: Doors) -> str:
    """Return the page as it should be, of all plans and all doors."""
    library = {one: plans[unit_for([one])][(one,)] for one in FEATURES}
    asked = {name for names in SPARK for name in names}
    spark = {one: library[one] for one in FEATURES if one.name in asked}
    return page(plans, {"DuckDB": library, "Spark": spark, "plain Python": library, **doors})
