"""What the code that reads rows may not hold: a conversion that fails for some cell, and an exception that decides."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import chronodp.engines

ENGINES = Path(chronodp.engines.__file__).parent
# What computes with numbers that were read, in types that hold them, and what opens a database.
COMPUTING = ("chosen", "instances", "lengths", "losses", "seeds", "statement")
FILES = sorted(path for path in ENGINES.rglob("*.py") if not path.stem.endswith(COMPUTING))

HANDLED = {
    "_has_arrow_type": "asked of no rows",
    "_read_header": "of the first line, which names the columns",
    "attached": "suppressed where a setting of the terminal cannot be set",
    "_written": "drops a table that is the session's own",
}
"""Functions in which an exception may have another end than a refusal, or a cell that is unreadable."""

TOTAL = {"VARCHAR", "DOUBLE"}
"""Types into which no number, text that was tried, or time fails to be cast."""

CAST = {
    "_steps": "a number that was moved into the range of the type",
    "name": "a decimal number of Spark that is whole, into one of as many digits",
    "microseconds_of_clock": "days of a clock that Spark holds, and an interval of less than a day",
    "moment": "a clock of Spark where no clock is ever put forward",
    "_plain_cell": "of a relation, into texts",
}
"""Functions that cast into other types, and why none of these casts fails."""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def exceptions_that_decide(tree: ast.AST) -> list[str]:
    """Functions in which what follows an exception is neither a refusal nor a cell that is None."""
    found = []
    for function in functions(tree):
        for node in ast.walk(function):
            if isinstance(node, ast.ExceptHandler):
                last = node.body[-1]
                nothing = isinstance(last, ast.Return) and isinstance(last.value, ast.Constant) and not last.value.value
                if not isinstance(last, ast.Raise) and not (nothing and function.name.startswith(("_", "read_"))):
                    found.append(function.name)
            elif isinstance(node, ast.Attribute) and node.attr == "suppress":
                found.append(function.name)
    return found


def casts_that_may_fail(tree: ast.AST) -> list[str]:
    """Functions that cast, in SQL, what is no constant into a type that does not hold everything."""
    found = []
    for function in functions(tree):
        for node in ast.walk(function):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called not in ("exp.cast", "cast_to", "exp.Cast"):
                continue
            kinds = {one.value for one in node.args if isinstance(one, ast.Constant)}
            constant = any(
                isinstance(one, ast.Call) and ast.unparse(one.func) in ("exp.null", "string") for one in node.args
            )
            if not constant and not kinds & TOTAL:
                found.append(function.name)
    return found


def test_no_exception_chooses_how_rows_are_read(subtests: pytest.Subtests) -> None:
    for path in FILES:
        with subtests.test(path=path):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            assert set(exceptions_that_decide(tree)) <= HANDLED.keys()


def test_no_cast_of_a_cell_can_fail(subtests: pytest.Subtests) -> None:
    for path in FILES:
        with subtests.test(path=path):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            assert set(casts_that_may_fail(tree)) <= CAST.keys()


def test_what_is_looked_for_is_found() -> None:
    second_reader = (
        "def answered():\n    try:\n        ask()\n    except Bad:\n        pass\n    return ask_otherwise()"
    )
    assert exceptions_that_decide(ast.parse(second_reader)) == ["answered"]
    assert exceptions_that_decide(ast.parse("def a():\n    with contextlib.suppress(Bad):\n        ask()")) == ["a"]
    assert casts_that_may_fail(ast.parse("def a():\n    return exp.cast(column, 'BIGINT')")) == ["a"]
    assert casts_that_may_fail(ast.parse("def a():\n    return cast_to('DATE', column)")) == ["a"]
