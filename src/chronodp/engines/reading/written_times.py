"""Times that are written as texts, as SQL for DuckDB and Spark: ISO 8601, or as the owner declares.

*Wall clocks* and *Text* under "Why it holds" in ``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

from sqlglot import exp

from chronodp.engines.reading.grammar import ABSOLUTE, MONTHS, WALL, Format
from chronodp.engines.reading.terms import (
    Term,
    call,
    cases,
    cast_to,
    extract,
    matches,
    string,
    substring,
    text_of,
    try_cast,
    try_cast_to,
    whole,
)

__all__ = ["formatted_time", "has_offset", "iso_time", "microseconds_of_clock"]


def iso_time(text: Term, dialect: str) -> Term:
    """Return the microseconds since 1970 of a time in ISO 8601, of other texts NULL.

    What has an offset can only be an instant, what has none only a wall clock's time: so one pattern is tried, not two.
    """
    instant = _instant_in_duckdb(text) if dialect == "duckdb" else _instant_in_spark(text)
    written = cases((matches(text, ABSOLUTE, dialect), instant))
    return cases((has_offset(text), written), default=_wall(text, dialect))


def has_offset(text: Term) -> Term:
    """Return whether a time in ISO 8601 has an offset; of other texts anything.

    It ends with a Z, or has a plus, or a minus after its clock.
    """
    ends = (exp.Like(this=text.copy(), expression=string(layout)) for layout in ("%Z", "%+%", "%:%-%"))
    return exp.paren(exp.or_(*ends, copy=False), copy=False)


def formatted_time(written: Format, text: Term, dialect: str) -> Term:
    """Return the microseconds of a time in a declared format, put together as ISO 8601 and then read as such."""
    part = {
        letter: extract(text, written.pattern, group, dialect) for group, letter in enumerate(written.fields, start=1)
    }
    month = _month(part["b"]) if "b" in part else _two_digits(part["m"])
    pieces = [part["Y"], string("-"), month, string("-"), _two_digits(part["d"]), string("T"), _hour(part)]
    for letter in "MS":
        pieces += [string(":"), _two_digits(part[letter]) if letter in part else string("00")]
    if "f" in part:
        pieces += [string("."), part["f"]]
    iso = call("CONCAT", *pieces)
    wall = _wall(iso, dialect)
    return exp.paren(wall - _offset(part["z"])) if "z" in part else wall


def microseconds_of_clock(clock: Term) -> Term:
    """Return the microseconds of a Spark time without a zone, which the session's zone has no part in.

    A difference of two clocks, as TIMESTAMPDIFF has it, is taken between instants of that zone, in which an hour of
    spring is missing. So days are counted, and what is left of the last one is taken as an interval: a million times as
    long it has as many seconds as there were microseconds, and its seconds are a whole number.
    """
    day = cast_to("DATE", clock)
    left = exp.paren(clock.copy() - cast_to("TIMESTAMP_NTZ", day))
    seconds = cast_to("INTERVAL SECOND", left * whole(1_000_000))
    return exp.paren(call("UNIX_DATE", day.copy()) * whole(86_400_000_000) + cast_to("BIGINT", seconds))


def _wall(text: Term, dialect: str) -> Term:
    """Microseconds of a text that is written as `WALL`; NULL for others, and for days that a month does not have."""
    if dialect == "duckdb":
        clock = call("EPOCH_US", try_cast(text.copy(), "TIMESTAMP"))
    else:
        clock = microseconds_of_clock(try_cast_to("TIMESTAMP_NTZ", text))
    return cases((matches(text, WALL, dialect), clock))


def _instant_in_duckdb(text: Term) -> Term:
    """Microseconds of a text that is written as `ABSOLUTE`."""
    return call("EPOCH_US", try_cast(text.copy(), "TIMESTAMPTZ"))


def _instant_in_spark(text: Term) -> Term:
    clock, offset = (extract(text, ABSOLUTE, group, "spark") for group in (1, 2))
    return _wall(clock, "spark") - _offset(offset)


def _offset(text: Term) -> Term:
    """Microseconds of an offset such as Z, +02, +0530 or +05:30."""
    hours = try_cast(substring(text, 2, 2), "BIGINT") * 60
    last_two = call("RIGHT", text.copy(), whole(2))
    minutes = exp.case().when(exp.Length(this=text.copy()) > 3, try_cast(last_two, "BIGINT")).else_(whole(0))
    size = exp.paren(exp.paren(hours + minutes) * whole(60_000_000))
    return (
        exp.case()
        .when(text.copy().eq(string("Z")), whole(0))
        .when(substring(text, 1, 1).eq(string("-")), exp.Neg(this=size))
        .else_(size.copy())
    )


def _month(name: Term) -> Term:
    number = exp.case()
    for month, known in enumerate(MONTHS, start=1):
        number = number.when(name.copy().eq(string(known)), string(f"{month:02d}"))
    return number


def _hour(part: dict[str, Term]) -> Term:
    if "I" not in part:
        return _two_digits(part["H"]) if "H" in part else string("00")
    half = exp.case().when(exp.Lower(this=part["p"].copy()).eq(string("pm")), whole(12)).else_(whole(0))
    hour = try_cast(part["I"].copy(), "INT")
    inside = exp.Between(this=hour, low=whole(1), high=whole(12))
    moved = exp.paren(hour.copy() % 12) + exp.paren(half)
    return exp.case().when(inside, _two_digits(text_of(exp.paren(moved)))).else_(string("99"))


def _two_digits(text: Term) -> Term:
    return call("LPAD", text.copy(), whole(2), string("0"))
