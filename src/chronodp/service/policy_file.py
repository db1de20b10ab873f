"""A policy as a TOML file; whatever is wrong in it is told with its line and the mend."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from chronodp.engines import Reading
from chronodp.errors import ChronodpError
from chronodp.ledger import Budget, Renewal
from chronodp.privacy import Calendar, parse_record_unit
from chronodp.privacy.units import RecordUnit
from chronodp.series import Discover
from chronodp.service.edge import EDGE
from chronodp.service.policy import (
    EXPRESSION_FUNCTIONS,
    MEASURES,
    WORKLOADS,
    Allotment,
    Allowed,
    Column,
    Dataset,
    Discoverable,
    Groups,
    Policy,
    RunLimits,
)
from chronodp.service.terms_file import LIFETIMES, read_lifetimes
from chronodp.settings import (
    Place,
    Section,
    Setting,
    anything,
    each,
    load_settings,
    number,
    table,
    text,
    texts,
    truth,
    whole,
)

__all__ = ["read_policy"]

_NAME = "a name of 1 to 80 letters, digits, dots, hyphens or underscores"
_EXTRA = set("._-")
_LONGEST = 2000
_RUNNING, _CELLS = RunLimits(), Reading()


def _clip(value: Any, place: Place) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2 or not all(map(_is_number, value)) or value[0] >= value[1]:
        raise place.wrong(value, "two numbers, the least and the most of one person in a period")
    return float(value[0]), float(value[1])


def _groups(value: Any, place: Place) -> Groups:
    names = list(value) if isinstance(value, dict | list) else []
    sizes = value if isinstance(value, dict) else {}
    whole_sizes = all(type(size) is int and size >= 0 for size in sizes.values())
    if not names or not all(isinstance(key, str) for key in names) or len(set(names)) < len(names) or not whole_sizes:
        allowed = 'public keys ["north", "south"], or with how many people each has, { north = 4000, south = 6000 }'
        raise place.wrong(value, allowed)
    return Groups(tuple(names), dict(sizes))


def _renewal(value: Any, place: Place) -> Renewal:
    for known in get_args(Renewal):
        if value == known:
            return known  # type: ignore[no-any-return]  # it is one of those just listed
    raise place.wrong(value, f"one of {', '.join(get_args(Renewal))}, or left out")


def _unit(value: Any, place: Place) -> RecordUnit:
    """Return the unit that a text such as ``window:24/replace`` names."""
    try:
        return parse_record_unit(value)
    except ChronodpError:
        allowed = "user, event, user_period:1D, window:24 or window:24@1h, perhaps with /replace"
        raise place.wrong(value, allowed) from None


_SERVICE = {
    "title": text(longest=100, default=_RUNNING.title),
    "floor": number(least=0.01, most=3600, default=_RUNNING.floor),
    "quantum": number(least=0.01, most=3600, default=_RUNNING.quantum),
    "parallel": whole(least=1, default=_RUNNING.parallel),
    "rate": number(least=0.1, default=_RUNNING.rate),
    "waiting": whole(least=1, default=_RUNNING.waiting),
    "lease": number(least=1, most=3600, default=_RUNNING.lease),
    "session": number(least=60, most=7 * 86400, default=_RUNNING.session),
    "edge": EDGE,
}
_COLUMN = {
    "clip": Setting(_clip, missing=""),
    "about": text(longest=_LONGEST, default=""),
    "norm": number(least=0),
}
_DISCOVER = {"columns": Setting(texts().read, missing=""), "longest": anything(), "max_keys": anything()}
_ALLOW = {
    "measures": texts(of=MEASURES, default=MEASURES),
    "workloads": texts(of=WORKLOADS, default=WORKLOADS),
    "grids": texts(),
    "epsilon": number(least=0),
    "cells": whole(least=1, default=100_000),
    "least_group": whole(least=0, default=0),
    "expression_columns": texts(),
    "expression_functions": texts(of=EXPRESSION_FUNCTIONS),
    "find": truth(default=False),
    "discover": table(_DISCOVER),
}
_ANALYST = {
    "epsilon": number(least=0, needed=True),
    "delta": number(least=0, most=1),
    "reserve": number(least=0, most=1),
}
_READING = {
    "time_format": text(longest=_LONGEST, default=_CELLS.time_format),
    "decimal": text(longest=_LONGEST, default=_CELLS.decimal),
    "separator": anything(),
    "encoding": text(longest=_LONGEST, default=_CELLS.encoding),
    "line_breaks": truth(default=_CELLS.line_breaks),
}
_DATASET = {
    "source": text(longest=_LONGEST, needed=True),
    "about": text(longest=_LONGEST, default=""),
    "time": text(longest=_LONGEST, needed=True),
    "user": text(longest=_LONGEST),
    "every": text(longest=_LONGEST, needed=True),
    "start": anything(needed=True),
    "end": anything(needed=True),
    "timezone": text(longest=_LONGEST, default="UTC"),
    "unit": Setting(_unit, missing=""),
    "max_periods": anything(),
    "people": whole(least=0, default=0),
    "columns": each(table(_COLUMN)),
    "groups": each(Setting(_groups)),
    "allow": table(_ALLOW, default=True),
    "epsilon": number(least=0, needed=True),
    "delta": number(least=0, most=1, default=0.0),
    "reserve": number(least=0, most=1),
    "renews": Setting(_renewal),
    "analysts": each(table(_ANALYST)),
    "share": truth(default=True),
    "reading": table(_READING, default=True),
    "lifetimes": LIFETIMES,
}
_POLICY = {
    "service": table(_SERVICE, default=True),
    "datasets": each(table(_DATASET), needed="a table [datasets.NAME] for each dataset"),
}


def read_policy(path: str | Path) -> Policy:
    """Return the policy in a file. Sources are looked for beside the file, and only when something is released."""
    said = load_settings("policy", path, _POLICY)
    folder = Path(path).parent
    datasets = {name: _dataset(name, part, folder) for name, part in said["datasets"].items()}
    taken: set[str] = set()
    for dataset, part in zip(datasets.values(), said["datasets"].values(), strict=True):
        for name in dataset.lifetimes:
            if name in taken:
                raise part["lifetimes"].place.below(name).wrong(name, "a name that no other series of the file has")
        taken |= set(dataset.lifetimes)
    return Policy(datasets, RunLimits(**said["service"]))


def _dataset(name: str, part: Section, folder: Path) -> Dataset:
    _check_name(part, name)
    allow = {"epsilon": None, "grids": (part["every"],), **part["allow"], "discover": _discoverable(part)}
    if part.get("reserve") and part["reserve"] >= part["delta"]:
        raise part.place.below("reserve").wrong(part["reserve"], "below delta, of which it is a part")
    with part.pointing():
        calendar = Calendar(part["every"], part["start"], part["end"], part["timezone"])
        budget = Budget(
            part["unit"], part["epsilon"], part["delta"], reserve=part.get("reserve"), renews=part.get("renews")
        )
    analysts = {who: _allotment(who, one, budget) for who, one in part["analysts"].items()}
    with part["reading"].pointing():
        reading = Reading(**part["reading"])
    with part.pointing():
        dataset = Dataset(
            name=name,
            source=str(folder / part["source"]),
            about=part["about"],
            time=part["time"],
            user=part.get("user"),
            calendar=calendar,
            unit=part["unit"],
            max_periods=part.get("max_periods"),
            people=part["people"],
            columns={column: Column(**one) for column, one in part["columns"].items()},
            groups=dict(part["groups"]),
            allowed=Allowed(**allow),
            epsilon=part["epsilon"],
            delta=part["delta"],
            renews=part.get("renews"),
            analysts=analysts,
            share=part["share"],
            reading=reading,
            reserve=part.get("reserve"),
        )
        dataset.series().count()  # curators offer no bound on a whole series in place of a limit
    _check_sizes(part, dataset)
    for one, said in part["lifetimes"].items():
        _check_name(said, one)
    return replace(dataset, lifetimes=read_lifetimes(part, dataset, folder))


def _allotment(name: str, part: Section, whole: Budget) -> Allotment:
    _check_name(part, name)
    delta = part.get("delta", whole.delta)
    # Of their own delta they keep the part that the whole keeps, unless it is said.
    kept = (whole.reserve or 0.0) * (delta / whole.delta if whole.delta else 0.0)
    allotment = Allotment(part["epsilon"], delta, part.get("reserve", kept or None))
    with part.pointing():
        Budget(whole.unit, allotment.epsilon, allotment.delta, reserve=allotment.reserve)
    return allotment


def _discoverable(part: Section) -> Discoverable | None:
    """Return which keys may be found; the budget must be able to pay for it."""
    said = part["allow"].get("discover")
    if said is None:
        return None
    if any(column.lower() == str(part.get("user")).lower() for column in said["columns"]):
        raise said.place.below("columns").wrong(list(said["columns"]), "columns other than that of the person")
    if part["allow"]["least_group"]:
        raise said.place.wrong(dict(said), "left out beside least_group: no size is declared of keys that are found")
    if not part.get("reserve"):
        allowed = "given where keys may be found, such as 0.4 of delta: it pays for a key of one person that is told"
        raise part.place.below("reserve").wrong(part.get("reserve"), allowed)
    with said.pointing():
        checked = Discover(**{name: said[name] for name in ("longest", "max_keys") if name in said})
    return Discoverable(said["columns"], checked.longest, checked.max_keys or Discoverable(()).max_keys)


def _check_sizes(part: Section, dataset: Dataset) -> None:
    if not dataset.allowed.least_group:
        return
    if dataset.groups and not dataset.people:
        raise part.place.below("people").wrong(None, "given: least_group compares publicly declared numbers of people")
    for column, groups in dataset.groups.items():
        if not groups.people:
            place = part["groups"].place.below(column)
            raise place.wrong(list(groups.keys), "keys with how many people each has, since least_group is set")


def _check_name(part: Section, name: str) -> None:
    if not 1 <= len(name) <= 80 or not all(letter.isalnum() or letter in _EXTRA for letter in name):
        raise part.place.wrong(name, _NAME)


def _is_number(value: object) -> bool:
    # A whole number beyond all floats is none.
    return isinstance(value, float) or (type(value) is int and abs(value) <= sys.float_info.max)
