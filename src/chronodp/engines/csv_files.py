"""CSV files, a record a line.

A reader that looks at rows to find out how a file is written (which separator, which quotes, where a record ends) lets
one row decide how others are read. Here the first line, which names the columns, decides the separator unless the owner
does, and a record ends where its line ends, whatever quotes it has open. A field may stand in double quotes; then it
may hold the separator, and a double quote inside it is written twice. A line that is written otherwise, or has another
number of fields than the first one, is left out.

Only an owner who says so has line breaks inside quotes; `Reading` tells what that costs.

"CSV: a record is a line" in ``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from chronodp.engines.csv_lines import Lines, literal
from chronodp.engines.reading import Reading
from chronodp.errors import UnreadableSource

if TYPE_CHECKING:
    import pandas

__all__ = ["CsvGroup", "group_csv_files", "read_csv_texts"]

_SEPARATORS = (",", ";", "\t", "|")
_LONGEST = 2**20  # bytes of a first line
_NO_SEPARATOR = "\x01\x02\x03"  # so that a line is one field
_PIECE = 2**20
_NO_TEXT = re.compile("[\udc80-\udcff]")  # bytes that were no text when the file was opened


@dataclass(frozen=True, slots=True)
class CsvGroup:
    """Files with the same first line.

    Attributes:
        paths: of the files in UTF-8, which may be copies.
        separator: between fields.
        names: of the columns.
        reading: what the owner declared.
    """

    paths: tuple[str, ...]
    separator: str
    names: tuple[str, ...]
    reading: Reading

    def select(self, columns: Sequence[str]) -> str:
        """Return the SQL of some columns of all records, every field as text, under the names c0, c1 and so on."""
        if self.reading.line_breaks:
            fields = ", ".join(f'"f{self.names.index(name)}" AS c{at}' for at, name in enumerate(columns))
            return f"SELECT {fields} FROM {self._native()}"
        return self._records().select([self.names.index(name) for name in columns])

    def broken(self, count: Callable[[str], int]) -> dict[str, int]:
        """Return how many lines are no records, by reason, for the owner only; ``count`` runs SQL that counts."""
        if self.reading.line_breaks:
            return {}
        records = self._records()
        reasons = {
            "quotes that do not close in their line; Reading(line_breaks=True) reads fields with line breaks": count(
                records.unclosed()
            ),
            f"another number of fields than the first line has with the separator {self.separator!r}; "
            "Reading(separator=...) declares another": count(records.of_other_width()),
        }
        if self.reading.encoding == "utf-8":
            reasons["no text in UTF-8; Reading(encoding='latin-1') or 'utf-16' declares another"] = sum(
                map(_lines_that_are_no_text, self.paths)
            )
        return reasons

    def _records(self) -> Lines:
        # Of a line that ends in more than one carriage return, DuckDB leaves the rest to the next line.
        line = "CASE WHEN line < ' ' THEN ltrim(line, chr(13) || chr(10)) ELSE line END AS line"
        lines = self._read("{'line': 'VARCHAR'}", _NO_SEPARATOR, quote="")
        return Lines(f"(SELECT {line} FROM {lines})", self.separator, len(self.names))

    def _native(self) -> str:
        columns = ", ".join(f"'f{at}': 'VARCHAR'" for at in range(len(self.names)))
        return self._read(f"{{{columns}}}", self.separator, quote='"')

    def _read(self, columns: str, separator: str, *, quote: str) -> str:
        paths = ", ".join(map(literal, self.paths))
        return (
            f"read_csv([{paths}], auto_detect = false, header = true, columns = {columns}, "
            f"delim = {literal(separator)}, quote = {literal(quote)}, escape = {literal(quote)}, strict_mode = false, "
            "ignore_errors = true, encoding = 'utf-8')"
        )


def group_csv_files(paths: Sequence[str], reading: Reading, folder: Path) -> list[CsvGroup]:
    """Return files in groups with the same first line; copies in UTF-8 of files in other encodings go to a folder."""
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for number, path in enumerate(paths):
        text = path
        if reading.encoding != "utf-8":
            text = str(folder / f"{number}.csv")
            _write_as_utf8(path, reading.encoding, text)
        separator, names = _read_header(text, reading, Path(path).name)
        alike.setdefault((separator, tuple(names)), []).append(text)
    return [CsvGroup(tuple(some), separator, names, reading) for (separator, names), some in alike.items()]


def read_csv_texts(path: str) -> pandas.DataFrame:
    """Return a file's records as texts, in the order of its lines; refuse a file with lines that are none.

    For tables that are released row by row, where a row must not get lost. An empty field is an empty text.
    """
    import duckdb

    (group,) = group_csv_files([path], Reading(), Path())
    with duckdb.connect() as connection:
        if any(group.broken(lambda query: int(connection.execute(query).fetchall()[0][0])).values()):
            raise UnreadableSource(
                f"{Path(path).name} has lines that are no records of its columns, or no text in UTF-8"
            )
        frame = connection.execute(group.select(group.names)).df().fillna("")
    return frame.set_axis(list(group.names), axis=1)


def _read_header(path: str, reading: Reading, name: str) -> tuple[str, list[str]]:
    """Return the separator and the names of columns in a first line: the separator that makes the most of them."""
    with _open(path, "utf-8-sig", "surrogateescape") as text:
        line = text.readline(_LONGEST).rstrip("\r\n")
    if not line.strip():
        raise UnreadableSource(f"{name} has no columns: its first line, which names them, is empty")
    separators = _SEPARATORS if reading.separator is None else (reading.separator,)
    try:
        found = [(separator, next(csv.reader([line], delimiter=separator), [])) for separator in separators]
    except csv.Error:
        found = []
    separator, names = max(found, key=lambda one: len(one[1]), default=("", []))
    if not any(names) or _NO_TEXT.search(line):
        raise UnreadableSource(
            f"the first line of {name} must name its columns, as text in {reading.encoding}; "
            "Reading(encoding=...) declares another"
        )
    return separator, names


def _write_as_utf8(path: str, encoding: str, copy: str) -> None:
    """Copy a file to UTF-8, whatever it holds: DuckDB's reader gives a whole file up for one sign that it lacks."""
    with _open(path, encoding, "ignore") as text, Path(copy).open("w", encoding="utf-8", newline="") as out:
        shutil.copyfileobj(text, out, _PIECE)


def _lines_that_are_no_text(path: str) -> int:
    with _open(path, "utf-8", "surrogateescape") as text:
        return sum(not line.isascii() and _NO_TEXT.search(line) is not None for line in text)


def _open(path: str, encoding: str, errors: str) -> io.TextIOWrapper:
    """Open a file as text in which nothing is an error; what ends in .gz or .zst is unpacked."""
    import pyarrow

    stream = cast("IO[bytes]", pyarrow.input_stream(path))
    return io.TextIOWrapper(stream, encoding=encoding, errors=errors, newline="")
