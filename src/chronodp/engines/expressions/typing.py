"""As what each column of an expression is read, found from how it is used; never from the data.

A column that is compared with a text is a name, one that is computed with or compared with a number is a number, one
that stands for itself in a condition is a number too, and holds unless it is 0. What remains open is refused, and so is
a column that is used both ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NoReturn, TypeAlias

from chronodp.engines.expressions.parsing import parse_expression
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
    Kind,
    Negative,
    Node,
    Not,
    Number,
    OneOf,
    Text,
    Truth,
    columns_of,
    parts_of,
    text_of,
)
from chronodp.engines.reading import Role
from chronodp.errors import InvalidArgument

__all__ = ["AsName", "AsNumber", "AsTruth", "Cell", "Typed", "Use", "cells_in", "typed"]

Use: TypeAlias = Literal["condition", "number", "name"]
"""What an expression is wanted for: a filter, a column of numbers, or a column of keys."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A column as it is read: a finite number or NULL, or a name or NULL."""

    role: Role
    column: str


@dataclass(frozen=True, slots=True)
class AsNumber:
    """A truth as 1 or 0."""

    of: Typed


@dataclass(frozen=True, slots=True)
class AsTruth:
    """Whether a number is not 0."""

    of: Typed


@dataclass(frozen=True, slots=True)
class AsName:
    """The name of a truth or a number, as a cell that holds it is read."""

    of: Typed
    kind: Kind


Typed: TypeAlias = Cell | AsNumber | AsTruth | AsName | Node
"""An expression without an open question: every column is a `Cell`, every change of kind is written."""


@lru_cache(maxsize=1024)
def typed(argument: str, text: str, use: Use) -> Typed:
    """Return the expression that a text stands for, made ready for a use; refuse one that cannot serve."""
    node = parse_expression(argument, text)
    kinds = _Kinds(argument)
    wanted: Kind | None = {"condition": "truth", "number": "number", "name": None}[use]
    found = kinds.settle(node, wanted)
    if use == "name" and found is None:  # such as a column alone
        found = kinds.settle(node, "text")
    ready = kinds.ready(node, found if use == "name" else wanted)
    return AsName(ready, found) if use == "name" and found in ("number", "truth") else ready


def cells_in(node: Typed) -> tuple[Cell, ...]:
    """Return the cells that an expression reads, each once."""
    found: dict[Cell, None] = {}
    _gather(node, found)
    return tuple(found)


def _gather(node: Typed, found: dict[Cell, None]) -> None:
    if isinstance(node, Cell):
        found[node] = None
        return
    parts = (node.of,) if isinstance(node, AsNumber | AsTruth | AsName) else parts_of(node)
    for part in parts:
        _gather(part, found)


class _Kinds:
    """What is known of an expression's columns so far."""

    def __init__(self, argument: str) -> None:
        self.argument = argument
        self.known: dict[str, Kind] = {}

    def settle(self, node: Node, wanted: Kind | None) -> Kind | None:
        """Return the kind of a whole expression once nothing more follows from it."""
        while True:  # each round settles another column, or is the last
            before = len(self.known)
            found = self.of(node, wanted)
            if len(self.known) == before:
                return found

    def of(self, node: Node, wanted: Kind | None = None) -> Kind | None:  # noqa: PLR0912  # one case a kind of node
        """Return the kind of a node, None if it is open; ``wanted`` settles what is."""
        match node:
            case Column(name):
                return self._column(name, wanted)
            case Number() | Text() | Truth():
                return self._fits(node, _LITERALS[type(node)], wanted)
            case Negative() | Arithmetic():
                for part in parts_of(node):
                    self.of(part, "number")
                return self._fits(node, "number", wanted)
            case Comparison() | OneOf() | Between():
                self._alike(parts_of(node))
                return self._fits(node, "truth", wanted)
            case Not() | Both() | Either():
                for part in parts_of(node):
                    self.of(part, "truth")
                return self._fits(node, "truth", wanted)
            case IsNull(part):
                self.of(part)
                return self._fits(node, "truth", wanted)
            case Case(branches, otherwise):
                for when, _ in branches:
                    self.of(when, "truth")
                results = tuple(then for _, then in branches)
                return self._alike(results if otherwise is None else (*results, otherwise), wanted)
            case Call("COALESCE", arguments):
                return self._alike(arguments, wanted)
            case Call(function, arguments):
                kind: Kind = "text" if function == "CONCAT" else "number"
                for part in arguments:
                    self.of(part, kind)
                return self._fits(node, kind, wanted)

    def _column(self, name: str, wanted: Kind | None) -> Kind | None:
        known = self.known.get(name.lower())
        if wanted is None:
            return known
        kind: Kind = "text" if wanted == "text" else "number"
        if known is not None and known != kind:
            allowed = f"such that column {name!r} is used as a number or as a text, not as both"
            raise InvalidArgument(self.argument, name, allowed)
        self.known[name.lower()] = kind
        return kind

    def _alike(self, parts: tuple[Node, ...], wanted: Kind | None = None) -> Kind | None:
        """Return the kind that parts have in common: all texts, or all numbers and truths."""
        found = {self.of(part) for part in parts} - {None}
        if not found:
            found = {wanted} - {None}
        if not found:
            return None
        kind: Kind = "text" if "text" in found else "truth" if found == {"truth"} else "number"
        for part in parts:
            self.of(part, kind)
        return self._fits(parts[0], kind, wanted)

    def _fits(self, node: Node, kind: Kind, wanted: Kind | None) -> Kind:
        if wanted is not None and (kind == "text") != (wanted == "text"):
            words = {
                "text": "a text, not a number,",
                "number": "a number, not a text,",
                "truth": "a condition, not a text,",
            }
            raise InvalidArgument(self.argument, text_of(node), f"such that {words[wanted]} stands where one is needed")
        return kind

    def ready(self, node: Node, wanted: Kind | None) -> Typed:
        """Return a node with cells for columns, and of the kind that is wanted."""
        kind = self.of(node)
        if isinstance(node, IsNull) and self.of(node.of) is None and isinstance(node.of, Column):
            # Whether a cell holds anything at all: neither a name nor a number.
            both = tuple(_is_null(Cell(role, node.of.name)) for role in _ROLES.values())
            return _changed(Both(both), "truth", wanted)
        if kind is None:
            self._refuse_open(node)
        return _changed(self._rebuilt(node, kind), kind, wanted)

    def _rebuilt(self, node: Node, kind: Kind) -> Typed:  # noqa: PLR0912  # one case a kind of node
        match node:
            case Column(name):
                return Cell(_ROLES["text" if kind == "text" else "number"], name)
            case Number() | Text() | Truth():
                return node
            case Negative(of):
                return Negative(_node(self.ready(of, "number")))
            case Arithmetic(sign, left, right):
                return Arithmetic(sign, *self._all((left, right), "number"))
            case Comparison(sign, left, right):
                return Comparison(sign, *self._all((left, right), self._compared(node)))
            case OneOf(of, listed):
                first, *rest = self._all((of, *listed), self._compared(node))
                return OneOf(first, tuple(rest))
            case Between():
                return Between(*self._all(parts_of(node), self._compared(node)))
            case Not(of):
                return Not(_node(self.ready(of, "truth")))
            case Both(parts):
                return Both(tuple(self._all(parts, "truth")))
            case Either(parts):
                return Either(tuple(self._all(parts, "truth")))
            case IsNull(of):
                return IsNull(_node(self.ready(of, None)))
            case Case(branches, otherwise):
                whens = self._all(tuple(when for when, _ in branches), "truth")
                thens = self._all(tuple(then for _, then in branches), kind)
                other = None if otherwise is None else _node(self.ready(otherwise, kind))
                return Case(tuple(zip(whens, thens, strict=True)), other)
            case Call(function, arguments):
                inner: Kind = kind if function in ("COALESCE", "CONCAT") else "number"
                return Call(function, tuple(self._all(arguments, inner)))

    def _all(self, parts: tuple[Node, ...], kind: Kind) -> list[Node]:
        return [_node(self.ready(part, kind)) for part in parts]

    def _compared(self, node: Node) -> Kind:
        """Return as what the parts of a comparison are compared: texts, or numbers."""
        kinds = {self.of(part) for part in parts_of(node)}
        if kinds == {None}:
            self._refuse_open(node)
        return "text" if "text" in kinds else "number"

    def _refuse_open(self, node: Node) -> NoReturn:
        name = columns_of(node)[0]
        allowed = f"such that it shows whether {name!r} holds numbers or texts: for numbers write {name} + 0"
        raise InvalidArgument(self.argument, text_of(node), allowed)


_LITERALS: dict[type[Node], Kind] = {Number: "number", Text: "text", Truth: "truth"}
_ROLES: dict[str, Role] = {"text": "name", "number": "number"}


def _changed(node: Typed, kind: Kind, wanted: Kind | None) -> Typed:
    if wanted == "number" and kind == "truth":
        return AsNumber(node)
    if wanted == "truth" and kind == "number":
        return AsTruth(node)
    return node


def _node(node: Typed) -> Node:
    # Typed trees are trees of the same nodes, whose leaves may be cells.
    return node  # type: ignore[return-value]


def _is_null(cell: Cell) -> Node:
    return IsNull(_node(cell))
