"""Raw tables in, bounded integer series out: DuckDB on one machine, Spark beyond it."""

from chronodp.engines.attach import check_source as check_source
from chronodp.engines.csv_files import read_csv_texts as read_csv_texts
from chronodp.engines.embedded import DuckDB
from chronodp.engines.engine import Engine as Engine
from chronodp.engines.expressions import (
    FUNCTIONS as FUNCTIONS,
    LONGEST_EXPRESSION as LONGEST_EXPRESSION,
    Derived as Derived,
    check_columns as check_columns,
    check_where as check_where,
    columns_of as columns_of,
    derived_as as derived_as,
    expressions_of as expressions_of,
    functions_of as functions_of,
    parse_expression as parse_expression,
    texts_of as texts_of,
)
from chronodp.engines.held_keys import HeldKeys as HeldKeys, KeysQuestion as KeysQuestion
from chronodp.engines.lives import (
    LONGEST_LIFE as LONGEST_LIFE,
    Booked as Booked,
    LifeQuestion as LifeQuestion,
    Tally as Tally,
    WholePrice as WholePrice,
    entry_of as entry_of,
)
from chronodp.engines.losses import LossesQuestion as LossesQuestion
from chronodp.engines.question import (
    Grouping as Grouping,
    Progress as Progress,
    Question as Question,
    Scaling as Scaling,
)
from chronodp.engines.reading import ColumnCheck as ColumnCheck, Reading, ReadingCheck as ReadingCheck, Role as Role
from chronodp.engines.reference import (
    Reference as Reference,
    reference_held_keys as reference_held_keys,
    reference_losses as reference_losses,
    reference_missing as reference_missing,
    reference_sizes as reference_sizes,
    reference_totals as reference_totals,
)
from chronodp.engines.reference_cells import Record as Record
from chronodp.engines.reference_lives import reference_book as reference_book
from chronodp.engines.sizes import Sizes as Sizes, SizesQuestion as SizesQuestion
from chronodp.engines.sources import (
    FileSource as FileSource,
    FrameSource as FrameSource,
    RelationSource as RelationSource,
    Source as Source,
    SparkSource as SparkSource,
    TableSource as TableSource,
    find_source as find_source,
    is_spark_frame as is_spark_frame,
)
from chronodp.engines.spark import Spark, Volume as Volume, estimate_volume, local_session
from chronodp.engines.statement import MissingQuestion as MissingQuestion, statement as statement
from chronodp.engines.totals import BoundsReport as BoundsReport, Totals as Totals
from chronodp.engines.whole_series import read_rows as read_rows, read_series as read_series

__all__ = ["DuckDB", "Reading", "Spark", "estimate_volume", "local_session"]
