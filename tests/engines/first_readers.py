"""Mutants: how the readers of 0.1.0 let one row or one file decide how others are read. The differ must catch each."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from chronodp.engines import Question, Reading, Record, Totals, reference_totals
from chronodp.engines.reading import Moment, read_name, read_number, read_time
from chronodp.errors import UnsuitableColumn
from tests.engines.differ import Reader, Table, to_instant
from tests.engines.forms import Row

__all__ = ["MUTANTS"]


def first_row_decides(table: Table, question: Question) -> Totals:
    """A column of objects has the type of its first cell: with a zone, or without."""
    rows = _rows(table)
    absolute = next((row.moment.absolute for row in rows if row.moment is not None), False)
    return _totals((_moved(row, question, absolute=absolute) for row in rows), question)


def one_type_for_all_files(table: Table, question: Question) -> Totals:
    """Files agree on one type: if one has a zone, all times are instants."""
    absolute = any(piece.kinds.at.endswith("+") for piece in table.pieces)
    return _totals((_moved(row, question, absolute=absolute) for row in _rows(table)), question)


def offsets_shifted_by_the_zone(table: Table, question: Question) -> Totals:
    """An instant becomes a clock in UTC, which is then read as a clock of the time zone."""
    return _totals((_moved(row, question, absolute=False) for row in _rows(table)), question)


def quotes_across_lines(table: Table, question: Question) -> Totals:
    """A record ends where its quotes close, on whatever line."""
    records = []
    for path in map(Path, table.data):
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = content.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        separator = text[3]  # after the name of the first column
        fields = csv.reader(io.StringIO(text), delimiter=separator)
        records += [_record(one, question) for one in list(fields)[1:] if len(one) == 5]
    return _totals(records, question)


def mixed_columns_refused(table: Table, question: Question) -> Totals:
    """One text among numbers, or one number among texts, is an error."""
    kinds = {type(row.cells[0]) for row in _rows(table) if row.cells[0] is not None}
    if len(kinds) > 1:
        raise UnsuitableColumn("user: column 'who' holds cells of several types")
    return _totals((row.record for row in _rows(table)), question)


def _rows(table: Table) -> list[Row]:
    return [row for piece in table.pieces for row in piece.rows]


def _moved(row: Row, question: Question, *, absolute: bool) -> Record:
    moment = row.moment and Moment(row.moment.microseconds, absolute)
    return replace(row.record, instant=to_instant(moment, question.calendar))


def _record(cells: list[str], question: Question) -> Record:
    who, at, number, world, region = cells
    instant = to_instant(read_time(at, Reading()), question.calendar)
    return Record(read_name(who), instant, read_number(number, Reading()), (world, region))


def _totals(records: Iterable[Record], question: Question) -> Totals:
    return reference_totals(records, question, key="k")


class Mutant(NamedTuple):
    """A form, a reader that is wrong for it, and how that shows."""

    form: str
    reader: Reader
    caught: str


MUTANTS = {
    "the first row decides the type": Mutant("pandas object", first_row_decides, "changed by"),
    "files agree on one type": Mutant("parquet", one_type_for_all_files, "changed by"),
    "offsets shifted by the zone": Mutant("csv", offsets_shifted_by_the_zone, "read otherwise"),
    "quotes across lines": Mutant("csv", quotes_across_lines, "read otherwise"),
    "mixed columns refused": Mutant("pandas", mixed_columns_refused, "refused"),
}
