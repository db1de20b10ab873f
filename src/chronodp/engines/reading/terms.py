"""Pieces of SQL from which the rule for stored columns is put together, for DuckDB and Spark.

What makes two databases read alike: *Text* and *Totality* under "Why it holds" in
``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

from typing import TypeAlias

from sqlglot import exp

__all__ = [
    "Term",
    "call",
    "cases",
    "cast_to",
    "ends_with",
    "extract",
    "has",
    "is_finite",
    "matches",
    "real",
    "string",
    "substring",
    "text_of",
    "trimmed",
    "try_cast",
    "try_cast_to",
    "whole",
    "whole_part",
]

Term: TypeAlias = exp.Expression

_LARGEST = 1.7976931348623157e308


def cases(*found: tuple[Term, Term], default: Term | None = None) -> Term:
    """Return the second of the first pair whose first holds; all are taken as they are, and may stand nowhere else.

    ``exp.case().when`` would copy them, and whatever is built upon them once more.
    """
    return exp.Case(ifs=[exp.If(this=condition, true=then) for condition, then in found], default=default)


def matches(text: Term, pattern: str, dialect: str) -> Term:
    """Return whether a text, all of it, is written by a pattern."""
    if dialect == "duckdb":
        return call("REGEXP_FULL_MATCH", text.copy(), string(pattern))
    return call("RLIKE", text.copy(), string(_anchored(pattern, dialect)))


def extract(text: Term, pattern: str, group: int, dialect: str) -> Term:
    """Return what a group of a pattern holds, of a text that is written by it."""
    return call("REGEXP_EXTRACT", text.copy(), string(_anchored(pattern, dialect)), whole(group))


def _anchored(pattern: str, dialect: str) -> str:
    """Return a pattern that fits whole texts only; a dollar sign would fit before a last line break in Java."""
    return f"^(?:{pattern})$" if dialect == "duckdb" else f"(?s)^(?:{pattern})(?!.)"


def ends_with(text: Term, sign: str, dialect: str) -> Term:
    """Return whether a text ends with a sign."""
    return call("SUFFIX" if dialect == "duckdb" else "ENDSWITH", text.copy(), string(sign))


def has(text: Term, sign: str) -> Term:
    """Return whether a text has a sign."""
    return call("CONTAINS", text.copy(), string(sign))


def is_finite(number: Term, dialect: str) -> Term:
    """Return whether a number is neither infinite nor NaN."""
    if dialect == "duckdb":
        # A comparison would not do: DuckDB leaves it out where a file's statistics, which know nothing of NaN, say
        # that no number is larger.
        return call("ISFINITE", number.copy())
    return exp.Abs(this=number.copy()) <= real(_LARGEST)  # for Spark, NaN is larger than every number


def text_of(column: Term) -> Term:
    """Return cells as texts."""
    return exp.cast(column.copy(), "VARCHAR")


def trimmed(column: Term, dialect: str) -> Term:
    """Return cells as texts without the blanks around them."""
    text = text_of(column)
    # DuckDB alone would take away every kind of space that Unicode knows.
    without: Term = exp.Trim(this=text, expression=string(" "))
    if dialect == "spark":
        return without
    # That takes DuckDB ten times as long as to see that there are none. What begins with a blank comes before the
    # exclamation mark; so do a few other texts, which stay as they are.
    blank: Term = exp.Or(this=text.copy() < string("!"), expression=ends_with(text, " ", dialect))
    return cases((blank, without), default=text.copy())


def whole_part(text: Term) -> Term:
    """Return what stands before the point."""
    return call("SPLIT_PART", text.copy(), string("."), whole(1))


def substring(text: Term, start: int, length: int | None = None) -> Term:
    """Return a part of a text; its signs are counted from 1."""
    return exp.Substring(this=text.copy(), start=whole(start), length=None if length is None else whole(length))


def try_cast(term: Term, kind: str) -> Term:
    """Return a term in another type, or NULL."""
    # For Spark only what is called safe stays a cast that does not fail.
    return exp.TryCast(this=term, to=exp.DataType.build(kind), safe=True)


def try_cast_to(kind: str, term: Term) -> Term:
    """Return the same for a type whose name differs between the two databases, and is not translated."""
    return call("TRY_CAST", _as(term, kind))


def cast_to(kind: str, term: Term) -> Term:
    """Return a term as such a type."""
    return call("CAST", _as(term, kind))


def _as(term: Term, kind: str) -> Term:
    return exp.Alias(this=term.copy(), alias=exp.Identifier(this=kind, quoted=False))


def call(function: str, *arguments: Term) -> Term:
    """Return a call by its own name, which is not translated between dialects."""
    return exp.Anonymous(this=function, expressions=list(arguments))


def string(text: str) -> Term:
    """Return a text as a constant."""
    return exp.Literal.string(text)


def whole(number: int) -> Term:
    """Return a whole number as a constant."""
    return exp.Literal.number(number) if number >= 0 else exp.paren(exp.Neg(this=exp.Literal.number(-number)))


def real(number: float) -> Term:
    """Return a number that is not negative as a constant, a double without loss."""
    return exp.Literal.number(f"{number:.16e}")  # one digit more, and Spark takes the largest for too large
