"""A policy as a TOML file; whatever is wrong in it is told with its line and the mend."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast, get_args

from chronodp.engines import Reading
from chronodp.errors import ChronodpError, InvalidArgument, MissingBound
from chronodp.ledger.budget import Budget, Renewal
from chronodp.privacy import Calendar, Unit
from chronodp.privacy.unit_text import parse_record_unit
from chronodp.privacy.units import RecordUnit
from chronodp.reading import check_path, parse_toml, read_text
from chronodp.service.policy import MEASURES, WORKLOADS, Allotment, Allowed, Column, Dataset, Groups, Policy, Running
from chronodp.service.section import Section
from chronodp.service.toml_lines import toml_lines

__all__ = ["read_policy"]

_NAME = "a name of 1 to 80 letters, digits, dots, hyphens or underscores"
_EXTRA = set("._-")


def read_policy(path: str | Path) -> Policy:
    """Return the policy in a file. Sources are looked for beside the file, and only when something is released."""
    file = check_path("policy", path)
    text = read_text("policy", file)
    content = parse_toml("policy", file.name, text)
    whole = Section(content, (), file=file, lines=toml_lines(text))
    running = _running(whole.below("service"))
    datasets = {name: _dataset(name, part, file.parent) for name, part in whole.sections("datasets").items()}
    whole.finish()
    if not datasets:
        raise whole.wrong("datasets", None, "given: a table [datasets.NAME] for each dataset")
    return Policy(datasets, running)


def _running(part: Section) -> Running:
    usual = Running()
    read = Running(
        title=part.text("title", usual.title, longest=100),
        floor=part.number("floor", usual.floor, least=0.01, most=3600),
        quantum=part.number("quantum", usual.quantum, least=0.01, most=3600),
        parallel=part.whole("parallel", usual.parallel, least=1),
        rate=part.number("rate", usual.rate, least=0.1),
        waiting=part.whole("waiting", usual.waiting, least=1),
        lease=part.number("lease", usual.lease, least=1, most=3600),
        session=part.number("session", usual.session, least=60, most=7 * 86400),
    )
    part.finish()
    return read


def _dataset(name: str, part: Section, folder: Path) -> Dataset:
    _check_name(part, name)
    every = part.text("every")
    unit = _unit(part)
    epsilon, delta = part.number("epsilon", least=0), part.number("delta", 0.0, least=0, most=1)
    renews = part.optional_text("renews")
    if renews is not None and renews not in get_args(Renewal):
        raise part.wrong("renews", renews, f"one of {', '.join(get_args(Renewal))}, or left out")
    try:
        calendar = Calendar(every, part.value("start"), part.value("end"), part.text("timezone", "UTC"))
        Budget(unit, epsilon, delta, renews=cast("Renewal | None", renews))
        dataset = Dataset(
            name=name,
            source=str(folder / part.text("source")),
            about=part.text("about", ""),
            time=part.text("time"),
            user=part.optional_text("user"),
            calendar=calendar,
            unit=unit,
            max_periods=part.value("max_periods"),
            people=part.whole("people", 0, least=0),
            columns={column: _column(below) for column, below in part.sections("columns").items()},
            groups=_groups(part.below("groups")),
            allowed=_allowed(part.below("allow"), every),
            epsilon=epsilon,
            delta=delta,
            renews=cast("Renewal | None", renews),
            analysts={who: _allotment(who, below, unit, delta) for who, below in part.sections("analysts").items()},
            share=part.truth("share", True),
            reading=_reading(part.below("reading")),
        )
        dataset.series()
    except InvalidArgument as error:
        if part.path[0] in error.name:  # it has its line already
            raise
        allowed = f"given: {error.allowed}" if isinstance(error, MissingBound) else error.allowed
        raise part.wrong(error.name, part.content.get(error.name), allowed) from None
    _check_sizes(part, dataset)
    part.finish()
    return dataset


def _unit(part: Section) -> RecordUnit:
    """Return the unit that a text such as ``window:24/replace`` names."""
    text = part.text("unit")
    try:
        return parse_record_unit(text)
    except ChronodpError:
        allowed = "user, event, user_period:1D, window:24 or window:24@1h, perhaps with /replace"
        raise part.wrong("unit", text, allowed) from None


def _reading(part: Section) -> Reading:
    usual = Reading()
    given: dict[str, Any] = {
        "time_format": part.text("time_format", usual.time_format),
        "decimal": part.text("decimal", usual.decimal),
        "separator": part.value("separator"),
        "encoding": part.text("encoding", usual.encoding),
        "line_breaks": part.truth("line_breaks", usual.line_breaks),
    }
    part.finish()
    try:
        return Reading(**given)
    except InvalidArgument as error:
        raise part.wrong(error.name, part.content.get(error.name), error.allowed) from None


def _column(part: Section) -> Column:
    clip = part.value("clip")
    if not isinstance(clip, list) or len(clip) != 2 or not all(_is_number(end) for end in clip) or clip[0] >= clip[1]:
        raise part.wrong("clip", str(clip), "two numbers, the least and the most of one person in a period")
    read = Column((float(clip[0]), float(clip[1])), part.text("about", ""))
    part.finish()
    return read


def _groups(part: Section) -> dict[str, Groups]:
    groups = {}
    for column, keys in part.content.items():
        part.value(column)
        allowed = 'public keys ["north", "south"], or with how many people each has, { north = 4000, south = 6000 }'
        sizes = keys if isinstance(keys, dict) else {}
        names = list(keys) if isinstance(keys, dict | list) else []
        if not names or not all(isinstance(key, str) for key in names) or len(set(names)) < len(names):
            raise part.wrong(column, str(keys), allowed)
        if not all(isinstance(size, int) and not isinstance(size, bool) and size >= 0 for size in sizes.values()):
            raise part.wrong(column, str(keys), allowed)
        groups[column] = Groups(tuple(names), dict(sizes))
    return groups


def _allowed(part: Section, every: str) -> Allowed:
    read = Allowed(
        measures=part.texts("measures", MEASURES, of=MEASURES),
        workloads=part.texts("workloads", WORKLOADS, of=WORKLOADS),
        grids=part.texts("grids", (every,)),
        epsilon=part.number("epsilon", least=0) if "epsilon" in part.content else None,
        cells=part.whole("cells", 100_000, least=1),
        least_group=part.whole("least_group", 0, least=0),
    )
    part.finish()
    return read


def _allotment(name: str, part: Section, unit: Unit, delta: float) -> Allotment:
    _check_name(part, name)
    allotment = Allotment(part.number("epsilon", least=0), part.number("delta", delta, least=0, most=1))
    part.finish()
    try:
        Budget(unit, allotment.epsilon, allotment.delta)
    except InvalidArgument as error:
        raise part.wrong(error.name, part.content.get(error.name), error.allowed) from None
    return allotment


def _check_sizes(part: Section, dataset: Dataset) -> None:
    if not dataset.allowed.least_group:
        return
    below = part.below("groups")
    if dataset.groups and not dataset.people:
        raise part.wrong("people", None, "given: least_group compares publicly declared numbers of people")
    for column, groups in dataset.groups.items():
        if not groups.people:
            raise below.wrong(column, "keys alone", "keys with how many people each has, since least_group is set")


def _check_name(part: Section, name: str) -> None:
    if not 1 <= len(name) <= 80 or not all(letter.isalnum() or letter in _EXTRA for letter in name):
        raise part.wrong("", name, _NAME)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
