"""What a table refuses: bounds, places, windows and expressions that do not go with the rest of it."""

from __future__ import annotations

from chronodp.engines import check_where, expressions_of
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.ledger import MOST_CELLS
from chronodp.series.measures import Count, Histogram, Sum
from chronodp.series.places import PLACE_COLUMNS
from chronodp.series.table_declared import DeclaredTable

__all__ = ["check_clips", "check_expressions", "check_levels", "check_norm", "check_presence"]


def check_norm(table: DeclaredTable) -> None:
    """Refuse a bound on whole series where not whole people are protected, or limits beside it."""
    if table.measure.norm is None:
        return
    if not table.unit.whole_person:
        allowed = (
            f"left out for {table.unit}: its factor looks at the whole history, so one day would move all others; "
            "it is for User(), others take a clip"
        )
        raise InvalidArgument("bound", "Norm(...)", allowed)
    if table.finds_keys:
        allowed = "a clip where keys are found; or find them with a count, and use release.keys"
        raise InvalidArgument("bound", "Norm(...)", allowed)
    if table.max_periods is not None or table.max_groups != table.groups:
        raise InvalidArgument("bound", "Norm(...)", "without max_periods and max_groups: all of a person counts")


def check_clips(table: DeclaredTable) -> None:
    """Refuse clips by group where keys are found, or where groups are added up to places above them."""
    clips = table.measure.clips
    if clips is not None and table.levels is not None:
        allowed = "one pair (low, high) with Places: numbers of leaves with clips of their own do not add up alike"
        raise InvalidArgument("clip", str(clips), allowed)
    if clips is not None and table.finds_keys:
        allowed = "one pair (low, high) where keys are found; find them with a count, and use release.keys"
        raise InvalidArgument("clip", str(clips), allowed)


def check_levels(table: DeclaredTable) -> None:
    """Refuse a tree over keys that are not its leaves, and measures whose numbers do not add up over places."""
    if table.levels is None:
        return
    leaves = [grouping.keys for grouping in table.groupings if grouping.column == table.levels.column]
    if len(leaves) != 1 or len(leaves[0]) != table.levels.tree.leaves or table.finds_keys:
        raise InvalidArgument("levels", table.levels.column, "a grouping whose public keys are the leaves")
    for grouping in table.groupings:
        if grouping.column in PLACE_COLUMNS and grouping.column != table.levels.column:
            raise InvalidArgument("by", grouping.column, "another name beside Places, whose columns these are")
    measure = table.measure
    if measure.block is not None:
        allowed = "left out with Places; release.resample(...) adds periods up, and peaks of places do not add up"
        raise InvalidArgument(measure.block.statistic, str(measure), allowed)
    if measure.presence is not None:
        allowed = "left out with Places: a person's stays in several leaves of a place are not bounded together"
        raise InvalidArgument("window", measure.presence.window, allowed)
    if measure.norm is not None:
        raise InvalidArgument("bound", "Norm(...)", "a clip with Places: a norm over leaves bounds no place above")
    if type(measure) not in (Count, Sum, Histogram):  # for no other is it argued what a place changes by
        allowed = "a count, a sum or a histogram of people with Places: what adds up; a ratio of two is free"
        raise InvalidArgument("measure", str(measure), allowed)


def check_presence(table: DeclaredTable) -> None:
    """Refuse to tell who was active lately where there is nobody, no date, or keys are still to be found."""
    if table.measure.presence is None:
        return
    if table.single_rows:
        raise MissingBound("user", "name the column with the person: who was active lately is counted once")
    if table.calendar is None:
        raise InvalidArgument("window", table.measure.presence.window, "used only where periods have dates")
    if table.finds_keys:
        allowed = "declared keys for active people; or find them with a count, and use release.keys"
        raise InvalidArgument("by", "Discover()", allowed)
    if table.read is not None and len(table.read) * table.places > MOST_CELLS:
        allowed = f"shorter: with the periods before the start there are more than {MOST_CELLS:,} cells"
        raise InvalidArgument("window", table.measure.presence.window, allowed)


def check_expressions(table: DeclaredTable) -> None:
    """Refuse a filter that is none, and derived columns that cannot be what they are named for."""
    if table.columns == ():
        raise InvalidArgument("columns", (), "left out where there are none")
    derived = table.columns or ()
    check_where(table.where, derived)
    groups = tuple(grouping.column for grouping in table.groupings)
    expressions_of(table.where, derived, table.periods.measure.read_column, groups)
