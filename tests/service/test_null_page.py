"""The page where answers hold nothing: whatever the API's description lets be null is null, and no script throws."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Route

from tests.service.town import API, House
from tests.service.visiting import VIEWS, Visit, Visits, furnished_house

pytestmark = pytest.mark.slow

_STEPS = (
    {"step": 1, "kind": "value", "period": 0, "values": [5.0], "half_width": None},
    {"step": 2, "kind": "value", "period": 1, "values": [None], "half_width": None},
    {"step": 3, "kind": "value", "period": 2, "values": [6.0], "half_width": 1.0},
    {"step": 4, "kind": "alert", "period": None, "value": None},
    {"step": 5, "kind": "released", "released": None},
)
_MAYBE = ("analyst", "period", "largest_pure", "smallest_laplace", "smallest_sigma", "note")  # of a budget's status


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with furnished_house(tmp_path_factory.mktemp("null")) as opened:
        yield opened


class Emptied:
    """Answers with null wherever their description has it."""

    def __init__(self, description: dict[str, Any]) -> None:
        self._shapes = description["components"]["schemas"]
        self._answers = {}
        for path, routes in description["paths"].items():
            for method, route in routes.items():
                content = route["responses"].get("200", {}).get("content", {}).get("application/json")
                if content:
                    self._answers[method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + "$")] = content[
                        "schema"
                    ]

    def answer(self, method: str, path: str, content: Any) -> Any:
        for (known, pattern), shape in self._answers.items():
            if known == method and pattern.search(path):
                return self._undeclared(self._empty(shape, content))
        raise AssertionError(f"{method} {path} is not described")

    def _empty(self, shape: dict[str, Any], content: Any) -> Any:
        if "$ref" in shape:
            return self._empty(self._shapes[shape["$ref"].rpartition("/")[2]], content)
        if any(one.get("type") == "null" for one in shape.get("anyOf", ())):
            return None
        match content:
            case dict():
                known, rest = shape.get("properties", {}), shape.get("additionalProperties", {})
                return {
                    key: self._empty(known.get(key, rest if rest is not True else {}), content[key]) for key in content
                }
            case list():
                return [self._empty(shape.get("items", {}), one) for one in content]
        return content

    def _undeclared(self, content: Any) -> Any:
        """Empty what the description leaves open: numbers of tables, alternatives of plans, notes of budgets."""
        match content:
            case {"columns": [*columns], "rows": [*rows]}:
                first = columns.index("value")
                held = [[row[0], *([None] * (len(row) - 1))] if place % 2 else row for place, row in enumerate(rows)]
                return content | {"rows": [row[: first + 1] + [None] * (len(row) - first - 1) for row in held]}
            case {"alternatives": [*ways]}:
                return content | {"alternatives": [dict.fromkeys(way) for way in ways]}
            case {"whole": dict(whole), "analysts": dict(parts)}:
                emptied = dict.fromkeys(_MAYBE)
                return content | {
                    "whole": whole | emptied,
                    "analysts": {who: part | emptied for who, part in parts.items()},
                }
        return content


def _feed(page: Visit, emptied: Emptied) -> set[str]:
    """Let every answer be emptied on its way; return the paths that were."""
    fed: set[str] = set()

    def route(route: Route) -> None:
        request = route.request
        path = request.url.removeprefix(page.base).partition("?")[0]
        if path.endswith("/events"):
            told = "".join(f"id: {step['step']}\ndata: {json.dumps(step)}\n\n" for step in _STEPS)
            route.fulfill(status=200, content_type="text/event-stream", body=told)
            return
        answer = route.fetch()
        fed.add(path)
        route.fulfill(response=answer, json=emptied.answer(request.method, path, answer.json()))

    page.tab.route(f"{page.base}{API}/**", route)
    return fed


def _look(page: Visit, view: str) -> None:
    """Open a view, whatever it has to draw, and wait until what is late was drawn."""
    page.tab.evaluate("(hash) => { location.hash = hash; }", f"#/{view}")
    page.tab.wait_for_selector(f'main[data-shown="#/{view}"]')
    page.tab.wait_for_timeout(500)


@pytest.mark.parametrize("who", ["olga", "ana"])
def test_no_page_throws_where_answers_hold_nothing(visit: Visits, house: House, who: str) -> None:
    page = visit(who)
    emptied = Emptied(house.http.get(f"{API}/openapi.json").json())
    fed = _feed(page, emptied)
    for view in VIEWS:
        _look(page, view)
        assert page.complaints == [], view
        assert page.tab.get_by_role("alert").filter(visible=True).count() == 0, view
    assert {f"{API}/datasets", f"{API}/streams", f"{API}/datasets/meters/budget", f"{API}/datasets/meters/plan"} <= fed
    _look(page, "ask/meters")
    page.slot("scale").get_by_text("too large for a number").wait_for()
    _look(page, "live/load")
    page.slot("alerts").get_by_text("load").wait_for()
