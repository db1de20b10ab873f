"""Raw tables in, bounded integer series out: DuckDB on one machine, Spark beyond it."""

from chronodp.engines.embedded import DuckDB
from chronodp.engines.question import Engine, Grouping, Progress, Question, Tally, Totals
from chronodp.engines.reading import ColumnCheck, Reading, ReadingCheck
from chronodp.engines.reference import Record, reference_totals
from chronodp.engines.sources import Source, find_source, is_spark_frame
from chronodp.engines.spark import Spark, Volume, estimate_volume, local_session
from chronodp.engines.statement import statement
from chronodp.engines.whole_series import read_panel, read_rows, read_series

__all__ = [
    "ColumnCheck",
    "DuckDB",
    "Engine",
    "Grouping",
    "Progress",
    "Question",
    "Reading",
    "ReadingCheck",
    "Record",
    "Source",
    "Spark",
    "Tally",
    "Totals",
    "Volume",
    "estimate_volume",
    "find_source",
    "is_spark_frame",
    "local_session",
    "read_panel",
    "read_rows",
    "read_series",
    "reference_totals",
    "statement",
]
