"""As what each column of an expression is read, found from how it is used; never from the data.

A column that is compared with a text is a name, one that is computed with or compared with a number is a number, one
that stands for itself in a condition is a number too, and holds unless it is 0. What remains open is refused, and so is
a column that is used both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
    typing = _Typing(argument)
    root = typing.gather(node)
    if use != "name":
        typing.hold([root], "number")
    elif typing.held_by(node) is None:  # such as a column alone
        typing.hold([root], "text")
    ready, kind = typing.ready(node)
    if use == "name":
        return AsName(ready, kind) if kind in ("number", "truth") else ready
    return typing.fitted(node, ready, kind, "truth" if use == "condition" else "number")


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


@dataclass(slots=True)
class _Class:
    """What must be alike: a part of a tree of classes, whose root knows what all of them hold."""

    held: set[Literal["number", "text"]] = field(default_factory=set)
    joined: _Class | None = None

    def root(self) -> _Class:
        found = self
        while found.joined is not None:
            if found.joined.joined is not None:  # each look shortens the way of the next
                found.joined = found.joined.joined
            found = found.joined
        return found


class _Typing:
    """Types one expression in two passes, each of which sees every node once, however deep it stands.

    The first joins what must be alike into classes: the sides of a comparison, the results of a CASE, what is computed
    with and numbers. The second, from the leaves up, writes every change of kind and refuses what does not fit.
    """

    def __init__(self, argument: str) -> None:
        self.argument = argument
        self._class_of: dict[int, _Class] = {}  # by identity: equal nodes stand at many places
        self._columns: dict[str, _Class] = {}

    def held_by(self, node: Node) -> Literal["number", "text"] | None:
        """Return what the class of a node holds: texts where one does, else numbers; None if it is open."""
        held = self._class_of[id(node)].root().held
        return "text" if "text" in held else "number" if "number" in held else None

    def gather(self, node: Node) -> _Class:
        """Return the class of a node, with all below it in theirs."""
        parts = [self.gather(part) for part in parts_of(node)]
        match node:
            case Column(name):
                found = self._columns.setdefault(name.lower(), _Class())
            case Case(branches, _):
                results = 2 * len(branches)
                self.hold(parts[:results:2], "number")  # a condition is a truth, which is a kind of number
                found = self._alike([*parts[1:results:2], *parts[results:]])
            case Call("COALESCE"):
                found = self._alike(parts)
            case Call("CONCAT") | Text():
                found = self.hold([*parts, _Class()], "text")
            case Comparison() | OneOf() | Between():
                self._alike(parts)
                found = self.hold([_Class()], "number")
            case IsNull():
                found = self.hold([_Class()], "number")
            case _:
                found = self.hold([*parts, _Class()], "number")
        self._class_of[id(node)] = found
        return found

    def hold(self, classes: Sequence[_Class], what: Literal["number", "text"]) -> _Class:
        """Say what each of these classes holds, and return the last."""
        for one in classes:
            one.root().held.add(what)
        return classes[-1]

    def _alike(self, classes: Sequence[_Class]) -> _Class:
        """Make one class of several, and return it."""
        kept = classes[0].root()
        for other in classes[1:]:
            if (gone := other.root()) is not kept:
                kept.held |= gone.held
                gone.joined = kept
        return kept

    def ready(self, node: Node) -> tuple[Typed, Kind]:  # noqa: PLR0912  # one case a kind of node
        """Return a node with cells for columns and every change of kind written, and its kind."""
        match node:
            case Column(name):
                return self._cell(node, name)
            case Number() | Text() | Truth():
                return node, _LITERALS[type(node)]
            case Negative(of):
                return Negative(self._as(of, "number")), "number"
            case Arithmetic(sign, left, right):
                return Arithmetic(sign, self._as(left, "number"), self._as(right, "number")), "number"
            case Comparison(sign):
                return Comparison(sign, *self._compared(node)), "truth"
            case OneOf():
                first, *rest = self._compared(node)
                return OneOf(first, tuple(rest)), "truth"
            case Between():
                return Between(*self._compared(node)), "truth"
            case Not(of):
                return Not(self._as(of, "truth")), "truth"
            case Both(parts):
                return Both(tuple(self._as(part, "truth") for part in parts)), "truth"
            case Either(parts):
                return Either(tuple(self._as(part, "truth") for part in parts)), "truth"
            case IsNull(of):
                return self._is_null(of), "truth"
            case Case(branches, otherwise):
                whens = [self._as(when, "truth") for when, _ in branches]
                results = [then for _, then in branches]
                thens, kind = self._results(results if otherwise is None else [*results, otherwise])
                other = None if otherwise is None else thens.pop()
                return Case(tuple(zip(whens, thens, strict=True)), other), kind
            case Call("COALESCE", arguments):
                made, kind = self._results(arguments)
                return Call("COALESCE", tuple(made)), kind
            case Call(function, arguments):
                own: Kind = "text" if function == "CONCAT" else "number"
                return Call(function, tuple(self._as(part, own) for part in arguments)), own

    def _cell(self, node: Node, name: str) -> tuple[Typed, Kind]:
        held = self._columns[name.lower()].root().held
        if held == {"number", "text"}:
            allowed = f"such that column {name!r} is used as a number or as a text, not as both"
            raise InvalidArgument(self.argument, name, allowed)
        if not held:
            self._refuse_open(node)
        kind: Kind = "text" if "text" in held else "number"
        return Cell(_ROLES[kind], name), kind

    def _as(self, node: Node, wanted: Kind) -> Node:
        """Return a node made ready, of the kind that is wanted."""
        return self.fitted(node, *self.ready(node), wanted)

    def fitted(self, node: Node, ready: Typed, kind: Kind, wanted: Kind) -> Node:
        """Return what was made of a node as the kind that is wanted; refuse a text for a number."""
        if (kind == "text") != (wanted == "text"):
            words = {
                "text": "a text, not a number,",
                "number": "a number, not a text,",
                "truth": "a condition, not a text,",
            }
            raise InvalidArgument(self.argument, text_of(node), f"such that {words[wanted]} stands where one is needed")
        if wanted == "number" and kind == "truth":
            return _node(AsNumber(ready))
        return _node(AsTruth(ready) if wanted == "truth" and kind == "number" else ready)

    def _compared(self, node: Node) -> list[Node]:
        """Return the parts of a comparison: all texts, or all numbers."""
        parts = parts_of(node)
        kind = self.held_by(parts[0])
        if kind is None:
            self._refuse_open(node)
        return [self._as(part, kind) for part in parts]

    def _results(self, parts: Sequence[Node]) -> tuple[list[Node], Kind]:
        """Return results, one of which is taken: all texts, all truths, or all numbers."""
        made = [self.ready(part) for part in parts]
        kinds = {kind for _, kind in made}
        shared: Kind = "text" if "text" in kinds else "truth" if kinds == {"truth"} else "number"
        return [self.fitted(part, *one, shared) for part, one in zip(parts, made, strict=True)], shared

    def _is_null(self, of: Node) -> Node:
        if self.held_by(of) is not None:
            return IsNull(_node(self.ready(of)[0]))
        if not isinstance(of, Column):
            self._refuse_open(of)
        # Whether a cell holds anything at all: neither a name nor a number.
        return Both(tuple(IsNull(_node(Cell(role, of.name))) for role in _ROLES.values()))

    def _refuse_open(self, node: Node) -> NoReturn:
        name = columns_of(node)[0]
        allowed = f"such that it shows whether {name!r} holds numbers or texts: for numbers write {name} + 0"
        raise InvalidArgument(self.argument, text_of(node), allowed)


_LITERALS: dict[type[Node], Kind] = {Number: "number", Text: "text", Truth: "truth"}
_ROLES: dict[str, Role] = {"text": "name", "number": "number"}


def _node(node: Typed) -> Node:
    # Typed trees are trees of the same nodes, whose leaves may be cells.
    return node  # type: ignore[return-value]
