"""The rule for stored columns, as SQL that DuckDB and Spark run: each cell becomes what `cells` makes of it.

Every expression is total: it gives NULL where a cell cannot be read, and nothing that a cell holds makes it fail. Times
are compared with the public grid before they become numbers, since a time far away may not fit 64 bits.

"The rule" of ``docs/explanation/proofs/reading.md``; *Totality* under "Why it holds" is why every expression gives NULL
and none an error.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from sqlglot import exp

from chronodp.engines.reading.cells import EXACT, FARTHEST
from chronodp.engines.reading.declared import Reading
from chronodp.engines.reading.grammar import TRUTHS, WALL, WHOLE, WHOLE_WITH_ZEROS, number_pattern, short_number_pattern
from chronodp.engines.reading.stored import Role, Stored
from chronodp.engines.reading.terms import (
    Term,
    call,
    cases,
    cast_to,
    ends_with,
    has,
    is_finite,
    matches,
    real,
    string,
    text_of,
    trimmed,
    try_cast,
    whole,
    whole_part,
)
from chronodp.engines.reading.written_times import formatted_time, has_offset, iso_time, microseconds_of_clock

__all__ = ["Columns", "Term"]

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
        first: when the grid begins, in UTC; times far before it may be left out.
        last: when it ends.
        moved: whether the times of wall clocks will be moved; those at the ends of the engine's range could not be.
    """

    dialect: str
    reading: Reading
    first: dt.datetime
    last: dt.datetime
    moved: bool = True

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
                text = text_of(column)
                # Patterns take ten times as long as to see that there is no point.
                pointed = exp.And(this=ends_with(text, "0", self.dialect), expression=has(text, "."))
                zeros = exp.And(this=pointed, expression=self.matches(text, WHOLE_WITH_ZEROS))
                truth = exp.In(this=text.copy(), expressions=[string("True"), string("False")])
                ifs = [
                    exp.If(this=text.copy().eq(string("")), true=exp.null()),
                    exp.If(this=zeros, true=whole_part(text)),
                    exp.If(this=truth, true=exp.Lower(this=text.copy())),
                ]
                return exp.Case(ifs=ifs, default=text)
            case "whole" | "truth":
                return text_of(column)
            case "decimal" if self.dialect == "spark":  # whose texts of decimal numbers may have exponents
                exact = exp.paren(column.copy() % 1).eq(whole(0))
                return exp.case().when(exact, text_of(exp.cast(column.copy(), "DECIMAL(38, 0)")))
            case "decimal":
                text = text_of(_decimal(stored, column))
                nothing = self.matches(text, "[.]0+")  # of a type that has no digits before the point
                digits = self.matches(text, f"-?[0-9]+|{WHOLE_WITH_ZEROS}")
                return exp.case().when(digits, whole_part(text)).when(nothing, string("0"))
            case "real":
                number = exp.cast(column.copy(), "DOUBLE")
                integral = exp.and_(
                    is_finite(number, self.dialect),
                    exp.Abs(this=number.copy()) <= real(EXACT),
                    exp.Floor(this=number.copy()).eq(number.copy()),
                )
                return exp.case().when(integral, text_of(try_cast(number.copy(), "BIGINT")))
        return exp.cast(exp.null(), "VARCHAR")

    def unread_name(self, stored: Stored, column: Term) -> Term:
        """Return what tells names apart before they are read: a text as it stands, which `name` of a text then reads.

        Where a name stands in many rows this is read once. Other names stay what they are when read as texts.
        """
        return text_of(column) if stored.kind == "text" else self.name(stored, column)

    def number(self, stored: Stored, column: Term) -> Term:
        """Return the finite number in each cell, or NULL."""
        match stored.kind:
            case "text":
                return self._text_number(trimmed(column, self.dialect))
            case "whole":
                return exp.cast(column.copy(), "DOUBLE")
            case "decimal":
                held = _decimal(stored, column) if self.dialect == "duckdb" else column.copy()
                return exp.cast(held if stored.digits <= _SURE_DIGITS else text_of(held), "DOUBLE")
            case "real":
                number = exp.cast(column.copy(), "DOUBLE")
                return exp.case().when(is_finite(number, self.dialect), number.copy())
            case "truth":
                return exp.case().when(column.copy(), real(1.0)).when(exp.not_(column.copy()), real(0.0))
        return exp.cast(exp.null(), "DOUBLE")

    def moment(self, stored: Stored, column: Term) -> Term:
        """Return the time in each cell in microseconds since 1970, of UTC or as a wall clock shows it, or NULL."""
        match stored.kind:
            case "text" if self.reading.format is not None:
                return formatted_time(self.reading.format, trimmed(column, self.dialect), self.dialect)
            case "text":
                return self._text_time(trimmed(column, self.dialect))
            case "whole" | "decimal" | "real" if self.reading.format is not None:  # by its digits, as a text of them
                return formatted_time(self.reading.format, self.name(stored, column), self.dialect)
            case "clock" | "instant" | "moment" if stored.ticks is not None:
                # Spark before 4 does not take a wall clock for an instant by itself.
                clock = self.dialect == "spark" and stored.kind == "clock"
                held = cast_to("TIMESTAMP_LTZ", column) if clock else column.copy()
                ticks = held if stored.ticks_by is None else call(stored.ticks_by, held)
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
        if stored.kind in ("instant", "day", "clock"):
            return exp.true() if stored.kind == "instant" else exp.false()
        if self.reading.format is not None:
            return exp.true() if self.reading.format.absolute else exp.false()
        if stored.kind != "text":
            return exp.true() if stored.kind in ("whole", "decimal", "real") else exp.false()
        text = trimmed(column, self.dialect)
        return has_offset(text) if self.reading.epoch is None else exp.not_(self.matches(text, WALL))

    def _text_number(self, text: Term) -> Term:
        number, sign = try_cast(self._with_point(text), "DOUBLE"), self.reading.decimal
        finite = cases((is_finite(number, self.dialect), number.copy()))
        found = [(self.matches(text, short_number_pattern(sign)), number)]
        found.append((self.matches(text, number_pattern(sign)), finite))
        for value in (1.0, 0.0):
            words = [string(word) for word, meant in TRUTHS.items() if meant == value]
            found.append((exp.In(this=text.copy(), expressions=words), real(value)))
        return cases(*found)

    def _with_point(self, text: Term) -> Term:
        if self.reading.decimal == ".":
            return text.copy()
        return call("REPLACE", text.copy(), string(self.reading.decimal), string("."))

    def _text_time(self, text: Term) -> Term:
        found, unit = iso_time(text, self.dialect), self.reading.epoch
        if unit is None:
            return found
        counted = exp.case().when(self.matches(text, WHOLE), self._ticks(try_cast(text.copy(), "BIGINT"), unit))
        number = try_cast(self._with_point(text), "DOUBLE")
        counted = counted.when(self.matches(text, number_pattern(self.reading.decimal)), _scaled(number, unit))
        return call("COALESCE", found, counted)  # no text is both

    def _own_type(self, stored: Stored, column: Term) -> Term:
        """Microseconds of a time in the engine's own type, if it is near the grid."""
        if self.dialect == "spark" and stored.kind == "instant":
            return call("UNIX_MICROS", column.copy())  # what Spark holds: no time is too far
        if self.dialect == "duckdb" and stored.kind == "clock" and not self.moved:
            return call("EPOCH_US", column.copy())  # never fails, and is null at both infinities
        first, last = self.first - _MARGIN, self.last + _MARGIN
        if stored.kind == "day":
            ends = [cast_to("DATE", string(moment.date().isoformat())) for moment in (first, last)]
        else:
            kind = {"instant": "TIMESTAMPTZ", "clock": "TIMESTAMP_NTZ" if self.dialect == "spark" else "TIMESTAMP"}
            offset = "+00:00" if stored.kind == "instant" else ""
            ends = [
                cast_to(kind[stored.kind], string(moment.isoformat(" ") + offset)) for moment in _padded(first, last)
            ]
        near, held = _near(column, *ends)
        if self.dialect == "duckdb":
            return exp.case().when(near, call("EPOCH_US", held))
        if stored.kind == "day":
            return exp.case().when(near, call("UNIX_DATE", held) * whole(_DAY))
        return exp.case().when(near, microseconds_of_clock(held))

    def _epoch(self, stored: Stored, column: Term, unit: int) -> Term:
        if stored.kind == "whole":
            return self._ticks(try_cast(column.copy(), "BIGINT"), unit)
        digits = self.name(stored, column)
        number = self.number(stored, column)
        exact = self._ticks(try_cast(digits.copy(), "BIGINT"), unit)
        if stored.kind == "real":
            return _scaled(number, unit)
        return exp.case().when(digits.is_(exp.null()).not_(), exact).else_(_scaled(number, unit))

    def _ticks(self, ticks: Term, unit: int) -> Term:
        """Microseconds of a whole number of units of so many nanoseconds, rounded down, if they are near the grid."""
        # Ends of the grid in ticks, three days wider: no clock of any zone is farther from UTC, so nothing that counts
        # is lost, and no product below leaves 64 bits.
        ends = [
            (moment - _EPOCH) // _MICROSECOND * 1000 // unit for moment in (self.first - _MARGIN, self.last + _MARGIN)
        ]
        low, high = (max(-(2**63) + 1, min(2**63 - 1, end)) for end in ends)
        near, held = _near(ticks, whole(low), whole(high))
        if unit >= 1000:
            return exp.case().when(near, held * whole(unit // 1000))
        # Databases divide toward zero, and times before 1970 are negative; to take the rest away first could overflow.
        lower = exp.case().when(exp.paren(held.copy() % 1000) < 0, whole(1)).else_(whole(0))
        divided = exp.IntDiv(this=exp.paren(held.copy()), expression=whole(1000))
        return exp.case().when(near, exp.paren(divided - exp.paren(lower)))

    def matches(self, text: Term, pattern: str) -> Term:
        """Return whether a text, all of it, is written by a pattern."""
        return matches(text, pattern, self.dialect)


def _decimal(stored: Stored, column: Term) -> Term:
    """Decimal numbers of no more digits than their type has, for which DuckDB's conversions fail; others are NULL."""
    nines = "9" * stored.digits
    point = stored.digits - stored.fraction
    most = exp.cast(string(f"{nines[:point]}.{nines[point:]}"), f"DECIMAL({stored.digits}, {stored.fraction})")
    near, held = _near(column, exp.Neg(this=most), most.copy())
    return exp.paren(exp.case().when(near, held))


def _near(value: Term, low: Term, high: Term) -> tuple[Term, Term]:
    """Return whether a value lies within bounds, and the value moved into them, from which anything can be computed.

    The condition alone does not keep what follows from failing: databases may compute that for other rows as well, as
    DuckDB does for all values of a dictionary.
    """
    least = exp.Least(this=value.copy(), expressions=[high], ignore_nulls=True)
    held = exp.Greatest(this=least, expressions=[low], ignore_nulls=True)
    return exp.Between(this=value.copy(), low=low.copy(), high=high.copy()), held


def _padded(first: dt.datetime, last: dt.datetime) -> tuple[dt.datetime, dt.datetime]:
    return first, last + dt.timedelta(seconds=1)


def _scaled(number: Term, unit: int) -> Term:
    """Microseconds of a number of units that is no whole one, rounded down."""
    number = exp.paren(number)
    scaled = number * real(unit / 1000) if unit >= 1000 else number / real(1000 / unit)
    near = exp.Abs(this=exp.paren(scaled)) < real(FARTHEST)
    return exp.case().when(near, try_cast(exp.Floor(this=scaled.copy()), "BIGINT"))
