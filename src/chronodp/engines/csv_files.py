"""CSV files, read as their first line says.

A reader that looks at rows to find out how a file is written (which separator, which quotes, which lines to leave out)
lets one row decide how all others are read: one person could make everybody's rows vanish. Here the first line, which
names the columns, decides the separator, and all else is fixed: a field may stand in double quotes, and a double quote
inside it is written twice. A row that cannot be read so is left out.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from pathlib import Path

from chronodp.errors import UnreadableSource, UnsuitableColumn

__all__ = ["csv_query"]

_SEPARATORS = (",", ";", "\t", "|")
_LONGEST = 2**20  # bytes of a first line


def csv_query(paths: Sequence[str], needed: Collection[str] = ()) -> str:
    """Return the SQL of all rows of some files, every field as text and columns joined by their names.

    Args:
        paths: of the files.
        needed: columns that must not be there twice.
    """
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for path in paths:
        separator, names = _read_header(path)
        _check_once(path, names, needed)
        alike.setdefault((separator, _made_distinct(names)), []).append(path)
    return " UNION ALL BY NAME ".join(_query(*header, some) for header, some in alike.items())


def _query(separator: str, names: tuple[str, ...], paths: Sequence[str]) -> str:
    columns = ", ".join(f"{_text(name)}: 'VARCHAR'" for name in names)
    return (
        f"SELECT * FROM read_csv([{', '.join(map(_text, paths))}], auto_detect = false, header = true, "
        f"columns = {{{columns}}}, delim = '{separator}', quote = '\"', escape = '\"', strict_mode = false, "
        "ignore_errors = true)"
    )


def _read_header(path: str) -> tuple[str, list[str]]:
    """Return the separator and the names of columns in a first line: the separator that makes the most of them."""
    try:
        line = _first_line(path).decode("utf-8-sig")
        found = [(separator, next(csv.reader([line], delimiter=separator), [])) for separator in _SEPARATORS]
    except (UnicodeDecodeError, csv.Error):
        found = []
    separator, names = max(found, key=lambda one: len(one[1]), default=("", []))
    if not any(names):
        raise UnreadableSource(f"the first line of {Path(path).name} must name its columns, as text in UTF-8")
    return separator, names


def _check_once(path: str, names: Sequence[str], needed: Collection[str]) -> None:
    lowered = [name.lower() for name in names]
    for name in needed:
        if lowered.count(name.lower()) > 1:
            raise UnsuitableColumn(f"{Path(path).name} has more than one column {name!r}: rename them")


def _first_line(path: str) -> bytes:
    import pyarrow

    read = b""
    with pyarrow.input_stream(path) as stream:  # unpacks what ends in .gz or .zst
        while b"\n" not in read and b"\r" not in read and len(read) < _LONGEST:
            more = stream.read(2**16)
            if not more:
                break
            read += more
    return read.splitlines()[0] if read else b""


def _made_distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that a database can tell apart, which takes no notice of case."""
    made: dict[str, str] = {}
    for place, name in enumerate(names):
        distinct = name or f"column{place}"
        while distinct.lower() in made:
            distinct += f"_{place}"
        made[distinct.lower()] = distinct
    return tuple(made.values())


def _text(content: str) -> str:
    return "'" + content.replace("'", "''") + "'"
