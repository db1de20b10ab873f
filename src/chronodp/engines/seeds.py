"""A person's seeds as terms of an SQL text: they decide which periods and places of the person count.

"The order" in ``docs/explanation/proofs/bounding.md``; `choice` has the same numbers in numpy.
"""

from __future__ import annotations

from sqlglot import exp

from chronodp.engines.choice import seed_texts
from chronodp.engines.rows import Term

__all__ = ["SEEDS", "hexadecimal", "person_digest", "seed_terms", "seeds_of_digest"]

SEEDS = ("multiplier", "shift_", "offset_")
"""Columns with a person's seeds."""


def seed_terms(key: str, dialect: str) -> dict[str, Term]:
    """Return the seeds of the person of a row."""
    return seeds_of_digest(person_digest(key), dialect)


def person_digest(key: str) -> Term:
    """Return the digest from which a person's seeds are made."""
    return exp.MD5(this=exp.func("CONCAT", exp.Literal.string(f"{key}|"), exp.column("person")))


def seeds_of_digest(digest: Term, dialect: str) -> dict[str, Term]:
    """Return the seeds of a digest."""
    return dict(zip(SEEDS, seed_texts(digest, lambda digits: hexadecimal(digits, dialect)), strict=True))


def hexadecimal(digits: Term, dialect: str) -> Term:
    """Return eight hexadecimal digits as a number."""
    if dialect == "duckdb":
        return exp.cast(exp.func("CONCAT", exp.Literal.string("0x"), digits), "BIGINT")
    return exp.cast(exp.func("CONV", digits, exp.Literal.number(16), exp.Literal.number(10)), "BIGINT")
