"""From a table's rows to (person, period, place, steps), as SQL that every engine can run.

Nothing here refuses a row: what has no person, no time, no number, or lies outside the grid, is left out. The table is
called ``records``; the public keys of the i-th grouping are in ``keys_i (key, code)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from sqlglot import exp

from chronodp.engines.question import ROW_LIMIT, Question
from chronodp.engines.schema import Schema

__all__ = ["Term", "between", "count_rows", "everyone_select", "rows_select"]

Term: TypeAlias = exp.Expression

_OFFSET = r":\d\d(\.\d+)?\s*(Z|[+-]\d\d(:?\d\d)?)$"  # how a time written as text ends if it says its offset
_MARGIN = 3 * 86_400_000_000  # wall clocks differ from UTC by less


def rows_select(question: Question, schema: Schema) -> exp.Select:
    """Return the rows that count: person (unless every row stands for itself), period, place and steps."""
    calendar = question.calendar
    query = exp.select(_period(question).as_("period"), _place(question).as_("place"), _steps(question).as_("steps"))
    if question.user is not None:
        query = query.select(exp.column("person"))
    query = query.from_(_placed(question, schema).subquery("placed"))
    for index in range(len(question.groupings)):
        query = query.join(
            exp.to_table(f"keys_{index}"), on=exp.column(f"group_{index}").eq(exp.column("key", table=f"keys_{index}"))
        )
    instant = exp.column("instant")
    query = query.where(instant >= int(calendar.edges[0]), instant < int(calendar.edges[-1]))
    query = query.where(*_complete(question))
    if question.edges:
        number = exp.column("number")
        query = query.where(number >= _real(question.edges[0]), number <= _real(question.edges[-1]))
    return query


def everyone_select(question: Question) -> exp.Select:
    """Return everyone who has a row, usable or not, with the number of their rows: a look at one column."""
    if question.user is None:
        raise AssertionError("asked only where there are people")
    person = exp.column("person")
    named = exp.select(_text(question.user).as_("person")).from_("records").subquery("named")
    return (
        exp.select(person, exp.Count(this=exp.Star()).as_("visits"))
        .from_(named)
        .where(person.copy().is_(exp.null()).not_())
        .group_by(person.copy())
    )


def count_rows(question: Question, schema: Schema) -> exp.Select:
    """Return two numbers: all rows, and those with a person, a time and a number."""
    usable = exp.and_(exp.column("moment").is_(exp.null()).not_(), *_complete(question))
    return exp.select(
        exp.Count(this=exp.Star()), exp.func("COUNT", exp.case().when(usable, exp.Literal.number(1)))
    ).from_(_read(question, schema).subquery("read"))


def _read(question: Question, schema: Schema) -> exp.Select:
    """Each row's person, moment (microseconds, wall clock if it has no offset), number and group keys."""
    time = exp.column(question.time, quoted=True)
    kind = "TIMESTAMPTZ" if schema.text or schema.has_offset(question.time) else "TIMESTAMP"
    moment = exp.UnixMicros(this=exp.TryCast(this=time, to=exp.DataType.build(kind)))
    query = exp.select(moment.as_("moment")).from_("records")
    if schema.text and len(question.calendar.wall_clock_changes()) > 1:
        query = query.select(exp.RegexpLike(this=time.copy(), expression=exp.Literal.string(_OFFSET)).as_("absolute"))
    if question.user is not None:
        query = query.select(_text(question.user).as_("person"))
    if question.value is not None:
        number = exp.TryCast(this=exp.column(question.value, quoted=True), to=exp.DataType.build("DOUBLE"))
        query = query.select(number.as_("number"))
    for index, grouping in enumerate(question.groupings):
        query = query.select(_text(grouping.column).as_(f"group_{index}"))
    return query


def _placed(question: Question, schema: Schema) -> exp.Select:
    """The rows with their instant in UTC, null if it is far from the grid: sums of such times could overflow."""
    calendar, moment = question.calendar, exp.column("moment")
    near = exp.Between(
        this=moment,
        low=exp.Literal.number(int(calendar.edges[0]) - _MARGIN),
        high=exp.Literal.number(int(calendar.edges[-1]) + _MARGIN),
    )
    changes = calendar.wall_clock_changes()
    offset = _lookup(moment, [start for start, _ in changes[1:]], [_whole(offset) for _, offset in changes])
    instant: Term = exp.paren(moment - offset)
    if schema.has_offset(question.time):
        instant = moment.copy()
    elif schema.text and len(changes) > 1:
        instant = exp.case().when(exp.column("absolute"), moment.copy()).else_(instant)
    kept = [part.alias_or_name for part in _read(question, schema).selects if part.alias_or_name != "moment"]
    return exp.select(*kept, exp.case().when(near, instant).as_("instant")).from_(
        _read(question, schema).subquery("read")
    )


def _complete(question: Question) -> list[Term]:
    conditions: list[Term] = []
    if question.user is not None:
        conditions.append(exp.column("person").is_(exp.null()).not_())
    if question.value is not None:
        number = exp.column("number")
        conditions += [number.is_(exp.null()).not_(), exp.IsNan(this=number.copy()).not_()]
    return conditions


def _period(question: Question) -> Term:
    instant = exp.column("instant")
    runs = question.calendar.runs
    numbers: list[Term] = [
        exp.IntDiv(this=exp.paren(instant - run.start), expression=_whole(run.width)) + run.first for run in runs
    ]
    return _lookup(instant, [run.start for run in runs[1:]], numbers)


def _place(question: Question) -> Term:
    place: Term = _whole(0)
    for index, grouping in enumerate(question.groupings):
        place = exp.paren(place * len(grouping.keys) + exp.column("code", table=f"keys_{index}"))
    if question.edges:
        inner = question.edges[1:-1]
        bins: list[Term] = [_whole(number) for number in range(len(question.edges) - 1)]
        place = place * len(bins) + exp.paren(_lookup(exp.column("number"), inner, bins))
    return place


def _steps(question: Question) -> Term:
    if question.value is None or question.edges:
        return _whole(round(1 / question.grid.step))
    limit = float(ROW_LIMIT)
    steps = exp.column("number") * _real(1 / question.grid.step)
    held = between(_real(-limit), steps, _real(limit))
    return exp.cast(exp.Floor(this=held + _real(0.5)), "BIGINT")


def between(low: Term, value: Term, high: Term) -> Term:
    """Return a value that is not null, moved into a range."""
    least = exp.Least(this=high, expressions=[value], ignore_nulls=True)
    return exp.Greatest(this=low, expressions=[least], ignore_nulls=True)


def _lookup(value: Term, thresholds: Sequence[float], results: Sequence[Term]) -> Term:
    """Return results[i] for the i such that thresholds[i-1] <= value < thresholds[i], by halving."""
    if not thresholds:
        return results[0].copy()
    middle = len(thresholds) // 2
    bound = thresholds[middle]
    edge = _whole(bound) if isinstance(bound, int) else _real(bound)
    below = _lookup(value, thresholds[:middle], results[: middle + 1])
    above = _lookup(value, thresholds[middle + 1 :], results[middle + 1 :])
    return exp.case().when(value.copy() < edge, below).else_(above)


def _text(column: str) -> Term:
    return exp.cast(exp.column(column, quoted=True), "VARCHAR")


def _whole(number: int) -> Term:
    return exp.Literal.number(number) if number >= 0 else exp.paren(exp.Neg(this=exp.Literal.number(-number)))


def _real(number: float) -> Term:
    """A number that every dialect reads as a double, without loss: only those with an exponent are."""
    text = exp.Literal.number(f"{abs(number):.17e}")
    return text if number >= 0 else exp.paren(exp.Neg(this=text))
