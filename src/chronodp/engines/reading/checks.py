"""What an owner sees of how a table is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["ColumnCheck", "ReadingCheck"]


@dataclass(frozen=True, slots=True)
class ColumnCheck:
    """What was read of a column. For the owner's eyes only.

    Attributes:
        argument: what the column is used for: 'time', 'user', 'value', 'by', or in expressions 'where' or 'columns'.
        column: its name.
        types: how it is stored; more than one if files differ.
        read: cells that were read.
        missing: cells that hold nothing, and those of files without the column.
        unreadable: cells that hold something else than what is wanted.
        hints: how many of these would be read if something were declared, by what to declare.
    """

    argument: str
    column: str
    types: tuple[str, ...]
    read: int
    missing: int
    unreadable: int
    hints: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ReadingCheck:
    """How a table is read. For the owner's eyes only: publishing it would be a release of its own.

    Attributes:
        rows: rows in the table.
        columns: each column by itself.
        incomplete: rows that the filter leaves, and that lack a person, a time or a number.
        outside_time: complete rows before or after the periods.
        outside_groups: rows of the periods with a key that is not on the list.
        outside_bins: rows of these groups with a value outside the bins.
        used: rows that count.
        instants: complete rows whose time carries an offset.
        wall_clocks: complete rows whose time is read on the clocks of the time zone.
        broken: lines of CSV files that are no records, by reason.
        filtered: rows of which the filter does not hold; counted before all others.
    """

    rows: int
    columns: tuple[ColumnCheck, ...]
    incomplete: int
    outside_time: int
    outside_groups: int
    outside_bins: int
    used: int
    instants: int
    wall_clocks: int
    broken: Mapping[str, int]
    filtered: int = 0
