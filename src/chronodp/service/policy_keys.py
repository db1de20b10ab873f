"""What a policy's file may hold: every table, its keys and the kinds of their values."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import lru_cache
from typing import Any, get_args

from chronodp.dataset import BOUNDS
from chronodp.engines import Reading
from chronodp.errors import ChronodpError
from chronodp.ledger import Renewal
from chronodp.privacy import parse_record_unit
from chronodp.privacy.units import RecordUnit
from chronodp.series.measures import Clip
from chronodp.service.edge import EDGE
from chronodp.service.policy import EXPRESSION_FUNCTIONS, MEASURES, WORKLOADS, Groups, RunLimits
from chronodp.settings import Place, Schema, Setting, anything, each, number, table, text, texts, truth, whole

__all__ = ["POLICY"]

_LONGEST = 2000
_RUNNING, _CELLS = RunLimits(), Reading()


_NUMBER: Schema = {"type": "number"}
_CLIP: Schema = {"type": "array", "prefixItems": [_NUMBER, _NUMBER], "items": False, "minItems": 2}
_GROUPS: Schema = {
    "anyOf": [
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}, "minProperties": 1},
    ]
}
_FOUND: Schema = {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"enum": list(BOUNDS)}}]}


def _by_length(setting: Setting, *, missing: str | None = None) -> Setting:
    """Declare one value, for periods of the dataset's own length, or a table of one for each length.

    One value is read as if it stood under an empty name: which length that is, the dataset says.
    """

    def lengths(value: Any, place: Place) -> dict[str, Any]:
        if not isinstance(value, dict):
            return {"": setting.read(value, place)}
        if not value:
            raise place.wrong(value, "one value, or one for each length of a period, such as { 1h = ..., 1D = ... }")
        return {every: setting.read(one, place.below(every)) for every, one in value.items()}

    several = {"type": "object", "additionalProperties": setting.schema, "minProperties": 1}
    one = {**setting.schema, "not": {"type": "object"}}
    return Setting(lengths, missing, schema={"anyOf": [one, several]})


def _clip(value: Any, place: Place) -> Clip:
    if not isinstance(value, list) or len(value) != 2 or not all(map(_is_number, value)) or value[0] >= value[1]:
        allowed = "two numbers, lowest and highest value of one person in a period, or such for each length of a period"
        raise place.wrong(value, f"{allowed}: {{ 1h = [0, 2], 1D = [0, 40] }}")
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
        return _unit_of(value) if isinstance(value, str) else parse_record_unit(value)
    except ChronodpError:
        allowed = "user, event, user_period:1D, window:24 or window:24@1h, perhaps with /replace"
        raise place.wrong(value, allowed) from None


_unit_of = lru_cache(maxsize=1024)(parse_record_unit)  # thousands of datasets have some few units


def _find(value: Any, place: Place) -> tuple[str, ...]:
    if isinstance(value, bool):
        return BOUNDS if value else ()
    if not isinstance(value, list) or not all(bound in BOUNDS for bound in value):
        raise place.wrong(value, f"true, false, or a list made of {', '.join(BOUNDS)}")
    return tuple(value)


def _is_number(value: object) -> bool:
    # A whole number beyond all floats is none.
    return isinstance(value, float) or (type(value) is int and abs(value) <= sys.float_info.max)


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
    "clip": _by_length(Setting(_clip, schema=_CLIP), missing=""),
    "about": text(longest=_LONGEST, default=""),
    "norm": _by_length(number(least=0)),
    "usual": _by_length(number()),
}
_DISCOVER = {"columns": replace(texts(), missing=""), "longest": anything(), "max_keys": anything()}
_ALLOW = {
    "measures": texts(of=MEASURES, default=MEASURES),
    "workloads": texts(of=WORKLOADS, default=WORKLOADS),
    "grids": texts(),
    "epsilon": number(least=0),
    "delta": number(least=0, most=1),
    "cells": whole(least=1, default=100_000),
    "least_group": whole(least=0, default=0),
    "expression_columns": texts(),
    "expression_functions": texts(of=EXPRESSION_FUNCTIONS),
    "find": Setting(_find, schema=_FOUND),
    "discover": table(_DISCOVER),
    "places": truth(default=True),
    "missing": truth(default=True),
    "max_groups": whole(least=1),
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
    "other_people": truth(default=False),
    "about": text(longest=_LONGEST, default=""),
    "time": text(longest=_LONGEST, needed=True),
    "user": text(longest=_LONGEST),
    "every": text(longest=_LONGEST, needed=True),
    "start": anything(needed=True),
    "end": anything(needed=True),
    "timezone": text(longest=_LONGEST, default="UTC"),
    "unit": Setting(_unit, missing="", schema={"type": "string"}),
    "max_periods": _by_length(anything()),
    "usual_periods": _by_length(whole(least=1)),
    "people": whole(least=0, default=0),
    "columns": each(table(_COLUMN)),
    "groups": each(Setting(_groups, schema=_GROUPS)),
    "allow": table(_ALLOW, default=True),
    "epsilon": number(least=0, needed=True),
    "delta": number(least=0, most=1, default=0.0),
    "reserve": number(least=0, most=1),
    "renews": Setting(_renewal, schema={"enum": list(get_args(Renewal))}),
    "analysts": each(table(_ANALYST)),
    "share": truth(default=True),
    "reading": table(_READING, default=True),
}
POLICY = {
    "service": table(_SERVICE, default=True),
    "datasets": each(table(_DATASET), needed="a table [datasets.NAME] for each dataset"),
}
"""What the file of a policy may hold."""
