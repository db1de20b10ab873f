"""What an expression is for one row, in plain Python: what every engine is compared with.

Numbers are finite doubles or None, truths are True, False or None. Nothing fails: what IEEE 754 makes infinite or no
number is None, and so is a division by 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import eq, ge, gt, le, lt, ne
from typing import Any, TypeAlias

from chronodp.engines.expressions.tree import (
    Arithmetic,
    Between,
    Both,
    Call,
    Case,
    Column,
    Comparison,
    Either,
    IsNull,
    Negative,
    Not,
    Number,
    OneOf,
    Text,
    Truth,
)
from chronodp.engines.expressions.typing import AsName, AsNumber, AsTruth, Cell, Typed
from chronodp.engines.reading import read_name

__all__ = ["WHOLE", "Value", "evaluate"]

Value: TypeAlias = float | str | bool | None

WHOLE = 1e18
"""From here on FLOOR and CEIL give NULL: Spark's own have 64 bits."""

_COMPARED = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def evaluate(node: Typed, cells: Mapping[Cell, Value]) -> Any:  # noqa: PLR0912  # one case a kind of node
    """Return what an expression is for a row with these cells."""
    match node:
        case Cell():
            return cells[node]
        case Number(value) | Text(value) | Truth(value):
            return value
        case AsNumber(of):
            truth = evaluate(of, cells)
            return None if truth is None else float(truth)
        case AsTruth(of):
            number = evaluate(of, cells)
            return None if number is None else number != 0
        case AsName(of):
            return read_name(evaluate(of, cells))
        case Negative(of):
            number = evaluate(of, cells)
            return None if number is None else -number
        case Arithmetic(sign, left, right):
            return _computed(sign, evaluate(left, cells), evaluate(right, cells))
        case Comparison(sign, left, right):
            return _compared(sign, evaluate(left, cells), evaluate(right, cells))
        case Not(of):
            truth = evaluate(of, cells)
            return None if truth is None else not truth
        case Both(parts):
            return _both([evaluate(part, cells) for part in parts])
        case Either(parts):
            return _either([evaluate(part, cells) for part in parts])
        case IsNull(of):
            return evaluate(of, cells) is None
        case OneOf(of, listed):
            value = evaluate(of, cells)
            return _either([_compared("=", value, evaluate(one, cells)) for one in listed])
        case Between(of, low, high):
            value, ends = evaluate(of, cells), [evaluate(low, cells), evaluate(high, cells)]
            return _both([_compared(">=", value, ends[0]), _compared("<=", value, ends[1])])
        case Case(branches, otherwise):
            for when, then in branches:
                if evaluate(when, cells) is True:
                    return evaluate(then, cells)
            return None if otherwise is None else evaluate(otherwise, cells)
        case Call(function, arguments):
            return _called(function, [evaluate(one, cells) for one in arguments])
        case Column():
            raise AssertionError("a typed expression has cells, not columns")


def _computed(sign: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None or (sign == "/" and right == 0):
        return None
    number = {
        "+": lambda: left + right,
        "-": lambda: left - right,
        "*": lambda: left * right,
        "/": lambda: left / right,
    }[sign]()
    return number if math.isfinite(number) else None


def _compared(sign: str, left: Any, right: Any) -> bool | None:
    # Python compares texts by code points, the databases by the bytes of UTF-8: the same order.
    return None if left is None or right is None else bool(_COMPARED[sign](left, right))


def _both(truths: list[bool | None]) -> bool | None:
    return False if False in truths else None if None in truths else True


def _either(truths: list[bool | None]) -> bool | None:
    return True if True in truths else None if None in truths else False


def _called(function: str, arguments: list[Any]) -> Value:
    known = [one for one in arguments if one is not None]
    if not known or (function == "CONCAT" and len(known) < len(arguments)):
        return None
    match function:
        case "CONCAT":
            return "".join(known)
        case "COALESCE":
            return known[0]  # type: ignore[no-any-return]  # of one kind, and not NULL
        case "LEAST":
            return float(min(known))
        case "GREATEST":
            return float(max(known))
        case "ABS":
            return float(abs(known[0]))
    number = float(known[0])
    if abs(number) >= WHOLE:
        return None
    return float(math.floor(number) if function == "FLOOR" else math.ceil(number))
