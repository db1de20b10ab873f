"""One step from a reading to the next: what each may be asked of, and what it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_number
from chronodp.series.readings.axes import Columns
from chronodp.series.readings.linear import Linear
from chronodp.series.readings.made import LinearReading, Made, RatioReading
from chronodp.series.readings.pooled import PooledReading
from chronodp.series.readings.weights import Wholes

__all__ = [
    "at_keys",
    "check_within",
    "check_word",
    "linear_of",
    "matched",
    "over_groupings",
    "resampled",
    "rolled",
    "some_columns",
    "totalled",
]


def check_word(name: str, given: object, words: tuple[str, ...]) -> None:
    """Refuse what is none of these words."""
    if not isinstance(given, str) or given not in words:
        *most, last = (repr(word) for word in words)
        raise InvalidArgument(name, given, f"{', '.join(most)} or {last}")


def linear_of(made: Made, asked: str) -> LinearReading:
    """Return a reading if it is linear."""
    if isinstance(made, LinearReading):
        return made
    if isinstance(made, PooledReading):
        noun = made.design.table.measure.noun
        allowed = f"a count or a sum: a {noun} is a ratio already. Release sums and counts by plan_together, and take "
        raise InvalidArgument(asked, f"of a {noun}", f"{allowed}the ratio of their sums last")
    kind = "a ratio" if isinstance(made, RatioReading) else "a change"
    allowed = "asked before the ratio: the ratio of sums has an exact interval, a sum or mean of ratios has none"
    raise InvalidArgument(asked, f"of {kind}", allowed)


def at_keys(made: Made, given: object, named: Mapping[str, object]) -> tuple[Made, str]:
    """Return the columns with these keys, and which these are in words."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidArgument("keys", given, "a key for each grouping, as county='c12' or {'county': 'c12'}")
    keys = {**(given or {}), **named}
    chosen = some_columns(made, *made.columns.chosen(keys), "at")
    return chosen, ", ".join(f"{name} {key}" for name, key in keys.items())


def some_columns(made: Made, columns: Columns, chosen: Wholes, asked: str) -> Made:
    """Return some columns of a reading."""
    if isinstance(made, PooledReading):
        return replace(made, columns=columns, groups=made.groups[chosen])
    if isinstance(made, LinearReading):
        return replace(made, columns=columns, linear=made.linear.columns(chosen))
    if isinstance(made, RatioReading):  # one key of a ratio is a ratio still
        above, below = made.numerator.columns(chosen), made.denominator.columns(chosen)
        return replace(made, columns=columns, numerator=above, denominator=below)
    return linear_of(made, asked)


def over_groupings(made: Made, names: tuple[str, ...]) -> Made:
    """Return sums over groupings."""
    if not all(isinstance(name, str) for name in names):
        raise InvalidArgument("grouping", names, "names of groupings")
    columns, groups = made.columns.summed(names)
    if isinstance(made, PooledReading):
        return replace(made, columns=columns, groups=made.groups[groups].reshape(len(groups), -1))
    linear = linear_of(made, "over")
    _refuse_extremes(linear, "over")
    return replace(linear, columns=columns, linear=linear.linear.mixed_columns(groups))


def resampled(made: Made, every: str) -> Made:
    """Return sums over longer periods."""
    if isinstance(made, PooledReading):
        return replace(made, rows=made.rows.resampled(every)[0])
    linear = linear_of(made, "resample")
    _refuse_extremes(linear, "resample")
    rows, starts, stops = linear.rows.resampled(every)
    if not linear.rows.table.measure.averages:
        return replace(linear, rows=rows, linear=linear.linear.over_rows(starts, stops))
    # Averages by period: each row counts as often as it has periods.
    weighted = linear.linear.scaled(linear.rows.windows.lengths.astype(np.float64)).over_rows(starts, stops)
    return replace(linear, rows=rows, linear=weighted.scaled(1 / rows.windows.lengths))


def rolled(made: Made, n: int) -> Made:
    """Return means over each row and those before it."""
    if isinstance(made, PooledReading):
        if not made.rows.abut:
            raise InvalidArgument("rolling", made.rows.kind, "used with rows that share no period")
        return replace(made, rows=made.rows.rolled(n)[0])
    linear = linear_of(made, "rolling")
    rows, starts, stops = linear.rows.rolled(n)
    return replace(linear, rows=rows, linear=linear.linear.over_rows(starts, stops).scaled(1 / n))


def totalled(made: Made) -> LinearReading:
    """Return totals up to and with each row."""
    linear = linear_of(made, "running_total")
    _refuse_extremes(linear, "running_total")
    measure = linear.rows.table.measure
    if measure.averages:
        allowed = f"of a count, a sum or totals: running totals of {measure.noun}s say nothing"
        raise InvalidArgument("running_total", f"of a {measure.noun}", allowed)
    rows, starts, stops = linear.rows.totalled()
    return replace(linear, rows=rows, linear=linear.linear.over_rows(starts, stops))


def matched(above: LinearReading, below: LinearReading, name: str, *, wider: bool) -> Linear:
    """Return the second with the columns of the first, if rows and groups go together."""
    if (above.rows.table.calendar is None) != (below.rows.table.calendar is None):
        raise InvalidArgument(name, "other periods", "of the same periods: one has dates, the other has none")
    if not np.array_equal(above.rows.dates, below.rows.dates):
        counts = f"{len(below.rows.dates)} rows against {len(above.rows.dates)}"
        allowed = "of the same rows, dated alike: resample both, or take both rolling means"
        raise InvalidArgument(name, counts, allowed)
    if not wider and set(above.columns.names) != set(below.columns.names):
        allowed = f"of the same groups, by {', '.join(above.columns.names) or 'nothing'}"
        raise InvalidArgument(name, f"by {', '.join(below.columns.names) or 'nothing'}", allowed)
    if not wider and above.columns.edges != below.columns.edges:
        raise InvalidArgument(name, "other bins", "a histogram with the same edges")
    return below.linear.columns(below.columns.spread(above.columns, name))


def check_within(within: object) -> tuple[float, float] | None:
    """Return where a ratio is known to be."""
    if within is None:
        return None
    allowed = "a pair (low, high) of numbers with low < high, such as (0, 1)"
    if not isinstance(within, tuple | list) or len(within) != 2:
        raise InvalidArgument("within", within, allowed)
    ends = [end if _infinite(end) else check_number("within", end, allowed) for end in within]
    if not ends[0] < ends[1]:
        raise InvalidArgument("within", within, allowed)
    return float(ends[0]), float(ends[1])


def _infinite(end: object) -> bool:
    return isinstance(end, float) and bool(np.isinf(end))


def _refuse_extremes(made: LinearReading, asked: str) -> None:
    block = made.rows.table.measure.block
    if block is not None and block.extreme:
        raise InvalidArgument(asked, f"of a {block.statistic}", f"of totals: sums of {block.statistic}s say nothing")
