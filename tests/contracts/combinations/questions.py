"""A question made of features, and its plan by the library's front door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.contracts.combinations.features import MEASURES, Feature
from tests.contracts.combinations.ways import SPAN, TERMS, WAYS

import chronodp as cdp
from chronodp.dataset import Query
from chronodp.privacy import load
from chronodp.privacy.units import RecordUnit
from chronodp.series import ASKABLE, Discover, Find, Missing, Norm, Places, Workload

__all__ = ["EVERY", "LEVELS", "SPAN", "TERMS", "Question", "Unsaid", "plan_of", "query_of", "question_of"]

EVERY = "1D"
LEVELS = ("country", "town")


class Unsaid(Exception):
    """There are no words for it at a door: no argument, no flag, no setting."""


@dataclass(slots=True)
class Question:
    """What is asked, in the words of a curator's question; lists where two features say the same thing."""

    measure: dict[str, Any]
    unit: RecordUnit
    blocks: list[Mapping[str, str]] = field(default_factory=list)
    find: list[str] = field(default_factory=list)
    by: dict[str, Any] = field(default_factory=dict)
    places: Sequence[tuple[str, str]] | None = None
    where: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    missing: Mapping[str, Any] | None = None
    tuned_for: Mapping[str, str] | None = None
    ways: list[str] = field(default_factory=list)
    beside: Question | None = None

    @property
    def max_periods(self) -> int | None:
        """How many periods of a person count: for whom that is asked, and unless it is found."""
        if not self.unit.whole_person or "max_periods" in self.find or self.measure.get("norm"):
            return None
        return 2


def takes(measure: Feature, argument: str | None) -> bool:
    """Whether a measure has an argument at all."""
    kind = ASKABLE[measure.says["measure"]["kind"]]
    return argument is None or argument in {one.name for one in kind.arguments}


def question_of(features: Sequence[Feature], unit: RecordUnit) -> Question:
    """Return the question that has some features: a measure with changes, or two measures together."""
    measures = [one for one in features if one.measures]
    needed = [one.needs for one in features if one.needs]
    fitting = [one for one in MEASURES if all(takes(one, name) for name in needed)]
    first = measures[0] if measures else fitting[0] if fitting else MEASURES[0]
    for name in needed:
        if not takes(first, name):
            raise Unsaid(f"{first.says['measure']['kind']} has no {name}")
    question = Question(dict(first.says["measure"]), unit)
    for one in features:
        if not one.measures:
            _say(question, one)
    if "clip" in question.find and isinstance(question.measure.get("clip"), Mapping):
        raise Unsaid("a clip is given or found")
    for name in {"clip", "at_most", "norm", "edges"} & set(question.find):
        question.measure.pop(name, None)
    if "norm" in question.find and not measures:
        question.measure.pop("clip", None)  # a norm takes its place
    if unit.of_rows and question.measure.get("of") == "rows":
        question.measure.pop("at_most", None)  # every row counts in full there
        if question.measure["kind"] == "mean" and question.measure["of"] == "rows":
            question.measure["at_most"] = 1
    if question.columns:
        question.measure["column"] = next(iter(question.columns))
    if len(measures) > 1:
        question.ways, question.beside = ["plan_together"], question_of(measures[1:], unit)
    return question


def _say(question: Question, feature: Feature) -> None:
    for name, value in feature.says.items():
        match name:
            case "block":
                question.blocks.append(value)
            case "find":
                question.find += [one for one in value if one not in question.find]
            case "clips":
                question.measure["clip"] = value
            case "by" | "columns":
                getattr(question, name).update(value)
            case _:
                setattr(question, name, value)
    if feature.way:
        question.ways.append(feature.way)


def series_of(question: Question, data: object, engine: Any = None) -> cdp.TimeSeries:
    """Return the series that a question is about."""
    return cdp.TimeSeries(
        data,
        time="at",
        user="who",
        every=EVERY,
        start=SPAN[0],
        end=SPAN[1],
        unit=question.unit,
        max_periods=Find() if "max_periods" in question.find else question.max_periods,
        where=question.where,
        columns=question.columns or None,
        engine=engine,
    )


def query_of(question: Question, data: object, engine: Any = None) -> Query[Any]:
    """Return the query, asked as Python does: by methods and their arguments."""
    series = series_of(question, data, engine)
    said = dict(question.measure)
    method = getattr(series, said.pop("kind"))
    if "clip" in question.find:
        said["clip"] = (0, Find())
    if "edges" in question.find:
        said["edges"] = (0, Find())
    if "at_most" in question.find:
        said["at_most"] = Find()
    if "norm" in said or "norm" in question.find:
        said["bound"] = Norm(said.pop("norm", Find()))
    query: Query[Any] = method(**said)
    if question.by or question.places:
        keys = {name: _keys(value, question.unit) for name, value in question.by.items()}
        trees = () if question.places is None else (Places(question.places, *LEVELS),)
        query = query.by(*trees, max_groups=Find() if "max_groups" in question.find else None, focus=None, **keys)
    for block in question.blocks:
        query = getattr(query, block["statistic"])(every=block["every"])
    return query


def _keys(said: Any, unit: RecordUnit) -> Any:
    """Return keys, or how they are found; how many keys of a person count is said of whole persons alone."""
    if not isinstance(said, Mapping):
        return said
    return Discover(**{name: value for name, value in said.items() if unit.whole_person or name != "max_keys"})


def plan_of(question: Question, data: object, engine: Any = None) -> Any:
    """Return the plan of a question."""
    query = query_of(question, data, engine)
    if not question.ways:
        tuned = None if question.tuned_for is None else load(dict(question.tuned_for), Workload)
        missing = None if question.missing is None else Missing(**question.missing)
        return query.plan(**TERMS, tuned_for=tuned, missing=missing)
    called, way = WAYS[tuple(question.ways)]
    for name in ("missing", "tuned_for"):
        if getattr(question, name) is not None:
            raise Unsaid(f"{called} takes no {name}")
    beside = query_of(question.beside or question_of([MEASURES[1]], question.unit), data, engine)
    return way(query, beside, data)
