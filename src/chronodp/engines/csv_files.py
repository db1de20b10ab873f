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

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chronodp.engines.csv_lines import Lines, literal
from chronodp.engines.reading import Reading
from chronodp.errors import UnreadableSource

if TYPE_CHECKING:
    import pandas

__all__ = ["CsvGroup", "group_csv_files", "read_csv_texts"]

_SEPARATORS = (",", ";", "\t", "|")
_LONGEST = 2**20  # bytes of a first line
_NO_SEPARATOR = "\x01\x02\x03"  # so that a line is one field
_CODECS = {"utf-8": "utf-8-sig", "latin-1": "latin-1", "utf-16": "utf-16"}


@dataclass(frozen=True, slots=True)
class CsvGroup:
    """Files with the same first line.

    Attributes:
        paths: of the files.
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

    def broken(self) -> dict[str, str]:
        """Return, by reason, the SQL that counts lines which are no records; for the owner only."""
        records = self._records()
        reasons = {
            "quotes that do not close in their line; Reading(line_breaks=True) reads fields with line breaks": (
                records.unclosed()
            ),
            f"another number of fields than the first line has with the separator {self.separator!r}; "
            "Reading(separator=...) declares another": records.of_other_width(),
        }
        if self.reading.encoding == "utf-8":
            lines = [f"SELECT count(*) AS n FROM {self.lines(encoding=name)}" for name in ("latin-1", "utf-8")]
            reasons["no text in UTF-8; Reading(encoding='latin-1') or 'utf-16' declares another"] = (
                f"SELECT every_.n - text.n FROM ({lines[0]}) AS every_, ({lines[1]}) AS text"
            )
        return reasons

    def lines(self, *, encoding: str | None = None) -> str:
        """Return the SQL of all lines but the first, as the table function with one column ``line``.

        Args:
            encoding: another one than was declared: in Latin-1 every line is a text, so that all can be counted.
        """
        return self._read("{'line': 'VARCHAR'}", _NO_SEPARATOR, quote="", encoding=encoding)

    def _records(self) -> Lines:
        # Of a line that ends in more than one carriage return, DuckDB leaves the rest to the next line.
        line = "CASE WHEN line < ' ' THEN ltrim(line, chr(13) || chr(10)) ELSE line END AS line"
        return Lines(f"(SELECT {line} FROM {self.lines()})", self.separator, len(self.names))

    def _native(self) -> str:
        columns = ", ".join(f"'f{at}': 'VARCHAR'" for at in range(len(self.names)))
        return self._read(f"{{{columns}}}", self.separator, quote='"', encoding=None)

    def _read(self, columns: str, separator: str, *, quote: str, encoding: str | None) -> str:
        paths = ", ".join(map(literal, self.paths))
        return (
            f"read_csv([{paths}], auto_detect = false, header = true, columns = {columns}, "
            f"delim = {literal(separator)}, quote = {literal(quote)}, escape = {literal(quote)}, strict_mode = false, "
            f"ignore_errors = true, encoding = {literal(encoding or self.reading.encoding)})"
        )


def group_csv_files(paths: Sequence[str], reading: Reading) -> list[CsvGroup]:
    """Return files in groups with the same first line."""
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for path in paths:
        separator, names = _read_header(path, reading)
        alike.setdefault((separator, tuple(names)), []).append(path)
    return [CsvGroup(tuple(some), separator, names, reading) for (separator, names), some in alike.items()]


def read_csv_texts(path: str) -> pandas.DataFrame:
    """Return a file's records as texts, in the order of its lines; refuse a file with lines that are none.

    For tables that are released row by row, where a row must not get lost. An empty field is an empty text.
    """
    import duckdb

    (group,) = group_csv_files([path], Reading())
    with duckdb.connect() as connection:
        if any(connection.execute(query).fetchall()[0][0] for query in group.broken().values()):
            raise UnreadableSource(
                f"{Path(path).name} has lines that are no records of its columns, or no text in UTF-8"
            )
        frame = connection.execute(group.select(group.names)).df().fillna("")
    return frame.set_axis(list(group.names), axis=1)


def _read_header(path: str, reading: Reading) -> tuple[str, list[str]]:
    """Return the separator and the names of columns in a first line: the separator that makes the most of them."""
    try:
        line = _first_line(path, reading.encoding)
        if not line.strip():
            raise UnreadableSource(f"{Path(path).name} has no columns: its first line, which names them, is empty")
        separators = _SEPARATORS if reading.separator is None else (reading.separator,)
        found = [(separator, next(csv.reader([line], delimiter=separator), [])) for separator in separators]
    except (UnicodeError, csv.Error):
        found = []
    separator, names = max(found, key=lambda one: len(one[1]), default=("", []))
    if not any(names):
        raise UnreadableSource(
            f"the first line of {Path(path).name} must name its columns, as text in {reading.encoding}; "
            "Reading(encoding=...) declares another"
        )
    return separator, names


def _first_line(path: str, encoding: str) -> str:
    import pyarrow

    decoder = codecs.getincrementaldecoder(_CODECS[encoding])()
    read, text = 0, ""
    with pyarrow.input_stream(path) as stream:  # unpacks what ends in .gz or .zst
        while "\n" not in text and "\r" not in text and read < _LONGEST:
            more = stream.read(2**16)
            if encoding == "utf-16" and not read and more[:2] == codecs.BOM_UTF16_BE:
                raise UnreadableSource(f"{Path(path).name} is written in big-endian UTF-16: convert it to UTF-8")
            # What follows the first line is not looked at: a row could not be text.
            at = min((place for place in (more.find(b"\n"), more.find(b"\r")) if place >= 0), default=len(more))
            text += decoder.decode(more[: at + 2] if encoding != "utf-8" else more[: at + 1])
            read += len(more)
            if not more:
                break
    return re.split("[\r\n]", text, maxsplit=1)[0]
