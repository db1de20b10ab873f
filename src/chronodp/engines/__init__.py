"""Raw tables in, bounded integer series out: DuckDB on one machine, one SQL text for engines beyond it."""

from chronodp.engines.embedded import DuckDB
from chronodp.engines.question import Engine, Grouping, Progress, Question, Tally, Totals
from chronodp.engines.reference import Record, reference_totals
from chronodp.engines.schema import Schema, check_columns
from chronodp.engines.sources import Source, find_source
from chronodp.engines.statement import statement
from chronodp.engines.whole_series import read_panel, read_series

__all__ = [
    "DuckDB",
    "Engine",
    "Grouping",
    "Progress",
    "Question",
    "Record",
    "Schema",
    "Source",
    "Tally",
    "Totals",
    "check_columns",
    "find_source",
    "read_panel",
    "read_series",
    "reference_totals",
    "statement",
]
