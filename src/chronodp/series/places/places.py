"""Places: a public hierarchy of keys, from a table that everybody may know."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chronodp.engines import Grouping
from chronodp.engines.reading import read_name
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_column, settle

__all__ = ["Places"]

_ALL = "all"
_ROWS = "a table of public keys: a pandas or Arrow table, columns by name, or a list of rows"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Places:
    """A public tree of places, such as counties in states in a country: ``by(Places(...))`` releases every level.

    The table is public knowledge, never taken from the records. Its leaves are the keys that records have; rows with
    another key are left out. Every number of a release adds up to the one above it.

    Args:
        table: a pandas or Arrow table, columns by name, or a list of rows; one row for each leaf.
        levels: its columns from the top down to the leaves. Of a list of rows, the names of what each row holds.
        column: the records' column with the leaf, if it is not called as the last level.

    Several keys at the top get one place over them, of a level called 'all'.

    >>> towns = Places([("north", "Ayr"), ("north", "Perth"), ("south", "Bath")], "part", "town")
    >>> print(towns)
    1 of all, 2 of part, 3 of town
    """

    column: str
    names: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    children: tuple[tuple[int, ...], ...]

    def __init__(self, table: object, *levels: str, column: str | None = None) -> None:
        if not levels:
            raise InvalidArgument("levels", "none", "the columns of the table from the top down to the leaves")
        names = tuple(check_column("levels", level) for level in levels)
        if len(set(names)) < len(names) or _ALL in names[1:]:
            raise InvalidArgument("levels", names, "columns of different names; none below the top is called 'all'")
        paths = list(_paths(table, names))
        if not paths:
            raise InvalidArgument("table", "no rows", _ROWS)
        keys, children = _tree(paths, names)
        if len(keys[0]) > 1:
            if names[0] == _ALL:
                raise InvalidArgument("levels", _ALL, "another name: the place over several tops is called 'all'")
            names, keys, children = (_ALL, *names), ((_ALL,), *keys), ((len(keys[0]),), *children)
        leaf = check_column("column", names[-1] if column is None else column)
        settle(self, column=leaf, names=names, keys=keys, children=children)

    @property
    def grouping(self) -> Grouping:
        """The leaves, as an engine is asked for them."""
        return Grouping(self.column, self.keys[-1])

    def __str__(self) -> str:
        return ", ".join(f"{len(keys):,} of {name}" for name, keys in zip(self.names, self.keys, strict=True))

    def __repr__(self) -> str:
        return f"Places({self})"


def _paths(table: object, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the keys of each row, from the top down."""
    for number, cells in enumerate(_rows(table, names)):
        if len(cells) != len(names):
            raise InvalidArgument("table", f"row {number} of {len(cells)} keys", f"rows of {len(names)}: {names}")
        path = tuple(map(read_name, cells))
        if None in path:
            name = names[path.index(None)]
            allowed = "a key in every row: a text that is not empty, a whole number or a boolean"
            raise InvalidArgument(name, f"{_told(cells[path.index(None)])} in row {number}", allowed)
        yield path  # type: ignore[misc]  # no key is None


def _rows(table: object, names: tuple[str, ...]) -> Iterator[Sequence[Any]]:
    columns = _columns(table, names)
    if columns is not None:
        return zip(*columns, strict=True)
    if isinstance(table, str | bytes) or not isinstance(table, Sequence):
        raise InvalidArgument("table", type(table).__name__, _ROWS)
    return (_row(number, row, names) for number, row in enumerate(table))


def _columns(table: object, names: tuple[str, ...]) -> list[list[Any]] | None:
    """Return columns of a table that has them, as plain lists; None of a list of rows."""
    known = getattr(table, "column_names", None)  # Arrow
    if known is None:
        known = list(table) if isinstance(table, Mapping) else getattr(table, "columns", None)
    if known is None:
        return None
    try:
        given = {name: [one for one in known if str(one) == name] for name in names}  # pandas may number its columns
    except TypeError:
        raise InvalidArgument("table", type(table).__name__, _ROWS) from None
    for name, found in given.items():
        if not found:
            raise InvalidArgument("levels", name, "columns of the table, from the top down")
        if len(found) > 1:
            raise InvalidArgument("table", f"{len(found)} columns called {name!r}", "columns of different names")
    try:
        columns = [table[found[0]] for found in given.values()]  # type: ignore[index]
        lists = [of.to_pylist() if hasattr(of, "to_pylist") else _listed(of) for of in columns]
    except TypeError:
        raise InvalidArgument("table", type(table).__name__, _ROWS) from None
    if len({len(of) for of in lists}) > 1:
        raise InvalidArgument("table", "columns of unequal length", _ROWS)
    return lists


def _listed(column: Iterable[Any]) -> list[Any]:
    if isinstance(column, str | bytes):
        raise TypeError("a text is no column of keys")
    return list(column)


def _told(cell: object) -> str:
    """What stands where a key should: a table of places is public, but an error need not repeat it."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)) or (isinstance(cell, str) and not cell):
        return "nothing"
    return f"a {type(cell).__name__} that is no key"


def _row(number: int, row: object, names: tuple[str, ...]) -> Sequence[Any]:
    if isinstance(row, Mapping):
        return [row.get(name) for name in names]
    if isinstance(row, str | bytes) or not isinstance(row, Sequence):
        if len(names) == 1:
            return [row]
        raise InvalidArgument("table", f"row {number}, a {type(row).__name__}", _ROWS)
    return row


def _tree(
    paths: list[tuple[str, ...]], names: tuple[str, ...]
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[int, ...], ...]]:
    """Return keys and numbers of children by level, children side by side under their parent in the order of rows."""
    below: list[dict[str, dict[str, None]]] = [{} for _ in names]
    for level in range(1, len(names)):
        parents: dict[str, str] = {}
        for path in paths:
            above, key = path[level - 1], path[level]
            if parents.setdefault(key, above) != above:
                both = f"{names[level]} {key!r} in {names[level - 1]} {parents[key]!r} and in {above!r}"
                allowed = (
                    "keys that stand in one place each; make them so in the table and in the records, such as "
                    f"columns={{'place': \"concat({names[level - 1]}, ' ', {names[level]})\"}}"
                )
                raise InvalidArgument("table", both, allowed)
            below[level - 1].setdefault(above, {})[key] = None
    keys = [tuple(dict.fromkeys(path[0] for path in paths))]
    children = []
    for level in range(len(names) - 1):
        children.append(tuple(len(below[level][key]) for key in keys[-1]))
        keys.append(tuple(child for key in keys[-1] for child in below[level][key]))
    return tuple(keys), tuple(children)
