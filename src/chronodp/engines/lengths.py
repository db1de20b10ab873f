"""A person's whole series scaled to a length: in whole numbers, towards zero, the same on every engine.

"One bound on a whole series" in ``docs/explanation/proofs/finding.md``. With S the sum of the squares of a person's
cells x, and r the longest that a series may be: all of it where S ≤ r², else ±⌊√⌊x² r² / S⌋⌋ of each cell. That is at
most |x| r / √S in size, so the length of what is kept is at most r, whatever is lost by rounding.

Cells and r have at most 2^31 steps, so x² r² < 2^125: HUGEINT holds 2^127, and 38 digits hold 2^126. The quotient is at
most r², since x² ≤ S, and fits 64 bits. Its root is taken in floats and then put right in whole numbers: √ of a float
errs by less than 2^-20 there, so the whole part is off by one at most, and one comparison each way finds it.
"""

from __future__ import annotations

import math

from sqlglot import exp

from chronodp.engines.rows import Term, whole

__all__ = ["rounded_up_root", "scaled_cell", "scaled_tables", "sum_of_squares", "wide"]


def scaled_cell(cell: int, squares: int, norm: int) -> int:
    """Return what is kept of a cell, given the sum of the squares of all cells of its person.

    >>> [scaled_cell(cell, 25, 2) for cell in (3, -4)]
    [1, -1]
    """
    if squares <= norm**2:
        return cell
    kept = math.isqrt(cell**2 * norm**2 // squares)
    return kept if cell >= 0 else -kept


def scaled_tables(norm: int, dialect: str) -> list[tuple[str, exp.Select]]:
    """Return what leads from ``cells``, with limited totals of people, to ``chosen``, with those that are kept."""
    names = ("person", "cell", "raw", "total", "squares")
    total, squares, quotient, root = (exp.column(name) for name in ("total", "squares", "quotient", "root"))
    measured = exp.Window(this=sum_of_squares(total, dialect), partition_by=[exp.column("person")])
    # A person of zeros has no length to divide by, and is kept whole.
    length = exp.Greatest(this=squares.copy(), expressions=[whole(1)], ignore_nulls=True)
    product = wide(exp.paren(total * total.copy()), dialect) * wide(whole(norm**2), dialect)
    divided = exp.cast(exp.IntDiv(this=exp.paren(product), expression=wide(length, dialect)), "BIGINT")
    rooted = exp.cast(exp.Floor(this=exp.Sqrt(this=exp.cast(quotient.copy(), "DOUBLE"))), "BIGINT")
    more, less = exp.paren(root + 1), exp.paren(root - 1)
    exact = exp.case().when(more * more.copy() <= quotient, more.copy())
    exact = exact.when(root * root.copy() > quotient.copy(), less).else_(root.copy())
    sign = exp.case().when(total.copy() < 0, whole(-1)).else_(whole(1))
    scaled = exp.paren(sign) * exp.paren(exact)
    kept = exp.case().when(squares.copy() <= whole(norm**2), total.copy()).else_(scaled)
    return [
        ("measured", exp.select(*names[:-1], exp.Alias(this=measured, alias="squares")).from_("cells")),
        ("divided", exp.select(*names, divided.as_("quotient")).from_("measured")),
        ("rooted", exp.select(*names, "quotient", rooted.as_("root")).from_("divided")),
        ("chosen", exp.select("person", "cell", "raw", exp.cast(kept, "BIGINT").as_("total")).from_("rooted")),
    ]


def rounded_up_root(squares: Term, root: Term, dialect: str) -> Term:
    """Return ⌈√squares⌉, given the same in floats: which is off by one at most while it is below 2^52."""
    less, more = exp.paren(root - 1), exp.paren(root + 1)
    fits = exp.case().when(wide(less, dialect) * wide(less.copy(), dialect) >= squares, less.copy())
    own = wide(root.copy(), dialect) * wide(root.copy(), dialect)
    return fits.when(own >= squares.copy(), root.copy()).else_(more)


def sum_of_squares(cell: Term, dialect: str) -> Term:
    """Return the sum of the squares of cells of at most 2^31 steps: each fits 64 bits, their sum may not."""
    return exp.Sum(this=wide(exp.paren(cell.copy() * cell.copy()), dialect))


def wide(term: Term, dialect: str) -> Term:
    """Return a whole number in the widest type that multiplies and divides exactly."""
    return exp.cast(term, "INT128" if dialect == "duckdb" else "DECIMAL(38, 0)", dialect="duckdb")
