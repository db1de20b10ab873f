"""How cells are read: one rule for each kind of cell, whatever holds the table and whatever other cells say."""

from chronodp.engines.reading.cells import Moment, epoch_time, is_missing, read_name, read_number, read_time
from chronodp.engines.reading.checks import ColumnCheck, ReadingCheck
from chronodp.engines.reading.columns import Columns, Term
from chronodp.engines.reading.declared import Reading, check_reading
from chronodp.engines.reading.parts import Part, Wanted, check_parts, match_column
from chronodp.engines.reading.stored import (
    NOTHING,
    TEXT,
    Kind,
    Role,
    Stored,
    can_hold,
    stored_in_duckdb,
    stored_in_spark,
)

__all__ = [
    "NOTHING",
    "TEXT",
    "ColumnCheck",
    "Columns",
    "Kind",
    "Moment",
    "Part",
    "Reading",
    "ReadingCheck",
    "Role",
    "Stored",
    "Term",
    "Wanted",
    "can_hold",
    "check_parts",
    "check_reading",
    "epoch_time",
    "is_missing",
    "match_column",
    "read_name",
    "read_number",
    "read_time",
    "stored_in_duckdb",
    "stored_in_spark",
]
