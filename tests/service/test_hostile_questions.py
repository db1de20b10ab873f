"""Questions at the edges of what JSON and the API's description can say: answered or refused, never a failure."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.conftest import SCALE
from tests.service.town import API, COUNT, ROOT, SUM, House, house_of, open_house, write_policy

pytestmark = pytest.mark.slow
NAMES = ["self", "cls", "kwargs", "__class__", "max_groups", "focus", "places", "level", "time"]
NAMES += ["kwh", "region", "meter"]
HOSTILE = [
    *("", " ", "\u202e", "\x1b[2J", "a\nb", "<b>", "'; --", "\ufeff", "x" * 300, "名前", "%s{0}"),
    *("2026-13-01", "-1D", "1e9"),
]
ALLOW = """
measures = ["count", "sum", "mean", "variance", "histogram", "quantiles", "active", "total", "peak", "trough"]
workloads = ["each_period", "running_total", "rolling", "ewm", "filter", "hierarchy"]
find = true
expression_columns = ["kwh", "region"]
expression_functions = ["case", "floor", "abs"]
"""
EXTREMES = [
    *(0.0, -0.0, 5e-324, 1e-300, 1e-60, 1e-9, 0.1, 0.5, 1 - 2**-53, 1.0, 3.0, 1e5, 1e60, 1e155, 1e300, 1.7e308),
    *(-1.0, -1e300),
]
WHOLES = [0, 1, 2, 24, 48, 49, 2**30, 2**31, 2**63, 10**30, -1]
numbers = st.sampled_from(EXTREMES) | st.floats(allow_nan=False, allow_infinity=False)
wholes = st.sampled_from(WHOLES)
lengths = st.sampled_from(["1h", "1D", "48h", "1W", "1mo", "999999Y", "0h", "1 h", ""])
moments = st.sampled_from(["2026-01-01", "2026-01-02T05:00", "2026-01-03", "0001-01-01", "9999-12-31", "x", ""])
texts = st.sampled_from(NAMES + HOSTILE) | st.text(max_size=12)
keys = st.lists(st.sampled_from(["north", "south"]) | texts, max_size=3)
ends = st.lists(numbers, min_size=1, max_size=3)
anything = st.recursive(
    st.none() | st.booleans() | numbers | wholes | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
MEASURES: list[dict[str, Any]] = [
    {"kind": "count"},
    {"kind": "sum", "column": "kwh", "clip": [0.0, 3.0]},
    {"kind": "mean", "of": "people", "column": "kwh", "clip": [0.0, 3.0]},
    {"kind": "variance", "column": "kwh", "clip": [0.0, 3.0]},
    {"kind": "histogram", "column": "kwh", "edges": [0.0, 1.0, 3.0]},
    {"kind": "quantiles", "column": "kwh", "edges": [0.0, 1.0, 3.0], "fractions": [0.5]},
    {"kind": "active", "window": "7h"},
]
ARGUMENTS: dict[str, st.SearchStrategy[Any]] = {
    "norm": numbers,
    "window": lengths,
    "signed": st.booleans(),
    "self": anything,
}
ARGUMENTS |= dict.fromkeys(("clip", "edges", "fractions"), ends) | dict.fromkeys(("column", "of"), texts)
ARGUMENTS |= dict.fromkeys(("at_most", "max_stays"), wholes)
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "by": st.dictionaries(texts, keys | st.fixed_dictionaries({"max_keys": wholes}), max_size=2),
    "places": st.fixed_dictionaries(
        {"column": st.sampled_from(["region", "self"]), "names": keys, "keys": st.lists(keys, max_size=2)},
        optional={"children": st.lists(st.lists(wholes, max_size=2), max_size=2), "weights": ends},
    ),
    "every": lengths,
    "where": texts | st.sampled_from(["kwh > 1e308*10", "kwh/0 > 1", "((kwh > 1))"]),
    "columns": st.dictionaries(texts, texts | st.sampled_from(["kwh > 3", "kwh*1e300", "kwh/0"]), max_size=2),
    "block": st.fixed_dictionaries({"statistic": st.sampled_from(["total", "peak", "trough"]), "every": lengths}),
    "tuned_for": st.fixed_dictionaries(
        {"kind": st.sampled_from(["running_total", "rolling", "ewm", "filter", "hierarchy"])},
        optional={"periods": wholes, "alpha": numbers, "weights": ends, "levels": st.lists(wholes, max_size=2)},
    ),
    "find": st.fixed_dictionaries(
        {"bounds": st.lists(st.sampled_from(["clip", "at_most", "max_periods"]), max_size=2)},
        optional={"share": numbers, "between": ends, "from_zero": st.booleans()},
    ),
    "missing": st.fixed_dictionaries({"share": numbers}),
    "self": anything,
}
FIELDS |= dict.fromkeys(("max_groups", "max_periods"), wholes) | dict.fromkeys(("epsilon", "delta"), numbers)
FIELDS |= dict.fromkeys(("start", "end"), moments)


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    """A question that could be asked, with one to three of its parts at an edge; now and then of any shape."""
    measure = dict(draw(st.sampled_from(MEASURES)))
    question: dict[str, Any] = {"measure": measure, "epsilon": 0.5, "delta": 1e-7}
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            name = draw(st.sampled_from([*measure][1:] or ["at_most"]) | st.sampled_from([*ARGUMENTS]))
            measure[name] = draw(ARGUMENTS[name] | anything if draw(st.integers(0, 4)) == 0 else ARGUMENTS[name])
        else:
            name = draw(st.sampled_from([*FIELDS]))
            question[name] = draw(anything if draw(st.integers(0, 4)) == 0 else FIELDS[name])
    return question


def edges(folder: Path) -> Path:
    changes = {"least_group = 15": ALLOW, "epsilon = 10.0": "epsilon = 1e6"}
    return write_policy(folder, epsilon=1e5, parts={"ana": 1e5}, changes=changes)


def first(house: House) -> None:
    question = {"measure": MEASURES[1], "by": {"region": ["north", "south"]}, "epsilon": 5.0}
    assert house.ended("ana", "first", question)["state"] == "done"


house = house_of(edges, first, scope="module")


def post(house: House, path: str, content: object, who: str = "ana") -> Any:
    """Post JSON as Python writes it, infinities and all, and return the answer, which must be no failure."""
    headers = house.headers(who) | {"Content-Type": "application/json"}
    answer = house.http.post(API + path, content=json.dumps(content), headers=headers)
    assert answer.status_code < 500, (content, answer.text)
    if answer.status_code >= 400:
        assert set(answer.json()) == {"error"}
    return answer


def fuzz(most: int, asked: st.SearchStrategy[Any], ask: Callable[[Any], object]) -> None:
    """Ask so many questions at stated counts."""
    quick = settings(max_examples=max(15, int(most * SCALE)), deadline=None, suppress_health_check=list(HealthCheck))

    @quick
    @given(asked)
    def run(question: Any) -> None:
        ask(question)

    run()


def test_plans_at_the_edges(house: House) -> None:
    def check(question: dict[str, Any]) -> None:
        answer = post(house, "/datasets/meters/plan", question)
        if answer.status_code == 200:
            plan = answer.json()
            ranks = question["measure"]["kind"] == "quantiles" or question.get("find")
            assert ranks or math.isfinite(plan["half_width"])
            assert all(math.isfinite(width) for band in plan["bands"].values() for width in band)
            for other in plan["alternatives"]:
                assert all(value is not None for name, value in other.items() if name in ("half_width", "rmse_max"))

    fuzz(2_000, questions(), check)
    fuzz(300, questions(), lambda question: post(house, "/datasets/meters/try", question))


def test_submissions_of_any_shape(house: House) -> None:
    def submit(content: object) -> None:
        for path in ("/datasets/meters/jobs", "/verify", "/session"):
            post(house, path, content)

    whole = {"request": texts | anything, "question": anything}
    fuzz(600, st.fixed_dictionaries(whole, optional={"fresh": anything, "self": anything}) | anything, submit)


def test_what_owners_post_of_any_shape(house: House) -> None:
    paths = {
        "/tokens": {"name": texts | anything, "role": texts, "days": numbers | anything},
        "/holds": {"dataset": texts, "why": anything},
        "/policy/check": {"text": texts | anything},
    }

    def own(asked: tuple[str, object]) -> None:
        answer = post(house, *asked, who="olga")
        if asked[0] == "/holds" and answer.status_code == 201:
            house.http.delete(f"{API}/holds/{answer.json()['id']}", headers=house.headers("olga"))

    parts = (st.tuples(st.just(path), st.fixed_dictionaries(part) | anything) for path, part in paths.items())
    fuzz(600, st.one_of(*parts), own)


def test_tables_at_the_edges(house: House) -> None:
    groups = st.sampled_from(["region=north", "region=", "=", "self=north", "level=north", "region=\u202e", "x" * 300])
    asked = st.fixed_dictionaries(
        {},
        optional={
            "at": st.lists(groups, max_size=2),
            "ratio_at": groups,
            "view": st.sampled_from(["each_period", "running_total", "rolling", "resample", "quantile"]),
            "periods": wholes,
            "within": ends,
            "baseline": st.lists(moments, max_size=3),
            "format": st.sampled_from(["json", "csv", "x"]),
        }
        | dict.fromkeys(("over", "part", "places", "self"), texts)
        | dict.fromkeys(("over_all", "share"), st.booleans())
        | dict.fromkeys(("resample", "every"), lengths)
        | dict.fromkeys(("fraction", "relative", "points", "chance", "level"), numbers),
    )

    def read(given: dict[str, Any]) -> None:
        answer = house.http.get(f"{API}/datasets/meters/releases/1/table", params=given, headers=house.headers("ana"))
        assert answer.status_code < 500, (given, answer.text)

    fuzz(2_000, asked, read)


def test_columns_may_have_the_names_of_arguments(common_house: House) -> None:
    for name in ("self", "max_groups", "focus", "places", "cls", "kwargs", "__class__"):
        asked = {"measure": {"kind": "count"}, "by": {name: ["a"]}, "epsilon": 0.5}
        answer = post(common_house, "/datasets/meters/plan", asked)
        assert answer.status_code == 403, name  # by the policy, which does not know such a column
        assert name in answer.json()["error"]["message"], name


def test_weights_whose_errors_no_number_can_say_are_refused(common_house: House) -> None:
    for weights in [[1e300], [1e160, -1e160], [5e-324], [1e-300, 0.0]]:
        question = {"measure": {"kind": "count"}, "tuned_for": {"kind": "filter", "weights": weights}, "epsilon": 0.5}
        answer = post(common_house, "/datasets/meters/plan", question)
        assert (answer.status_code, answer.json()["error"]["argument"]) == (422, "weights"), weights


CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
FUZZ = """
import json, sys

from schemathesis.cli import schemathesis

code = 0
for words in json.loads(sys.argv[1]):
    try:
        schemathesis(words)
    except SystemExit as end:
        code = code or end.code
    print(sys.argv[2])
sys.exit(code)
"""
END = "one caller is done"


@pytest.mark.slow
@pytest.mark.parametrize("callers", [("ana",), ("olga",)] if SCALE >= 1 else [("ana", "olga")], ids=" and ".join)
def test_no_server_error_and_no_undocumented_answer(tmp_path: Path, callers: tuple[str, ...]) -> None:
    each = 250 if SCALE >= 1 else 2  # the first of a route is its simplest call, the next of any shape
    with ExitStack() as stack:
        asked = [words(stack.enter_context(furnished(tmp_path / who)), who, each=each) for who in callers]
        said = call_all(asked, folder=tmp_path)
    for one in said:
        assert " passed" in one, one
        assert "server error" not in one.lower(), one
        assert re.search(r"(\d+) generated, (\d+) passed", one), one
        generated, passed = map(int, re.findall(r"(\d+) generated, (\d+) passed", one)[0])
        assert generated == passed, one
        assert generated >= 20 * each, one


@contextmanager
def furnished(folder: Path) -> Iterator[House]:
    """Open a house with two releases."""
    folder.mkdir()
    policy = write_policy(folder, epsilon=1e5, parts={"ana": 1e5})
    with open_house(policy) as house:
        for number, question in enumerate((SUM, COUNT)):
            house.ended("ana", f"r{number}", question)
        yield house


def words(house: House, who: str, *, each: int) -> list[str]:
    """What Schemathesis is told to make so many calls of each route."""
    url = f"http://127.0.0.1:{house.http.base_url.port}/api/v1/openapi.json"
    told = ["run", url, "--checks", CHECKS, "--header", f"Authorization: Bearer {house.tokens[who]}"]
    told += ["--phases", "fuzzing", "--max-examples", str(each), "--generation-deterministic", "--no-color"]
    # Owners place holds, by which health becomes 503.
    return [*told, "--exclude-path", "/api/v1/health"] if who == "olga" else told


def call_all(asked: list[list[str]], *, folder: Path) -> list[str]:
    """Let Schemathesis make the calls of one caller after the other, and return what it says of each."""
    # Loading it takes longer than many calls, and so does listing all characters, which Hypothesis keeps.
    kept = os.environ | {"HYPOTHESIS_STORAGE_DIRECTORY": str(ROOT / ".hypothesis")}
    command = [sys.executable, "-c", FUZZ, json.dumps(asked), END]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=kept)
    assert finished.returncode == 0, finished.stdout[-6000:] + finished.stderr[-2000:]
    said = finished.stdout.split(END)[:-1]
    assert len(said) == len(asked), finished.stdout
    return said
