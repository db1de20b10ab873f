"""A question made of features, a table of a few people to ask it of, and what came of planning and releasing it."""

from __future__ import annotations

import datetime as dt
import itertools
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas
import pyarrow
from tests.contracts.combinations.features import FEATURES, MEASURES, UNITS, Feature

import chronodp as cdp
from chronodp import engines
from chronodp.dataset import Query, plan_together
from chronodp.engines.reading import Reading, read_name, read_number
from chronodp.errors import ChronodpError
from chronodp.privacy import load
from chronodp.privacy.units import RecordUnit
from chronodp.randomness import Entropy, seeded
from chronodp.series import ASKABLE, Discover, Find, Missing, Norm, Places, Workload

SPAN = ("2026-01-01", "2026-01-05")
TERMS: Mapping[str, Any] = {"epsilon": 20.0, "delta": 1e-6}


@dataclass(frozen=True, slots=True)
class Life:
    """A series that is bought once; its first issue is released as a plan is."""

    plan: Any
    data: object

    def release(self, ledger: cdp.Ledger, *, dataset: str, request: str, entropy: Entropy) -> Any:
        """Buy the series, and publish its first issue."""
        with tempfile.TemporaryDirectory() as folder:
            name, tally = f"{request} of {dataset}", Path(folder) / "tally"
            opened = self.plan.open(ledger, dataset=dataset, name=name, tally=tally)
            return opened.issue(self.data, start=SPAN[0], end=SPAN[1], request=request, entropy=entropy)


def _lifetime(query: Query[Any], beside: Query[Any], data: object) -> Any:
    del beside
    return Life(query.lifetime(**TERMS, max_periods=2), data)


def _together(query: Query[Any], beside: Query[Any], data: object) -> Any:
    del data
    return plan_together({"it": query, "beside": beside}, **TERMS)


def _life_together(query: Query[Any], beside: Query[Any], data: object) -> Any:
    return _together(_lifetime(query, beside, data).plan, beside, data)


WAYS: Mapping[tuple[str, ...], tuple[str, Callable[[Query[Any], Query[Any], object], Any]]] = {
    ("plan_together",): ("plan_together", _together),
    ("lifetime",): ("lifetime", _lifetime),
    ("plan_together", "lifetime"): ("plan_together", _life_together),
}
"""By the ways that features name: what it is called, and how a query is planned so, with another beside it."""


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


PEOPLE, DAYS = 12, 4
Row = dict[str, Any]


def rows() -> list[Row]:
    """Return two rows a day of every person; half of them read two pages, and live in two towns."""
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    return [
        {
            "who": f"p{who}",
            "at": start + dt.timedelta(days=day, hours=1 + 8 * half),
            "kwh": ((who * 7 + day * 3 + half) % 16 + 1) / 8,
            "region": ("north", "south")[(who + half) % 2],
            "town": ("Ayr", "Bath")[who * half % 2],
            "page": ("/", "/news")[who * half % 2],
        }
        for who in range(PEOPLE)
        for day in range(DAYS)
        for half in range(2)
    ]


def table() -> pyarrow.Table:
    """Return the rows as DuckDB and files have them."""
    return pyarrow.Table.from_pylist(rows())


class InMemory(engines.Reference):
    """The plain engine over rows as they are: each question gets the records that it asks for."""

    def totals(self, source: Any, question: Any, **more: Any) -> Any:
        return super().totals(_records(source, question), question, **more)

    def book(self, source: Any, asked: Any, tally: Any, **more: Any) -> Any:
        return super().book(_records(source, asked.question), asked, tally, **more)

    def sizes(self, source: Any, asked: Any) -> Any:
        return super().sizes(_records(source, asked.question), asked)

    def losses(self, source: Any, asked: Any) -> Any:
        return super().losses(_records(source, asked.question), asked)

    def missing(self, source: Any, asked: Any, **more: Any) -> Any:
        return super().missing(_records(source, asked.question), asked, **more)

    def held_keys(self, source: Any, asked: Any, **more: Any) -> Any:
        return super().held_keys(_records(source, asked.reading), asked, **more)


def _records(source: Sequence[Row], question: engines.Question) -> list[engines.Record]:
    """Return rows as records with the number, keys and cells of a question; the last read those derived."""
    cells = tuple(question.expression_cells)
    groupings = [grouping.column for grouping in question.groupings]
    return [
        engines.Record(
            row["who"],
            round(row["at"].timestamp() * 1e6),
            None if question.value is None else row.get(question.value),
            tuple(row.get(column) for column in groupings),
            {
                cell: read_name(row[cell.column]) if cell.role == "name" else read_number(row[cell.column], Reading())
                for cell in cells
            },
        )
        for row in source
    ]


def dataset_of(unit: RecordUnit) -> str:
    """Return the name of the budget of a unit."""
    return f"{type(unit).__name__} {unit.relation}"


def ledger_in(folder: Path) -> cdp.Ledger:
    """Return a ledger with a large budget for every unit."""
    ledger = cdp.Ledger(folder / "budget.db")
    for unit in UNITS:
        said = replace(unit, every="1D") if isinstance(unit, cdp.Window) else unit
        ledger.open(dataset_of(unit), unit=said, epsilon=1e7, delta=0.1, reserve=0.05)
    return ledger


def same_ledger(folder: Path, other: Path) -> AbstractContextManager[cdp.Ledger]:
    """Return a ledger with the same secrets as one that nobody has used yet, so that both choose and draw alike."""
    shutil.copytree(folder, other)
    return cdp.Ledger(other / "budget.db")


State = Literal["works", "refused", "unsaid"]
Combination = tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a combination: it works, it is refused with a sentence, or there are no words for it."""

    state: State
    sentence: str = ""
    plan: Any = field(default=None, compare=False, repr=False)


def combinations() -> Iterator[Combination]:
    """Yield every feature alone, and every pair."""
    yield from ((feature,) for feature in FEATURES)
    yield from itertools.combinations(FEATURES, 2)


def named(features: Sequence[Feature]) -> str:
    """Return what a combination is called, as a request and in tests."""
    return " with ".join("-".join(re.findall(r"\w+", one.name)) for one in features)


def tried(ask: Any) -> Outcome:
    """Return what came of asking; whatever is no refusal of the library's is let through, and so fails."""
    try:
        return Outcome("works", plan=ask())
    except Unsaid as none:
        return Outcome("unsaid", str(none))
    except ChronodpError as refusal:
        return Outcome("refused", str(refusal))


def planned(
    features: Sequence[Feature], unit: RecordUnit, data: object = "none.parquet", engine: Any = None
) -> Outcome:
    """Plan a combination by the library's front door."""
    return tried(lambda: plan_of(question_of(features, unit), data, engine))


def released(plan: Any, ledger: cdp.Ledger, unit: RecordUnit, request: str) -> pandas.DataFrame:
    """Release a plan with seeded noise, and return its table, checked."""
    made = plan.release(ledger, dataset=dataset_of(unit), request=request, entropy=seeded(1))
    shown: pandas.DataFrame = made.to_pandas()
    check_numbers(shown, found=getattr(made, "keys", None) is not None)
    return shown


def check_numbers(shown: pandas.DataFrame, *, found: bool = False) -> None:
    """Numbers are sane: there are some, finite unless too few people are told, and within intervals if there are any.

    Where keys are ``found``, of so few people there may be none, and then no numbers.
    """
    assert len(shown) or found
    for name in (name for name in map(str, shown) if name in ("value", "value_all")):
        value = shown[name].to_numpy(float)
        if name == "value_all" and np.all(np.isnan(value)):
            continue  # nothing is told of single periods where limits may have removed something
        few = shown["why"].eq("too few").to_numpy(bool) if "value_to" in shown else np.zeros(len(value), bool)
        assert np.array_equal(np.isfinite(value), ~few)
        lower, upper = (name.replace("value", end) for end in ("lower", "upper"))
        if lower in shown:  # a bin that is drawn has none
            assert not np.any(value < shown[lower].to_numpy(float))
            assert not np.any(value > shown[upper].to_numpy(float))
