"""What a table's owner or an analyst declares: a filter, and columns made of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from chronodp.engines.expressions.parsing import parse_expression
from chronodp.engines.expressions.tree import Both, columns_of, text_of
from chronodp.engines.expressions.typing import Cell, Typed, Use, cells_in, typed
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_column, check_kind, document

__all__ = ["Derived", "Expressions", "check_columns", "check_where", "derived_as", "expressions_of"]

_MOST = 32  # derived columns


@document("derived")
@dataclass(frozen=True, slots=True)
class Derived:
    """A column that is made of others of the same row, and how."""

    name: str
    expression: str

    def __post_init__(self) -> None:
        check_column("columns", self.name)
        typed(self.argument, self.expression, "name")  # which every expression can be whose columns are used one way

    @property
    def argument(self) -> str:
        """How refusals call it."""
        return f"columns[{self.name!r}]"

    def __str__(self) -> str:
        return f"{self.name} = {self.expression}"


def check_columns(columns: object) -> tuple[Derived, ...]:
    """Return derived columns, each with its one text, from a mapping of names to expressions; None stands for none."""
    if columns is None:
        return ()
    if not isinstance(columns, Mapping) or len(columns) > _MOST:
        allowed = f"a mapping of at most {_MOST} names to expressions, such as {{'late': 'dep_delay > 15'}}"
        raise InvalidArgument("columns", columns, allowed)
    made = []
    for name, text in columns.items():
        check_column("columns", name)
        check_kind(f"columns[{name!r}]", text, str, "a text such as 'dep_delay > 15'")
        made.append(Derived(name, text_of(parse_expression(f"columns[{name!r}]", text))))
    names = [one.name.lower() for one in made]
    for index, one in enumerate(made):
        if one.name.lower() in names[:index]:
            raise InvalidArgument("columns", one.name, "names that differ in more than capitals")
        _check_plain(one.argument, one.expression, made)
    return tuple(made)


def check_where(where: object, columns: Sequence[Derived], *, earlier: str | None = None) -> str | None:
    """Return the one text of a filter, joined by AND with an earlier one; None stands for none."""
    if where is None:
        return earlier
    if not isinstance(where, str):
        raise InvalidArgument("where", where, "a text such as \"origin = 'JFK' AND dep_delay > 0\"")
    node = parse_expression("where", where)
    if earlier is not None:
        parts = [
            part
            for one in (parse_expression("where", earlier), node)
            for part in (one.parts if isinstance(one, Both) else (one,))
        ]
        node = Both(tuple(parts))
    text = text_of(node)
    typed("where", text, "condition")
    _check_plain("where", text, columns)
    return text


def derived_as(columns: Iterable[Derived], name: str | None) -> Derived | None:
    """Return the derived column of a name, capitals aside; None if the name is that of a table's own."""
    return next((one for one in columns if name is not None and one.name.lower() == name.lower()), None)


def _check_plain(argument: str, text: str, columns: Sequence[Derived]) -> None:
    for name in columns_of(parse_expression(argument, text)):
        if found := derived_as(columns, name):
            allowed = f"made of the table's own columns: {found.name!r} is derived, so write out ({found.expression})"
            raise InvalidArgument(argument, name, allowed)


@dataclass(frozen=True, slots=True)
class Expressions:
    """The expressions of a question, ready to be computed.

    Attributes:
        where: which rows count; None for all.
        number: the number of a row, where that is derived.
        keys: the key of a row in each grouping, None where that is a column of the table.
    """

    where: Typed | None
    number: Typed | None
    keys: tuple[Typed | None, ...]

    @property
    def named(self) -> dict[str, Typed]:
        """Each of them by the name of its column in queries."""
        named = {"kept": self.where, "number": self.number}
        named |= {f"group_{index}": key for index, key in enumerate(self.keys)}
        return {name: node for name, node in named.items() if node is not None}

    @property
    def cells(self) -> dict[Cell, str]:
        """Every cell that is read for them, and the argument that names its column."""
        found: dict[Cell, str] = {}
        for name, node in self.named.items():
            for cell in cells_in(node):
                found.setdefault(cell, "where" if name == "kept" else "columns")
        return found


@lru_cache(maxsize=256)
def expressions_of(
    where: str | None, columns: tuple[Derived, ...], value: str | None, groups: tuple[str, ...]
) -> Expressions:
    """Return what of a question is computed: its filter, and its number and keys where these are derived."""

    def made(name: str | None, use: Use) -> Typed | None:
        found = derived_as(columns, name)
        return None if found is None else typed(found.argument, found.expression, use)

    return Expressions(
        None if where is None else typed("where", where, "condition"),
        made(value, "number"),
        tuple(made(group, "name") for group in groups),
    )
