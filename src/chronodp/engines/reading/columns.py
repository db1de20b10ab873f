"""The rule for stored columns, as SQL that DuckDB and Spark run: each cell becomes what `cells` makes of it.

Every expression is total: it gives NULL where a cell cannot be read, and nothing that a cell holds makes it fail. Times
are compared with the public grid before they become numbers, since a time far away may not fit 64 bits.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from chronodp.engines.reading.cells import EXACT, FARTHEST
from chronodp.engines.reading.declared import Reading
from chronodp.engines.reading.grammar import (
    ABSOLUTE,
    MONTHS,
    TRUTHS,
    WALL,
    WHOLE,
    WHOLE_WITH_ZEROS,
    Format,
    number_pattern,
)
from chronodp.engines.reading.stored import Role, Stored

__all__ = ["Columns", "Term"]

Term: TypeAlias = exp.Expression

_LARGEST = 1.7976931348623157e308
_SURE_DIGITS = 15  # decimal numbers of so many digits become the nearest float by one division
_MARGIN = dt.timedelta(days=3)  # wall clocks differ from UTC by less
_DAY = 86_400_000_000
_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Columns:
    """Reads the columns of a table for one grid of time.

    Attributes:
        dialect: 'duckdb' or 'spark'.
        reading: what the owner declared.
        first: when the grid begins, in UTC; times far before it are left out.
        last: when it ends.
    """

    dialect: str
    reading: Reading
    first: dt.datetime
    last: dt.datetime

    def read(self, role: Role, stored: Stored, column: Term) -> Term:
        """Return what each cell is in a role, or NULL."""
        match role:
            case "time" | "order":
                return self.moment(stored, column)
            case "name":
                return self.name(stored, column)
            case "number":
                return self.number(stored, column)

    def name(self, stored: Stored, column: Term) -> Term:
        """Return the name in each cell, or NULL."""
        match stored.kind:
            case "text":
                text = _text(column)
                zeros = exp.and_(self._ends_with(text, "0"), self.matches(text, WHOLE_WITH_ZEROS))
                return (
                    exp.case()
                    .when(text.eq(_string("")), exp.null())
                    .when(zeros, _whole_part(text))
                    .when(
                        exp.In(this=text.copy(), expressions=[_string("True"), _string("False")]), exp.Lower(this=text)
                    )
                    .else_(text.copy())
                )
            case "whole" | "truth":
                return _text(column)
            case "decimal" if self.dialect == "spark":  # whose texts of decimal numbers may have exponents
                exact = exp.paren(column.copy() % 1).eq(_whole(0))
                return exp.case().when(exact, _text(exp.cast(column.copy(), "DECIMAL(38, 0)")))
            case "decimal":
                text = _text(column)
                nothing = self.matches(text, "[.]0+")  # of a type that has no digits before the point
                whole = self.matches(text, f"-?[0-9]+|{WHOLE_WITH_ZEROS}")
                return exp.case().when(whole, _whole_part(text)).when(nothing, _string("0"))
            case "real":
                number = exp.cast(column.copy(), "DOUBLE")
                integral = exp.and_(
                    self._is_finite(number),
                    exp.Abs(this=number.copy()) <= _real(EXACT),
                    exp.Floor(this=number.copy()).eq(number.copy()),
                )
                return exp.case().when(integral, _text(exp.cast(number.copy(), "BIGINT")))
        return exp.cast(exp.null(), "VARCHAR")

    def unread_name(self, stored: Stored, column: Term) -> Term:
        """Return what tells names apart before they are read: a text as it stands, which `name` of a text then reads.

        Where a name stands in many rows this is read once. Other names stay what they are when read as texts.
        """
        return _text(column) if stored.kind == "text" else self.name(stored, column)

    def number(self, stored: Stored, column: Term) -> Term:
        """Return the finite number in each cell, or NULL."""
        match stored.kind:
            case "text":
                return self._text_number(_text(column))
            case "whole":
                return exp.cast(column.copy(), "DOUBLE")
            case "decimal":
                exact = column.copy() if stored.digits <= _SURE_DIGITS else _text(column)
                return exp.cast(exact, "DOUBLE")
            case "real":
                number = exp.cast(column.copy(), "DOUBLE")
                return exp.case().when(self._is_finite(number), number.copy())
            case "truth":
                return exp.case().when(column.copy(), _real(1.0)).when(exp.not_(column.copy()), _real(0.0))
        return exp.cast(exp.null(), "DOUBLE")

    def moment(self, stored: Stored, column: Term) -> Term:
        """Return the time in each cell in microseconds since 1970, of UTC or as a wall clock shows it, or NULL."""
        match stored.kind:
            case "text" if self.reading.format is not None:
                return self._formatted(self.reading.format, _trimmed(column))
            case "text":
                return self._text_time(_trimmed(column))
            case "clock" | "instant" | "moment" if stored.ticks is not None:
                ticks = column.copy() if stored.ticks_by is None else _call(stored.ticks_by, column.copy())
                return self._ticks(ticks, stored.ticks)
            case "clock" | "instant" | "day":
                return self._own_type(stored, column)
            case "whole" | "decimal" | "real" if self.reading.epoch is not None:
                return self._epoch(stored, column, self.reading.epoch)
        return exp.cast(exp.null(), "BIGINT")

    def absolute(self, stored: Stored, column: Term) -> Term:
        """Return whether each cell's time is an instant, not what a wall clock shows; only of cells with a time."""
        if stored.kind == "moment":
            return exp.column(stored.flag, quoted=True)
        if stored.kind != "text":
            return exp.true() if stored.kind in ("instant", "whole", "decimal", "real") else exp.false()
        if self.reading.format is not None:
            return exp.true() if self.reading.format.absolute else exp.false()
        text = _trimmed(column)
        if self.reading.epoch is not None:
            return exp.not_(self.matches(text, WALL))
        # Of what is written as a time, only an offset has one of these signs there.
        after_the_day = exp.Substring(this=text, start=_whole(11))
        offset = [
            self._ends_with(text, "Z"),
            *(_call("CONTAINS", after_the_day.copy(), _string(sign)) for sign in "+-"),
        ]
        return exp.paren(exp.or_(*offset))

    def _text_number(self, text: Term) -> Term:
        trimmed = _without_spaces(text)
        number = _try_cast(self._with_point(trimmed), "DOUBLE")
        truths = exp.case()
        for word, value in TRUTHS.items():
            truths = truths.when(trimmed.copy().eq(_string(word)), _real(value))
        written = self.matches(trimmed, number_pattern(self.reading.decimal))
        return exp.case().when(written, exp.case().when(self._is_finite(number), number.copy())).else_(truths)

    def _with_point(self, text: Term) -> Term:
        if self.reading.decimal == ".":
            return text.copy()
        return _call("REPLACE", text.copy(), _string(self.reading.decimal), _string("."))

    def _text_time(self, text: Term) -> Term:
        found = exp.case().when(self.matches(text, WALL), self._wall(text))
        clock, offset = (self._extract(text, ABSOLUTE, group) for group in (1, 2))
        instant: Term = self._wall(clock) - _offset(offset)
        if self.dialect == "duckdb":
            # Its own reading takes half the time, but in DuckDB 1.5.0 it knows no clock without seconds.
            instant = _call("COALESCE", _call("EPOCH_US", _try_cast(text.copy(), "TIMESTAMPTZ")), instant)
        found = found.when(self.matches(text, ABSOLUTE), instant)
        if self.reading.epoch is None:
            return found
        unit = self.reading.epoch
        found = found.when(self.matches(text, WHOLE), self._ticks(_try_cast(text.copy(), "BIGINT"), unit))
        number = _try_cast(self._with_point(text), "DOUBLE")
        return found.when(self.matches(text, number_pattern(self.reading.decimal)), _scaled(number, unit))

    def _formatted(self, written: Format, text: Term) -> Term:
        """Put the fields of a written time together as ISO 8601, which is then read as such."""
        part = {
            letter: self._extract(text, written.pattern, group) for group, letter in enumerate(written.fields, start=1)
        }
        month = _month(part["b"]) if "b" in part else _two_digits(part["m"])
        pieces = [part["Y"], _string("-"), month, _string("-"), _two_digits(part["d"]), _string("T"), _hour(part)]
        for letter in "MS":
            pieces += [_string(":"), _two_digits(part[letter]) if letter in part else _string("00")]
        if "f" in part:
            pieces += [_string("."), part["f"]]
        iso = _call("CONCAT", *pieces)
        wall = exp.case().when(self.matches(iso, WALL), self._wall(iso))
        return exp.paren(wall - _offset(part["z"])) if "z" in part else wall

    def _wall(self, text: Term) -> Term:
        """Microseconds of a text that is written as `WALL`; NULL for days that a month does not have."""
        if self.dialect == "duckdb":
            return _call("EPOCH_US", _try_cast(text.copy(), "TIMESTAMP"))
        return _spark_clock(_call("TRY_CAST", _aliased(text, "TIMESTAMP_NTZ")))

    def _own_type(self, stored: Stored, column: Term) -> Term:
        """Microseconds of a time in the engine's own type, if it is near the grid."""
        if self.dialect == "spark" and stored.kind == "instant":
            return _call("UNIX_MICROS", column.copy())  # what Spark holds: no time is too far
        first, last = self.first - _MARGIN, self.last + _MARGIN
        if stored.kind == "day":
            ends = [_typed("DATE", moment.date().isoformat()) for moment in (first, last)]
        else:
            kind = {"instant": "TIMESTAMPTZ", "clock": "TIMESTAMP_NTZ" if self.dialect == "spark" else "TIMESTAMP"}
            offset = "+00:00" if stored.kind == "instant" else ""
            ends = [_typed(kind[stored.kind], f"{moment:%Y-%m-%d %H:%M:%S}{offset}") for moment in _padded(first, last)]
        near = exp.and_(column.copy() >= ends[0], column.copy() <= ends[1])
        if self.dialect == "duckdb":
            return exp.case().when(near, _call("EPOCH_US", column.copy()))
        if stored.kind == "day":
            return exp.case().when(near, _call("UNIX_DATE", column.copy()) * _whole(_DAY))
        return exp.case().when(near, _spark_clock(column))

    def _epoch(self, stored: Stored, column: Term, unit: int) -> Term:
        if stored.kind == "whole":
            return self._ticks(_try_cast(column.copy(), "BIGINT"), unit)
        whole = self.name(stored, column)
        number = self.number(stored, column)
        exact = self._ticks(_try_cast(whole.copy(), "BIGINT"), unit)
        if stored.kind == "real":
            return _scaled(number, unit)
        return exp.case().when(whole.is_(exp.null()).not_(), exact).else_(_scaled(number, unit))

    def _ticks(self, ticks: Term, unit: int) -> Term:
        """Microseconds of a whole number of units of so many nanoseconds, rounded down, if they are near the grid."""
        ends = [
            (moment - _EPOCH) // _MICROSECOND * 1000 // unit for moment in (self.first - _MARGIN, self.last + _MARGIN)
        ]
        low, high = (max(-(2**63) + 1, min(2**63 - 1, end)) for end in ends)
        near = exp.Between(this=ticks, low=_whole(low), high=_whole(high))
        if unit >= 1000:
            return exp.case().when(near, ticks.copy() * _whole(unit // 1000))
        # Databases divide toward zero, and times before 1970 are negative.
        rest = exp.paren(exp.paren(exp.paren(ticks.copy() % 1000) + 1000) % 1000)
        return exp.case().when(near, exp.IntDiv(this=exp.paren(ticks.copy() - rest), expression=_whole(1000)))

    def _is_finite(self, number: Term) -> Term:
        if self.dialect == "duckdb":
            # A comparison would not do: DuckDB leaves it out where a file's statistics, which know nothing of NaN, say
            # that no number is larger.
            return _call("ISFINITE", number.copy())
        return exp.Abs(this=number.copy()) <= _real(_LARGEST)  # for Spark, NaN is larger than every number

    def matches(self, text: Term, pattern: str) -> Term:
        """Return whether a text, all of it, is written by a pattern."""
        if self.dialect == "duckdb":
            return _call("REGEXP_FULL_MATCH", text.copy(), _string(pattern))
        return _call("RLIKE", text.copy(), _string(_anchored(pattern)))

    def _extract(self, text: Term, pattern: str, group: int) -> Term:
        return _call("REGEXP_EXTRACT", text.copy(), _string(_anchored(pattern, dialect=self.dialect)), _whole(group))

    def _ends_with(self, text: Term, sign: str) -> Term:
        return _call("SUFFIX" if self.dialect == "duckdb" else "ENDSWITH", text.copy(), _string(sign))


def _anchored(pattern: str, *, dialect: str = "spark") -> str:
    """Return a pattern that fits whole texts only; a dollar sign would fit before a last line break in Java."""
    return f"^(?:{pattern})$" if dialect == "duckdb" else f"(?s)^(?:{pattern})(?!.)"


def _padded(first: dt.datetime, last: dt.datetime) -> tuple[dt.datetime, dt.datetime]:
    return first, last + dt.timedelta(seconds=1)


def _month(name: Term) -> Term:
    number = exp.case()
    for month, known in enumerate(MONTHS, start=1):
        number = number.when(name.copy().eq(_string(known)), _string(f"{month:02d}"))
    return number


def _hour(part: dict[str, Term]) -> Term:
    if "I" not in part:
        return _two_digits(part["H"]) if "H" in part else _string("00")
    half = exp.case().when(exp.Lower(this=part["p"].copy()).eq(_string("pm")), _whole(12)).else_(_whole(0))
    hour = _try_cast(part["I"].copy(), "INT")
    inside = exp.Between(this=hour, low=_whole(1), high=_whole(12))
    moved = exp.paren(hour.copy() % 12) + exp.paren(half)
    return exp.case().when(inside, _two_digits(_text(exp.paren(moved)))).else_(_string("99"))


def _offset(text: Term) -> Term:
    """Microseconds of an offset such as Z, +02, +0530 or +05:30."""
    hours = _try_cast(_substring(text, 2, 2), "BIGINT") * 60
    minutes = exp.case().when(exp.Length(this=text.copy()) > 3, _try_cast(_right(text), "BIGINT")).else_(_whole(0))
    size = exp.paren(exp.paren(hours + minutes) * _whole(60_000_000))
    return (
        exp.case()
        .when(text.copy().eq(_string("Z")), _whole(0))
        .when(_substring(text, 1, 1).eq(_string("-")), exp.Neg(this=size))
        .else_(size.copy())
    )


def _scaled(number: Term, unit: int) -> Term:
    """Microseconds of a number of units that is no whole one, rounded down."""
    number = exp.paren(number)
    scaled = number * _real(unit / 1000) if unit >= 1000 else number / _real(1000 / unit)
    near = exp.Abs(this=exp.paren(scaled)) < _real(FARTHEST)
    return exp.case().when(near, exp.cast(exp.Floor(this=scaled.copy()), "BIGINT"))


def _spark_clock(clock: Term) -> Term:
    """Microseconds of a Spark time without a zone; its own functions would look at the session's zone."""
    epoch = _typed("TIMESTAMP_NTZ", "1970-01-01 00:00:00")
    return _call("TIMESTAMPDIFF", exp.var("MICROSECOND"), epoch, clock.copy())


def _typed(kind: str, text: str) -> Term:
    return _call("CAST", _aliased(_string(text), kind))


def _aliased(term: Term, kind: str) -> Term:
    """``term AS kind``, for casts to types whose names differ between the two databases."""
    return exp.Alias(this=term.copy(), alias=exp.to_identifier(kind))


def _try_cast(term: Term, kind: str) -> Term:
    # For Spark only what is called safe stays a cast that does not fail.
    return exp.TryCast(this=term, to=exp.DataType.build(kind), safe=True)


def _text(column: Term) -> Term:
    return exp.cast(column.copy(), "VARCHAR")


def _trimmed(column: Term) -> Term:
    return _without_spaces(_text(column))


def _without_spaces(text: Term) -> Term:
    # DuckDB alone would take away every kind of space that Unicode knows.
    return exp.Trim(this=text, expression=_string(" "))


def _whole_part(text: Term) -> Term:
    return _call("SPLIT_PART", text.copy(), _string("."), _whole(1))


def _two_digits(text: Term) -> Term:
    return _call("LPAD", text.copy(), _whole(2), _string("0"))


def _substring(text: Term, start: int, length: int) -> Term:
    return exp.Substring(this=text.copy(), start=_whole(start), length=_whole(length))


def _right(text: Term) -> Term:
    return _call("RIGHT", text.copy(), _whole(2))


def _call(function: str, *arguments: Term) -> Term:
    """A call by its own name, which is not translated between dialects."""
    return exp.Anonymous(this=function, expressions=list(arguments))


def _string(text: str) -> Term:
    return exp.Literal.string(text)


def _whole(number: int) -> Term:
    return exp.Literal.number(number) if number >= 0 else exp.paren(exp.Neg(this=exp.Literal.number(-number)))


def _real(number: float) -> Term:
    return exp.Literal.number(f"{number:.16e}")  # one digit more, and Spark takes the largest for too large
