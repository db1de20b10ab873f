"""The door of curators: a question as JSON, planned over the API and released by its runner, in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pandas
from tests.contracts.combinations.questions import EVERY, LEVELS, SPAN, TERMS, Question, Unsaid
from tests.contracts.combinations.tables import PEOPLE, rows
from tests.contracts.combinations.trying import check_numbers

from chronodp.errors import ServiceError
from chronodp.service.app import make_app
from chronodp.service.curator import Caller, Curator
from chronodp.service.pacing import Unpaced
from chronodp.service.policy_file import read_policy
from chronodp.service.question import QueryRequest
from chronodp.service.runner import Runner
from chronodp.service.tokens import add_token

__all__ = ["Curators"]

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
