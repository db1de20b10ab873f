"""A person's seeds as terms of an SQL text: they decide which periods and places of the person count.

"The order" in ``docs/explanation/proofs/bounding.md``; `choice` has the same numbers in numpy.
"""

from __future__ import annotations

from sqlglot import exp

from chronodp.engines.choice import seed_texts
from chronodp.engines.rows import Term, whole

__all__ = ["SEEDS", "hexadecimal", "person_digest", "seed_terms", "seeds_of_digest"]

SEEDS = ("multiplier", "shift_", "offset_")
"""Columns with a person's seeds."""

_SIXTEEN = 16  # digits that 64 bits hold


def seed_terms(key: str, dialect: str) -> dict[str, Term]:
    """Return the seeds of the person of a row."""
    return seeds_of_digest(person_digest(key), dialect)


def person_digest(key: str) -> Term:
    """Return the digest from which a person's seeds are made."""
    return exp.MD5(this=exp.func("CONCAT", exp.Literal.string(f"{key}|"), exp.column("person")))


def seeds_of_digest(digest: Term, dialect: str) -> dict[str, Term]:
    """Return the seeds of a digest."""

    def eight(at: int) -> Term:
        if dialect == "duckdb" or at > _SIXTEEN:
            return hexadecimal(_digits(digest, at, 8), dialect)
        # To read digits takes Spark longer than all else here, so it reads sixteen at once: a number with a sign, of
        # which either half is taken without.
        both = _converted(_digits(digest, 1, _SIXTEEN), -10)
        if at == 1:
            return exp.Anonymous(this="SHIFTRIGHTUNSIGNED", expressions=[both, exp.Literal.number(32)])
        return exp.paren(exp.BitwiseAnd(this=both, expression=exp.Literal.number(2**32 - 1)))

    return dict(zip(SEEDS, seed_texts(eight), strict=True))


def _digits(digest: Term, start: int, length: int) -> Term:
    return exp.Substring(this=digest.copy(), start=exp.Literal.number(start), length=exp.Literal.number(length))


def hexadecimal(digits: Term, dialect: str) -> Term:
    """Return eight hexadecimal digits as a number."""
    if dialect == "duckdb":
        return exp.cast(exp.func("CONCAT", exp.Literal.string("0x"), digits), "BIGINT")
    return _converted(digits, 10)


def _converted(digits: Term, base: int) -> Term:
    """Hexadecimal digits as a number in Spark; of a negative base, one that has a sign."""
    return exp.cast(exp.func("CONV", digits, exp.Literal.number(16), whole(base)), "BIGINT")
