"""Whether bounds that a question gives, or leaves to be found, are within what the owner declared of a column.

What one person has goes with the length of a period: a clip of an hour cuts nearly all of a day away. So the widest
clip, the norm and what is usual are declared by length, and a length without its own is refused with the mend. "Limits
go with the length of a period" in section 6 of ``docs/explanation/proofs/curator.md``.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from chronodp.dataset import Query
from chronodp.engines import derived_as
from chronodp.errors import NotAllowed
from chronodp.series import Plan, Table
from chronodp.series.measures import Clip
from chronodp.service.policy import Column, Dataset
from chronodp.service.refusals import refuse

__all__ = ["allowed_search", "check_bounds", "length_of", "usual_of"]

_SPAN = 2.0**20  # how far below the widest clip one is looked for
_LARGEST = 2.0**40  # the end of every search
_BOUNDS = {"bound": "norm"}  # where a bound has another name in a policy than in Python


def length_of(dataset: Dataset, table: Table) -> str:
    """Return how long the periods are whose totals are bounded: of peaks and totals over longer ones, the shorter."""
    calendar = table.periods.calendar
    return dataset.calendar.every if calendar is None else calendar.every


def allowed_search(dataset: Dataset, query: Query[Plan]) -> Query[Plan]:
    """Return the query with its search for a clip or edges kept within the widest that may be asked, or raise."""
    finds, table = dict(query.finds), query.table.periods
    unknown = [name for name in (_BOUNDS.get(name, name) for name in finds) if name not in dataset.allowed.find]
    if unknown:
        raise refuse("find", " and ".join(unknown), "numbers that are publicly known")
    column = _column_of(dataset, table)
    if column is None:
        return query  # one that is unknown is refused with the rest
    if "bound" in finds:
        return _within(query, "bound", _widest_norm(dataset, column, table), "norm")
    name = next((name for name in ("clip", "edges") if name in finds), None)
    if name is None or table.measure.declared is None:
        return query
    low, high = _widest_clip(dataset, column, table)
    _, (down, up) = table.measure.declared  # of a size of 1: how far the clip that is found reaches on each side
    if name == "edges":
        down, up = (-1.0 if down < 0 else 0.0), 1.0  # a search for edges ends at the farthest edge itself
    widest = min(high / up, low / down if down else math.inf)
    if widest <= 0:
        raise refuse(name, "found", f"within {low:g} to {high:g}: found from 0 on, or given")
    return _within(query, name, widest, "clip")


def check_bounds(dataset: Dataset, table: Table, finds: Collection[str]) -> None:
    """Raise unless bounds that are given are within the policy, and not below what its owner says is usual."""
    _check_usual_periods(dataset, table, found="max_periods" in finds)
    measure = table.periods.measure
    if measure.read_column is None or derived_as(table.columns or (), measure.read_column):
        return  # what a derived column may hold, its own columns decide
    if measure.declared is None and measure.norm is None:
        return
    column = _column_of(dataset, table)
    if column is None:
        known = ", ".join(dataset.columns)
        allowed = f"one of the columns {known}" if known else "a count: the policy has no column of numbers"
        raise refuse("column", measure.read_column, allowed)
    low, high = _widest_clip(dataset, column, table)
    if measure.declared is None:
        _check_norm(dataset, column, table, found="bound" in finds)
        return
    name, ends = measure.declared
    if name in finds:
        return
    if ends[0] < low or ends[1] > high:
        raise refuse(name, f"{ends[0]:g} to {ends[1]:g}", f"within {low:g} to {high:g}")
    if name == "clip" or measure.asked_quantiles:  # who looks at the bins of a tail means to leave others out
        _check_usual(usual_of(dataset, column, table), ends, length_of(dataset, table), name=name)


def _column_of(dataset: Dataset, table: Table) -> Column | None:
    """Return what the owner declared of the column that is read; None of one that is unknown or made of others."""
    name = table.periods.measure.read_column
    return None if name is None or derived_as(table.columns or (), name) else dataset.columns.get(name)


def _widest_clip(dataset: Dataset, column: Column, table: Table) -> Clip:
    """Return the widest clip that may be asked in periods of this length, or raise with what to declare."""
    own, every = dataset.calendar.every, length_of(dataset, table)
    if _of_rows(table):
        return column.clips[own]
    widest = column.clip_of(every)
    if widest is not None:
        return widest
    name, (low, high) = table.periods.measure.read_column, column.clips[own]
    raise NotAllowed(
        f"the owner's policy has no clip of {name} in periods of {every}: that of {own} would cut most of it away",
        argument="every",
        mend=f"ask for periods of {own} and read longer ones from the release, for nothing; or let the owner declare "
        f"clip = {{ {own} = [{low:g}, {high:g}], {every} = [..., ...] }} for {name}",
    )


def _check_usual(usual: float | None, ends: Clip, every: str, *, name: str = "clip") -> None:
    """Raise if most people would have more, or less, than counts of them, by what the owner declared."""
    if usual is not None and not ends[0] <= usual <= ends[1]:
        raise refuse(
            name,
            f"{ends[0]:g} to {ends[1]:g}",
            f"wide enough for {usual:g}, which one person usually has in {every} as the owner declared: most people "
            "would be cut off",
        )


def usual_of(dataset: Dataset, column: Column, table: Table) -> float | None:
    """Return what one person usually has in a cell; None where the owner declared nothing of such rows."""
    other = table.where is not None or table.max_groups > 1 or _of_rows(table)
    return None if other else column.usual.get(length_of(dataset, table))


def _of_rows(table: Table) -> bool:
    """Return whether single rows are bounded, whose size does not go with the length of a period."""
    return table.single_rows or table.periods.measure.row_weight is not None


def _check_usual_periods(dataset: Dataset, table: Table, *, found: bool) -> None:
    """Raise if fewer periods would count than one person usually has, by what the owner declared."""
    usual, every = dataset.usual_periods.get(length_of(dataset, table)), length_of(dataset, table)
    if usual is None or table.max_periods is None or found or table.where is not None:
        return
    if table.max_periods < min(usual, table.periods.horizon):
        raise refuse(
            "max_periods",
            f"{table.max_periods:,}",
            f"at least {min(usual, table.periods.horizon):,}: one person usually has {usual:,} of {every} as the owner "
            "declared, and most of what people have would be cut off",
        )


def _within(query: Query[Plan], name: str, most: float, called: str) -> Query[Plan]:
    """Return the query with its search for a size kept below the largest that may be asked, or raise."""
    finds, widest = dict(query.finds), min(most, _LARGEST)
    low, high = finds[name].between or (max(widest / _SPAN, 1 / _SPAN), widest)
    if high > widest:
        raise refuse("between", f"{low:g} to {high:g}", f"at most {widest:g}, the widest {called}")
    finds[name] = replace(finds[name], between=(low, high))
    return replace(query, finds=tuple(finds.items()))


def _widest_norm(dataset: Dataset, column: Column, table: Table) -> float:
    """Return the largest norm that may be asked: the policy's, or that of a series at the widest clip throughout."""
    declared = column.norms.get(length_of(dataset, table))
    if declared is not None:
        return declared
    widest = _widest_clip(dataset, column, table)
    return max(abs(end) for end in widest) * math.sqrt(table.horizon * table.groups)


def _check_norm(dataset: Dataset, column: Column, table: Table, *, found: bool) -> None:
    """Raise unless the norm of a whole series, and the side of 0 that it counts, are within the policy."""
    (low, high), measure = _widest_clip(dataset, column, table), table.measure
    if high <= 0:
        raise refuse("norm", "of this column", f"a clip within {low:g} to {high:g}: a norm counts from 0 upwards")
    if low >= 0 and measure.negative:
        raise refuse("norm", "with totals below 0", f'"signed": false, since this column begins at {low:g}')
    if found or measure.norm is None:
        return
    if measure.norm > (widest := _widest_norm(dataset, column, table)):
        raise refuse("norm", f"{measure.norm:g}", f"at most {widest:g}")
    usual, periods = usual_of(dataset, column, table), dataset.usual_periods.get(length_of(dataset, table))
    if usual is None or periods is None:
        return
    if measure.norm < (least := abs(usual) * math.sqrt(min(periods, table.horizon))):
        raise refuse(
            "norm",
            f"{measure.norm:g}",
            f"at least {least:g}, that of {usual:g} in {periods:,} periods, which one person usually has as the owner "
            "declared: most people would be scaled down",
        )
