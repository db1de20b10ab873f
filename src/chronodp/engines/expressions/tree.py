"""Expressions over one row: what they are made of, and the one text of each.

A node is one of the few here; there is none for a subquery, an aggregate, a file, a clock or a draw, so nothing of the
kind can be asked. The text is our own and not a library's: plans and requests are found by it.

"Expressions" of ``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = [
    "FUNCTIONS",
    "Arithmetic",
    "Between",
    "Both",
    "Call",
    "Case",
    "Column",
    "Comparison",
    "Either",
    "IsNull",
    "Kind",
    "Negative",
    "Node",
    "Not",
    "Number",
    "OneOf",
    "Text",
    "Truth",
    "columns_of",
    "functions_of",
    "parts_of",
    "text_of",
    "texts_of",
    "walk",
]

Kind: TypeAlias = Literal["number", "text", "truth"]

FUNCTIONS = ("CASE", "COALESCE", "ABS", "LEAST", "GREATEST", "FLOOR", "CEIL", "CONCAT")
"""What a policy allows by name; signs, AND, OR, NOT, IS NULL, IN and BETWEEN are always there."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its name; ``quoted`` is how it was written, and no part of what it is."""

    name: str
    quoted: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number from 0 on: every number is a double."""

    value: float


@dataclass(frozen=True, slots=True)
class Text:
    """A text, as a cell that holds it is read."""

    value: str


@dataclass(frozen=True, slots=True)
class Truth:
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True)
class Negative:
    """A number with its sign changed."""

    of: Node


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """One rounded operation: + - * or /."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two numbers or two texts compared."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    of: Node


@dataclass(frozen=True, slots=True)
class Both:
    """All parts hold: AND."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Some part holds: OR."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    """Nothing is there, or nothing that could be read or computed."""

    of: Node


@dataclass(frozen=True, slots=True)
class OneOf:
    """Equal to one of some constants: IN."""

    of: Node
    listed: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """From a low to a high end, both included."""

    of: Node
    low: Node
    high: Node


@dataclass(frozen=True, slots=True)
class Case:
    """The result of the first condition that holds, else another or NULL."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@dataclass(frozen=True, slots=True)
class Call:
    """One of `FUNCTIONS`."""

    function: str
    arguments: tuple[Node, ...]


Node: TypeAlias = (
    Column
    | Number
    | Text
    | Truth
    | Negative
    | Arithmetic
    | Comparison
    | Not
    | Both
    | Either
    | IsNull
    | OneOf
    | Between
    | Case
    | Call
)

_BARE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_OR, _AND, _NOT, _COMPARED, _SUM, _PRODUCT, _SIGNED, _ATOM = range(8)


def parts_of(node: Node) -> tuple[Node, ...]:
    """Return the nodes right below one."""
    match node:
        case Column() | Number() | Text() | Truth():
            return ()
        case Negative(of) | Not(of) | IsNull(of):
            return (of,)
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return left, right
        case Both(parts) | Either(parts) | Call(_, parts):
            return parts
        case OneOf(of, listed):
            return (of, *listed)
        case Between(of, low, high):
            return of, low, high
        case Case(branches, otherwise):
            rest = () if otherwise is None else (otherwise,)
            return (*(part for branch in branches for part in branch), *rest)


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it."""
    yield node
    for part in parts_of(node):
        yield from walk(part)


def columns_of(node: Node) -> tuple[str, ...]:
    """Return the names of the columns in an expression, each once."""
    return tuple(dict.fromkeys(one.name for one in walk(node) if isinstance(one, Column)))


def functions_of(node: Node) -> tuple[str, ...]:
    """Return which of `FUNCTIONS` an expression calls, each once."""
    found = {one.function if isinstance(one, Call) else "CASE" for one in walk(node) if isinstance(one, Call | Case)}
    return tuple(sorted(found))


def texts_of(node: Node) -> tuple[str, ...]:
    """Return the texts in an expression, each once."""
    return tuple(dict.fromkeys(one.value for one in walk(node) if isinstance(one, Text)))


def text_of(node: Node) -> str:
    """Return the one text of an expression; reading it gives the expression again.

    >>> text_of(Both((Comparison(">", Column("dep_delay"), Number(15.0)), Not(IsNull(Column("origin"))))))
    'dep_delay > 15 AND origin IS NOT NULL'
    """
    return _write(node, _OR)


def _write(node: Node, least: int) -> str:
    """Write a node, in parentheses where it binds less than ``least``."""
    level, text = _written(node)
    return text if level >= least else f"({text})"


def _written(node: Node) -> tuple[int, str]:  # noqa: PLR0912  # one case a kind of node
    match node:
        case Column(name, quoted):
            bare = not quoted and _BARE.fullmatch(name)
            return _ATOM, name if bare else '"' + name.replace('"', '""') + '"'
        case Number(value):
            return _ATOM, str(int(value)) if value.is_integer() and value < 1e15 else repr(value)
        case Text(value):
            return _ATOM, "'" + value.replace("'", "''") + "'"
        case Truth(value):
            return _ATOM, "TRUE" if value else "FALSE"
        case Negative(of):
            return _SIGNED, f"-{_write(of, _ATOM)}"
        case Arithmetic(sign, left, right):
            own = _SUM if sign in "+-" else _PRODUCT
            # Rounding makes (a + b) + c and a + (b + c) two numbers: only the left may go without parentheses.
            return own, f"{_write(left, own)} {sign} {_write(right, own + 1)}"
        case Comparison(sign, left, right):
            return _COMPARED, f"{_write(left, _SUM)} {sign} {_write(right, _SUM)}"
        case Not(IsNull(of)):
            return _COMPARED, f"{_write(of, _SUM)} IS NOT NULL"
        case Not(of):
            return _NOT, f"NOT {_write(of, _ATOM)}"
        case Both(parts):
            return _AND, " AND ".join(_write(part, _NOT) for part in parts)
        case Either(parts):
            return _OR, " OR ".join(_write(part, _AND) for part in parts)
        case IsNull(of):
            return _COMPARED, f"{_write(of, _SUM)} IS NULL"
        case OneOf(of, listed):
            return _COMPARED, f"{_write(of, _SUM)} IN ({', '.join(_write(one, _SIGNED) for one in listed)})"
        case Between(of, low, high):
            return _COMPARED, f"{_write(of, _SUM)} BETWEEN {_write(low, _SUM)} AND {_write(high, _SUM)}"
        case Case(branches, otherwise):
            whens = " ".join(f"WHEN {_write(when, _OR)} THEN {_write(then, _OR)}" for when, then in branches)
            rest = "" if otherwise is None else f" ELSE {_write(otherwise, _OR)}"
            return _ATOM, f"CASE {whens}{rest} END"
        case Call(function, arguments):
            return _ATOM, f"{function}({', '.join(_write(one, _OR) for one in arguments)})"
