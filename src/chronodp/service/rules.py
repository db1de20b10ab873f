"""Whether the owner's policy allows a question: decided from the question and public declarations alone.

A rule that looked at the data, such as "no group with fewer than ten people in it", would answer by refusing: whoever
asks for a group of ten and is refused learns that someone is missing. So every rule here reads what anyone may know,
and the least size of a group is compared with sizes that the owner has declared.

Section 6 of ``docs/explanation/proofs/curator.md``, "Rules that do not look".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from chronodp.dataset import Query
from chronodp.engines import columns_of, derived_as, functions_of, parse_expression
from chronodp.privacy import Calendar, check_moment, microseconds_of, to_document
from chronodp.series import Plan, Table, Workload
from chronodp.service.bound_rules import check_bounds
from chronodp.service.period_lengths import grid_within
from chronodp.service.policy import Dataset
from chronodp.service.question import DiscoverAsked
from chronodp.service.refusals import refuse

__all__ = ["allowed_grid", "allowed_keys", "check_allowed", "check_expressions"]

_NO_GROUPS = "left out: the policy has no column that splits answers"


def allowed_grid(dataset: Dataset, *, every: str | None, start: str | None, end: str | None) -> Calendar:
    """Return the grid that is asked for, or raise; what is not allowed is not even laid out."""
    whole = dataset.calendar
    wanted = whole.every if every is None else every
    if wanted not in dataset.allowed.grids:
        raise refuse("every", wanted, f"one of {', '.join(dataset.allowed.grids)}")
    for name, text in (("start", start), ("end", end)):
        moment = whole.edges[0] if text is None else microseconds_of(check_moment(name, text, whole.zone))
        if not whole.edges[0] <= moment <= whole.edges[-1]:
            raise refuse(name, str(text), f"within {whole.start} to {whole.end}")
    if start is None and end is None:
        return grid_within(whole, wanted)  # of longer periods, those that are whole
    first, last = (whole.start if start is None else start), (whole.end if end is None else end)
    return Calendar(wanted, first, last, whole.timezone)


def check_expressions(dataset: Dataset, *, where: str | None, columns: Mapping[str, str]) -> None:
    """Raise unless filter and derived columns are made of columns and functions that the policy names.

    They are read, and go no further before this: what is not allowed is not even typed.
    """
    allowed = dataset.allowed
    written = [] if where is None else [("where", "where", where)]
    written += [("columns", f"columns[{name!r}]", text) for name, text in columns.items()]
    for argument, shown, text in written:
        node = parse_expression(shown, text)
        for column in columns_of(node):
            if column.lower() not in map(str.lower, allowed.expression_columns):
                known = ", ".join(allowed.expression_columns)
                mend = f"made of the columns {known}" if known else "left out: no column may stand in expressions"
                raise refuse(argument, f"with column {column}", mend)
        for function in functions_of(node):
            if function.lower() not in allowed.expression_functions:
                known = ", ".join(allowed.expression_functions) or "none"
                raise refuse(argument, f"with {function}", f"without it; functions that may be used: {known}")
    if allowed.least_group and where is not None:
        # Nobody declared how many people such rows are about, and the data must not say it.
        raise refuse("where", "beside least_group", "left out: no size is declared of the rows that it leaves")


def allowed_keys(dataset: Dataset, query: Query[Plan], asked: DiscoverAsked | None) -> Query[Plan]:
    """Return the query with its search for keys kept within the policy where it says nothing itself, or raise."""
    discover, allowed = query.discover, dataset.allowed.discover
    if discover is None or asked is None:
        return query
    if allowed is None:
        raise refuse("by", "with keys that are found", "with keys that are publicly known")
    longest = min(discover.longest, allowed.longest) if asked.longest is None else discover.longest
    if longest > allowed.longest:
        raise refuse("longest", f"{longest:,}", f"at most {allowed.longest:,} bytes")
    counted = query.table.max_groups if discover.max_keys is None else discover.max_keys
    if counted > allowed.max_keys and not query.table.unit.of_rows:
        name = "max_groups" if discover.max_keys is None else "max_keys"
        raise refuse(name, f"{counted:,}", f"at most {allowed.max_keys:,}")
    room = max(1, dataset.allowed.cells // _cells(query.table, keys=1))
    most = min(discover.most, room) if asked.most is None else discover.most
    return replace(query, discover=replace(discover, longest=longest, most=most))


def check_allowed(dataset: Dataset, query: Query[Plan], *, tuned_for: Workload, missing: bool = False) -> None:
    """Raise unless the policy allows the question; see `check_expressions`, `allowed_search` and `allowed_keys` too.

    What it may cost is known when it is planned, and `check_price` decides it.
    """
    table = query.table
    _check_measure(dataset, table)
    check_bounds(dataset, table, [name for name, _ in query.finds])
    _check_groups(dataset, table)
    _check_read(dataset, table)
    allowed = dataset.allowed
    kind = to_document(tuned_for)["kind"]
    if kind not in allowed.workloads:
        raise refuse("tuned_for", kind, f"one of {', '.join(allowed.workloads)}")
    if missing and not allowed.missing:
        raise refuse("missing", "beside the answer", "left out")
    cells = _cells(table, keys=0 if query.discover is None else query.discover.most)
    if cells > allowed.cells:
        raise refuse("by", f"{cells:,} numbers", f"at most {allowed.cells:,}: fewer keys, bins or periods")


def _check_read(dataset: Dataset, table: Table) -> None:
    """Raise if rows from before the dataset's grid would be read: a window reaches back beyond its own start."""
    first = int(dataset.calendar.edges[0])
    if table.read is not None and table.calendar is not None and int(table.read.edges[0]) < first:
        asked = table.measure.presence
        begin = dataset.calendar.start
        raise refuse(
            "start",
            table.calendar.start,
            f"later by {asked.window if asked else 'a window'} than {begin}, where data begin",
        )


def _check_measure(dataset: Dataset, table: Table) -> None:
    allowed = dataset.allowed.measures
    block = table.measure.block
    if block is not None and block.statistic not in allowed:
        raise refuse("block", block.statistic, f"one of {', '.join(allowed)}")
    measure = table.periods.measure
    kind = measure.to_question()["kind"]
    if kind not in allowed:
        raise refuse("measure", kind, f"one of {', '.join(allowed)}")


def _cells(table: Table, *, keys: int) -> int:
    """Return how many numbers a release may have, with so many keys found."""
    columns = (keys if grouping.found else len(grouping.keys) for grouping in table.groupings)
    numbers = max(table.horizon, table.periods.horizon) * math.prod(columns) * table.measure.bins
    tree = None if table.levels is None else table.levels.tree
    return numbers if tree is None else numbers // tree.leaves * tree.nodes  # every level is shown


def _check_groups(dataset: Dataset, table: Table) -> None:
    if table.levels is not None and not dataset.allowed.places:
        raise refuse("places", "with all of their levels", "left out, and the keys of one level given in by")
    most = dataset.allowed.max_groups
    if most is not None and table.max_groups > most:
        raise refuse("max_groups", f"{table.max_groups:,}", f"at most {most:,}")
    for grouping in table.groupings:
        if grouping.found:
            _check_found(dataset, table, grouping.column)
            continue
        if derived_as(table.columns or (), grouping.column):
            if dataset.allowed.least_group:
                raise refuse("by", grouping.column, "a column of the table: no size is declared of derived groups")
            continue
        known = dataset.groups.get(grouping.column)
        if known is None and (found := dataset.allowed.discover) and grouping.column in found.columns:
            # Keys that were found are public, and whoever names another learns no more of it than its noise tells.
            if max(len(key.encode()) for key in grouping.keys) > found.longest:
                raise refuse(grouping.column, "with a longer key", f"keys of at most {found.longest:,} bytes")
            continue
        if known is None:
            allowed = f"one of the columns {', '.join(dataset.groups)}" if dataset.groups else _NO_GROUPS
            raise refuse("by", grouping.column, allowed)
        unknown = [key for key in grouping.keys if key not in known.keys]
        if unknown:
            raise refuse(grouping.column, unknown[0], f"made of the public keys {', '.join(known.keys[:20])}")
    least = dataset.allowed.least_group
    if least and table.groupings and (size := _smallest(dataset, table)) < least:
        raise refuse("by", f"a group of about {size:,} people", f"in groups of at least {least:,}, as declared")


def _check_found(dataset: Dataset, table: Table, column: str) -> None:
    """Raise unless keys of a column, or of all columns that it is made of, may be found."""
    allowed = () if dataset.allowed.discover is None else dataset.allowed.discover.columns
    known = {name.lower() for name in allowed}
    derived = [one for one in table.columns or () if derived_as([one], column)]
    made_of = columns_of(parse_expression("columns", derived[0].expression)) if derived else (column,)
    for name in made_of:
        if name.lower() not in known:
            raise refuse("by", f"keys of {name} that are found", f"of the columns {', '.join(allowed)}")


def _smallest(dataset: Dataset, table: Table) -> int:
    """Return the declared size of the smallest group, columns taken as independent of each other."""
    shares = (
        min(dataset.groups[grouping.column].people[key] for key in grouping.keys) / dataset.people
        for grouping in table.groupings
    )  # none of them derived: where sizes matter these are refused
    return int(dataset.people * math.prod(shares))
