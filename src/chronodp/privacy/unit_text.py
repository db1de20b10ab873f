"""Units as people write them in commands, policies and settings: ``window:24@1h``, ``user_period:1D@Asia/Tokyo``."""

from __future__ import annotations

from typing import Any, get_args

from chronodp.errors import InvalidArgument
from chronodp.privacy.documents import kinds_of, load
from chronodp.privacy.parameters import check_text
from chronodp.privacy.units import RecordUnit, Relation, Unit, check_record_unit

__all__ = ["parse_record_unit", "parse_unit"]

_NUMBERS = ("periods", "block")


def parse_unit(text: str) -> Unit:
    """Return the unit that a text names: its kind, after a colon what it is about, after a slash its relation.

    In parentheses after the kind stands what one of those protected is called, where that is no person. What a window
    or a calendar period means on a clock may follow, each part after an @: the length of a period, the zone, a moment
    at which a period begins. Left out, the grid of the data gives it.

    >>> parse_unit("window:24/replace")
    Window(periods=24, relation='replace', every=None, timezone=None, begins=None, called=None)
    >>> print(parse_unit("user_period:1D@Asia/Tokyo"))
    everything of one person in one calendar day in Asia/Tokyo, added or removed
    >>> print(parse_unit("window(aircraft):24@1h"))
    everything of one aircraft in any 24 consecutive hours, added or removed
    """
    body, _, relation = check_text("unit", text).partition("/")
    if "@" in body:  # names of zones have slashes too
        whole, _, last = text.rpartition("/")
        body, relation = (whole, last) if last in get_args(Relation) else (text, "")
    kind, _, detail = body.partition(":")
    kind, opened, called = kind.partition("(")
    if opened and not called.endswith(")"):
        raise InvalidArgument("unit", text, "with a name in parentheses, such as user(aircraft)")
    unit_class = kinds_of(Unit).get(kind)
    names = (unit_class and unit_class.fields_in_text) or ("every",)  # for a message about what has no such field
    parts = detail.split("@", len(names) - 1) if detail else []
    document: dict[str, Any] = {"kind": kind, **dict(zip(names, parts, strict=False))}
    for name in _NUMBERS:
        if name in document and document[name].isascii() and document[name].isdigit():
            document[name] = int(document[name])
    if opened:
        document["called"] = called.removesuffix(")")
    if relation:
        document["relation"] = relation
    unit: Unit = load(document, Unit)
    return unit


def parse_record_unit(text: str) -> RecordUnit:
    """Return the unit that a text names, if it is one of tables of records."""
    return check_record_unit("unit", parse_unit(text))
