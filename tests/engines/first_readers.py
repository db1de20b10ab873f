"""Mutants: readers that let one row, one cell or one file decide how others are read, or let it show. The differ must
catch each."""

from __future__ import annotations

import csv
import gzip
import io
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from chronodp.engines import Engine, Progress, Question, Record, Reference, Totals
from chronodp.engines.reading import Moment, read_name, read_number, read_time
from chronodp.errors import UnreadableSource, UnsuitableColumn
from tests.engines.differ import Query, Reader, Table, to_instant
from tests.engines.forms import Row
from tests.engines.kinds import FOUL

Records = Callable[[Table, Query], Iterable[Record]]


def first_row_decides(table: Table, query: Query) -> Iterable[Record]:
    """A column of objects has the type of its first cell: with a zone, or without."""
    absolute = next((row.moment.absolute for row in table.rows if row.moment is not None), False)
    return (_moved(row, query, absolute=absolute) for row in table.rows)


def one_type_for_all_files(table: Table, query: Query) -> Iterable[Record]:
    """Files agree on one type: if one has a zone, all times are instants."""
    absolute = any(piece.kinds.at.endswith("+") for piece in table.pieces if piece.rows)
    return (_moved(row, query, absolute=absolute) for row in table.rows)


def offsets_shifted_by_the_zone(table: Table, query: Query) -> Iterable[Record]:
    """An instant becomes a clock in UTC, which is then read as a clock of the time zone."""
    return (_moved(row, query, absolute=False) for row in table.rows)


def quotes_across_lines(table: Table, query: Query) -> Iterable[Record]:
    """A record ends where its quotes close, on whatever line."""
    for path in map(Path, table.data):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        encoding = "utf-8-sig" if query.reading.encoding == "utf-8" else query.reading.encoding
        text = content.decode(encoding, errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        separator = text[3]  # after the name of the first column
        for cells in list(csv.reader(io.StringIO(text), delimiter=separator))[1:]:
            if len(cells) == 5:
                who, at, number, region, _ = cells
                instant = to_instant(read_time(at, query.reading), query.calendar)
                yield Record(read_name(who), instant, read_number(number, query.reading), (region,))


def mixed_columns_refused(table: Table, _: Query) -> Iterable[Record]:
    """One text among numbers, or one number among texts, is an error."""
    kinds = {type(row.cells[0]) for row in table.rows if row.cells[0] is not None}
    if len(kinds) > 1:
        raise UnsuitableColumn("user: column 'who' holds cells of several types")
    return (row.record for row in table.rows)


def foul_texts_refused(table: Table, _: Query) -> Iterable[Record]:
    """A text that is none in its encoding damages the file."""
    if any(cell is FOUL for row in table.rows for cell in row.cells):
        raise UnreadableSource("the file is damaged")
    return (row.record for row in table.rows)


def missing_times_warned_of(table: Table, _: Query) -> Iterable[Record]:
    """Whoever asks is told that rows are left out."""
    if any(row.moment is None for row in table.rows):
        warnings.warn("rows without a time are left out", stacklevel=1)
    return (row.record for row in table.rows)


def missing_times_printed(table: Table, _: Query) -> Iterable[Record]:
    for row in table.rows:
        if row.moment is None:
            print("a row is left out")
        yield row.record


class _Counting(Reference):
    """Tells how far it is by the rows that it has read."""

    def totals(self, source: Any, question: Question, *, key: str, progress: Progress = lambda _: None) -> Totals:
        for number in range(len(source)):
            progress(number / len(source))
        return super().totals(source, question, key=key, progress=progress)


def progress_by_rows(table: Table, _: Query) -> tuple[object, Engine]:
    return [row.record for row in table.rows], _Counting()


def a_second_reader(table: Table, query: Query) -> Iterable[Record]:
    """What one library gives up another reads again, whose times are 64 bits of nanoseconds and come round."""
    again = any(cell is FOUL for row in table.rows for cell in row.cells)
    for row in table.rows:
        moment = row.moment
        if again and moment is not None:
            nanoseconds = (moment.microseconds * 1000 + 2**63) % 2**64 - 2**63
            moment = replace(moment, microseconds=nanoseconds // 1000)
        yield replace(row.record, instant=to_instant(moment, query.calendar))


def _by_rule(records: Records) -> Reader:
    return lambda table, query: (list(records(table, query)), Reference())


def _moved(row: Row, query: Query, *, absolute: bool) -> Record:
    moment = row.moment and Moment(row.moment.microseconds, absolute)
    return replace(row.record, instant=to_instant(moment, query.calendar))


class Mutant(NamedTuple):
    """A form, a reader that is wrong for it, and how that shows."""

    form: str
    reader: Reader
    caught: str


MUTANTS = {
    "the first row decides the type": Mutant("pandas object", _by_rule(first_row_decides), "changed by"),
    "files agree on one type": Mutant("parquet", _by_rule(one_type_for_all_files), "changed by"),
    "offsets shifted by the zone": Mutant("csv", _by_rule(offsets_shifted_by_the_zone), "read otherwise"),
    "quotes across lines": Mutant("csv", _by_rule(quotes_across_lines), "read otherwise"),
    "mixed columns refused": Mutant("pandas", _by_rule(mixed_columns_refused), "refusal"),
    "foul texts refused": Mutant("parquet", _by_rule(foul_texts_refused), "refusal"),
    "a second reader": Mutant("parquet of enums", _by_rule(a_second_reader), "changed by"),
    "missing times warned of": Mutant("arrow", _by_rule(missing_times_warned_of), "warned"),
    "missing times printed": Mutant("arrow", _by_rule(missing_times_printed), "printed"),
    "progress by rows": Mutant("arrow", progress_by_rows, "progress"),
}
