"""What is asked: features of a query, whom it protects, and at which price it is tuned for what.

A case is one or two features, a unit, a price and a reading. Two statistics go together by `plan_together`; a change
goes with a statistic that takes it, and two changes with the first statistic that takes both.
"""

from __future__ import annotations

import datetime as dt
import inspect
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pyarrow as pa

import chronodp as cdp

__all__ = ["CASES", "FEATURES", "PRICES", "UNITS", "Case", "Unsaid", "cases_of", "plan_of"]

UNITS: dict[str, Any] = {
    "people": cdp.User(),
    "people replaced": cdp.User("replace"),
    "weeks of people": cdp.UserPeriod("7D"),
    "weeks of people replaced": cdp.UserPeriod("7D", "replace"),
    "three periods": cdp.Window(3),
    "three periods replaced": cdp.Window(3, "replace"),
    "rows": cdp.Event(),
    "rows replaced": cdp.Event("replace"),
}
PRICES: dict[str, dict[str, Any]] = {"pure": {"epsilon": 2.0}, "Gaussian": {"epsilon": 2.0, "delta": 1e-6}}
READINGS: dict[str, Any] = {"each": cdp.EachPeriod(), "running": cdp.RunningTotal(), "rolling": cdp.Rolling(7)}
CASES = tuple((price, reading) for price in PRICES for reading in READINGS)

_CLIP = (0.0, 3.0)
_EDGES = (0.0, 0.5, 1.0, 2.0, 8.0)
_MANY = tuple(step / 8 for step in range(65))
_REGIONS, _KINDS = ["north", "south", "east"], ["flat", "house"]
_TOWNS = [("north", "Ayr"), ("north", "Oban"), ("south", "Bath"), ("south", "Deal"), ("south", "Ryde")]

STATISTICS: dict[str, dict[str, Any]] = {
    "count of people": {"kind": "count"},
    "count of rows": {"kind": "count", "at_most": 3},
    "sum": {"kind": "sum", "column": "kwh", "clip": _CLIP},
    "sum of both signs": {"kind": "sum", "column": "kwh", "clip": (-1.5, 3.0)},
    "sum within a norm": {"kind": "sum", "column": "kwh", "bound": cdp.Norm(6.0)},
    "mean of totals": {"kind": "mean", "column": "kwh", "clip": _CLIP, "of": "totals"},
    "mean of a panel": {"kind": "mean", "column": "kwh", "clip": _CLIP, "of": "totals", "people": 400},
    "mean of people": {"kind": "mean", "column": "kwh", "clip": _CLIP, "of": "people"},
    "mean of rows": {"kind": "mean", "column": "kwh", "clip": (-1.0, 2.0), "of": "rows", "at_most": 3},
    "variance": {"kind": "variance", "column": "kwh", "clip": _CLIP},
    "histogram of people": {"kind": "histogram", "column": "kwh", "edges": _EDGES},
    "histogram of two bins each": {"kind": "histogram", "column": "kwh", "edges": _EDGES, "at_most": 2},
    "histogram of rows": {"kind": "histogram", "column": "kwh", "edges": _EDGES, "of": "rows", "at_most": 2},
    "quantile by choice": {"kind": "quantiles", "column": "kwh", "edges": _EDGES, "fractions": (0.5,)},
    "quantiles by histogram": {
        "kind": "quantiles",
        "column": "kwh",
        "edges": _MANY,
        "fractions": tuple(step / 20 for step in range(1, 20)),
    },
    "quantiles of rows": {
        "kind": "quantiles",
        "column": "kwh",
        "edges": _EDGES,
        "fractions": (0.25, 0.75),
        "of": "rows",
        "at_most": 2,
    },
    "active people": {"kind": "active", "window": "3D"},
    "active people by stays": {"kind": "active", "window": "2D", "max_stays": 2},
    "finished totals": {"kind": "finished"},
}
CHANGES: dict[str, dict[str, Any]] = {
    "public keys": {"by": {"region": _REGIONS}},
    "two groupings": {"by": {"region": _REGIONS, "kind": _KINDS}, "max_groups": 2},
    "a clip for each key": {"clip": {"north": (0.0, 1.5), "south": (0.0, 3.0), "east": (0.0, 6.0)}, "needs": "regions"},
    "places": {"places": None},
    "places by nodes": {"places": "nodes"},
    "keys found in rounds": {"keys": {"share": 0.3}},
    "keys by their counts": {"keys": {"share": 0.0}, "grid": "28D", "of": "count of people"},
    "clip found": {"clip": (0, cdp.Find(0.3))},
    "rows found": {"at_most": cdp.Find(0.3)},
    "norm found": {"bound": cdp.Norm(cdp.Find(0.3, between=(1, 100)))},
    "edges found": {"edges": (0, cdp.Find(0.3))},
    "periods found": {"max_periods": cdp.Find(0.3)},
    "groups found": {"max_groups": cdp.Find(0.3), "needs": "regions"},
    "what is missing": {"missing": cdp.Missing(0.1)},
    "what is missing, evenly": {"missing": cdp.Missing(assume="even loss")},
    "totals of blocks": {"block": "total"},
    "peaks of blocks": {"block": "peak"},
    "troughs of blocks": {"block": "trough"},
    "a condition": {"where": "kind = 'flat'"},
    "a derived column": {"column": "twice"},
    "many periods": {"grid": "1h"},
    "beside a count": {"beside": {"kind": "count"}},
}
FEATURES = (*STATISTICS, *CHANGES)


class Unsaid(Exception):
    """There is no such question: a statistic does not take the change, or two changes say the same thing."""


@dataclass(frozen=True, slots=True)
class Case:
    """One or two features under a unit, at a price, tuned for a reading; names, from the tables above."""

    features: tuple[str, ...]
    unit: str
    price: str
    reading: str


@dataclass(slots=True)
class _Question:
    """What is asked, put together feature by feature."""

    measure: dict[str, Any]
    said: dict[str, Any] = field(default_factory=dict)

    def say(self, name: str, value: Any) -> None:
        if name in self.said and name != "needs":
            raise Unsaid(name)
        self.said[name] = value


def cases_of(feature: str) -> Iterator[Case]:
    """Yield the cases of a feature alone, and of it with each later one under one unit, by turns."""
    place = FEATURES.index(feature)
    for unit in UNITS:
        for price, reading in CASES:
            yield Case((feature,), unit, price, reading)
    for other, second in enumerate(FEATURES[place + 1 :], place + 1):
        turn = len(FEATURES) * place + other
        unit, (price, reading) = [*UNITS][turn % len(UNITS)], CASES[turn // len(UNITS) % len(CASES)]
        together = (feature in STATISTICS and second in STATISTICS) or second == "beside a count"
        yield Case((feature, second), unit, price, "each" if together else reading)


def plan_of(case: Case) -> Any:
    """Return the plan of a case, by the front door."""
    unit, terms = UNITS[case.unit], PRICES[case.price]
    statistics = [name for name in case.features if name in STATISTICS]
    changes = [CHANGES[name] for name in case.features if name in CHANGES]
    question = _changed(STATISTICS[statistics[0]] if statistics else _taking(changes), changes)
    query, said = _query(question, unit), question.said
    if len(statistics) > 1 or "beside" in said:
        if case.reading != "each":
            raise Unsaid("plans together are for periods by themselves")
        other = _changed(STATISTICS[statistics[1]] if len(statistics) > 1 else said["beside"], [])
        other.said.update({name: said[name] for name in ("grid", "where") if name in said})
        beside = _query(other, unit)
        return cdp.plan_together({"one": query, "other": beside}, **terms)
    more = {"missing": said["missing"]} if "missing" in said else {}
    return query.plan(**terms, tuned_for=READINGS[case.reading], **more)


def _taking(changes: list[dict[str, Any]]) -> Mapping[str, Any]:
    """Return the first statistic that takes all of some changes: a sum, if it does."""
    for measure in (STATISTICS["sum"], *STATISTICS.values()):
        try:
            _changed(measure, changes)
        except Unsaid:
            continue
        return measure
    raise Unsaid("nothing takes both")


def _changed(measure: Mapping[str, Any], changes: list[dict[str, Any]]) -> _Question:
    """Return the question about a statistic with changes."""
    question = _Question(dict(measure))
    taken = inspect.signature(getattr(cdp.TimeSeries, measure["kind"])).parameters if _reads(measure) else {}
    for change in changes:
        for name, value in change.items():
            if name == "of":
                if measure != STATISTICS[value]:
                    raise Unsaid(f"of {value} alone")
            elif name in ("clip", "at_most", "bound", "edges", "column"):
                if name not in taken:
                    raise Unsaid(f"no {name}")
                question.say(name, value)
                question.measure[name] = value
                if name == "bound":
                    question.measure.pop("clip", None)
            else:
                question.say(name, value)
    if not _reads(measure) and not question.said.keys() <= {"by", "max_groups", "beside"}:
        raise Unsaid("totals are finished")
    if question.said.get("needs") == "regions":
        question.said.setdefault("by", {"region": _REGIONS})
    return question


def _reads(measure: Mapping[str, Any]) -> bool:
    return bool(measure["kind"] != "finished")


def _query(question: _Question, unit: Any) -> Any:
    """Return the query, or the finished totals."""
    said, measure = question.said, dict(question.measure)
    kind = measure.pop("kind")
    if kind == "finished":
        return _finished(said, unit)
    every = said.get("grid", "1D")
    if every == "28D" and isinstance(unit, cdp.Window):
        unit = cdp.Window(1, unit.relation)  # there is one period
    limited = isinstance(unit, cdp.User) and kind != "active" and "bound" not in measure
    series = cdp.TimeSeries(
        rows(),
        time="at",
        user="who",
        every=every,
        start="2026-03-02",
        end="2026-03-30",
        unit=unit,
        max_periods=said.get("max_periods", (1 if every == "28D" else 10) if limited else None),
        where=said.get("where"),
        columns={"twice": "kwh * 2"} if "column" in said else None,
    )
    if not isinstance(unit, cdp.User):
        measure.pop("max_stays", None)
    if isinstance(unit, cdp.Event) and measure.get("of") == "rows":
        measure["at_most"] = 1  # each row is a unit of its own
    query = getattr(series, kind)(**measure)
    by = dict(said.get("by", {}))
    if "keys" in said:
        limit = {"max_keys": 2} if isinstance(unit, cdp.User) else {}
        by["page"] = cdp.Discover(delta=2e-7, **said["keys"], **limit)
    groups = {"max_groups": said["max_groups"]} if "max_groups" in said else {}
    trees = (cdp.Places(_TOWNS, "part", "town"),) if "places" in said else ()
    focus = {"focus": said["places"]} if said.get("places") else {}
    if by or trees:
        query = query.by(*trees, **groups, **focus, **by)
    return query if "block" not in said else getattr(query, said["block"])(every="2D")


def _finished(said: Mapping[str, Any], unit: Any) -> Any:
    by = said.get("by")
    width = 1
    for keys in (by or {}).values():
        width *= len(keys)
    totals = [[(day * 37 + place * 11) % 50 + 0.3 for place in range(width)] for day in range(28)]
    limited: Any = {"max_periods": 4} if isinstance(unit, cdp.User) else {}
    return cdp.Aggregate(
        totals if by else [day for (day,) in totals],
        change=2.5,
        unit=unit,
        by=by,
        max_groups=min(said.get("max_groups", 1), width),
        every="1D",
        start="2026-03-02",
        **limited,
    )


@cache
def rows() -> pa.Table:
    """Return rows of 400 people over four weeks: some with many, some of none, some outside, some without a number."""
    draw = random.Random(11).random  # the one sequence that Python promises never to change
    columns: dict[str, list[Any]] = {name: [] for name in ("at", "who", "kwh", "region", "kind", "town", "page")}
    for _ in range(6000):
        who = int(400 * draw() ** 1.5)
        hour = int(30 * 24 * draw()) - 24
        columns["who"].append(f"p{who}")
        columns["at"].append(
            dt.datetime(2026, 3, 2, tzinfo=dt.UTC) + dt.timedelta(hours=hour, minutes=int(60 * draw()))
        )
        columns["kwh"].append(None if draw() < 0.01 else round(1000 * (6 * draw() ** 3 - 0.3)) / 1000)
        columns["region"].append(("north", "south", "east", "west")[int(4 * draw())])
        columns["kind"].append(("flat", "house")[who % 2])
        columns["town"].append(("Ayr", "Oban", "Bath", "Deal", "Ryde", "Hull")[int(6 * draw() ** 2)])
        columns["page"].append(f"/{int(40 * draw() ** 3)}" if draw() < 0.98 else f"/own-{who}")
    return pa.table(columns)
