"""A file of public places on the command line: a table of keys, and which of its columns are levels."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, Literal, cast

from chronodp.errors import InvalidArgument
from chronodp.reading import check_path, closed_file, read_text

if TYPE_CHECKING:
    from chronodp.series import Places

__all__ = ["read_focus", "read_places"]

_TABLE = "a CSV or Parquet file of public keys, with the columns of --levels"


def read_places(path: object, levels: object, column: object) -> Places:
    """Return the tree of a file; nothing of it is repeated where it cannot be read as one."""
    from chronodp.series import Places

    if isinstance(levels, str):
        levels = levels.split(",")
    if not isinstance(levels, list | tuple) or not levels:
        raise InvalidArgument("levels", levels, "the file's columns from the top down, such as country,state,county")
    names = [str(level).strip() for level in levels]
    table = _read(path)
    try:
        with closed_file():
            return Places(table, *names, column=None if column is None else str(column))
    except InvalidArgument as error:
        written = {"table": "places", "column": "place_column"}
        raise error.renamed(written.get(error.name, error.name)) from None


def read_focus(focus: object) -> dict[str, float] | Literal["nodes", "largest"] | None:
    """Return which levels errors are made small for: weights by name, or a word."""
    if focus is None or isinstance(focus, dict) or focus in ("nodes", "largest"):
        return cast("dict[str, float] | Literal['nodes', 'largest'] | None", focus)
    weights: dict[str, float] = {}
    for part in str(focus).split(","):
        name, _, weight = part.partition("=")
        try:
            weights[name.strip()] = float(weight)
        except ValueError:
            allowed = "weights of levels, such as county=2,state=1; or nodes, or largest"
            raise InvalidArgument("focus", focus, allowed) from None
    return weights


def _read(path: object) -> Any:
    place = check_path("places", path)
    if place.suffix.lower() == ".parquet":
        import pyarrow
        import pyarrow.parquet

        try:
            return pyarrow.parquet.read_table(place)
        except (OSError, pyarrow.ArrowException):
            raise InvalidArgument("places", str(path), _TABLE, place=True) from None
    # Spreadsheets put a mark before UTF-8.
    lines = read_text("places", place).removeprefix("\ufeff").splitlines()
    try:
        header, *rows = csv.reader(lines)
    except (ValueError, csv.Error):
        raise InvalidArgument("places", str(path), _TABLE, place=True) from None
    width = len(header)
    if len(set(header)) < width or any(len(row) != width for row in rows if row):
        raise InvalidArgument("places", str(path), f"{_TABLE}: rows as long as the header", place=True)
    return {name: [row[at] for row in rows if row] for at, name in enumerate(header)}
