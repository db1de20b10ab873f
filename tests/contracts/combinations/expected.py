"""What is refused: features alone, pairs of them, and at the doors; all else that has words works."""

from __future__ import annotations

from collections.abc import Callable

import chronodp as cdp
from chronodp.privacy.units import RecordUnit

__all__ = ["ALONE", "AT_DOORS", "PAIRS"]


def _of_people(unit: RecordUnit) -> bool:
    return isinstance(unit, cdp.User)


ALONE: dict[str, Callable[[RecordUnit], bool]] = {
    "sum within a norm": _of_people,
    "mean of totals, `people=`": lambda unit: unit.relation == "replace",
    "`Find` of a norm": _of_people,
    "`Find` of max_periods": _of_people,
    "a lifetime series": _of_people,
}
"""Features that some units alone have, and which."""

_REFUSED = """
sum: `Find` of a norm
sum within a norm: peaks of blocks; totals of blocks; `Find` of clip; `Find` of max_groups; a clip for each key
sum within a norm: `Places`; `Discover`; a lifetime series
mean of rows: peaks of blocks; totals of blocks; `Find` of clip; `Find` of at_most; `Missing`; `Places`
mean of people: peaks of blocks; totals of blocks; `Find` of at_most; `Missing`; `Places`
mean of totals: peaks of blocks; totals of blocks; `Find` of at_most; `Missing`; `Places`
mean of totals, `people=`: peaks of blocks; totals of blocks; `Find` of at_most; `Missing`; `Places`
variance: peaks of blocks; totals of blocks; `Find` of clip; `Missing`; a clip for each key; `Places`
histogram of people: peaks of blocks; totals of blocks; `Find` of at_most; `Missing`
histogram of rows: peaks of blocks; totals of blocks; `Find` of at_most; `Missing`; `Places`
quantiles of people: peaks of blocks; totals of blocks; `Find` of at_most; `Find` of edges; `Find` of max_periods
quantiles of people: `Find` of max_groups; `Missing`; `Places`; `Discover`; tuned for running totals
quantiles of people: a lifetime series
quantiles of rows: peaks of blocks; totals of blocks; `Find` of at_most; `Find` of edges; `Find` of max_periods
quantiles of rows: `Find` of max_groups; `Missing`; `Places`; `Discover`; tuned for running totals
quantiles of rows: a lifetime series
active people: peaks of blocks; totals of blocks; `Find` of max_periods; `Find` of max_groups; `Missing`; `Places`
active people: `Discover`; tuned for running totals; a lifetime series
peaks of blocks: totals of blocks; `Find` of clip; `Find` of at_most; `Find` of a norm; `Find` of edges
peaks of blocks: `Find` of max_periods; `Find` of max_groups; `Missing`; `Places`; tuned for running totals
peaks of blocks: a lifetime series
totals of blocks: `Find` of clip; `Find` of at_most; `Find` of a norm; `Find` of edges; `Find` of max_periods
totals of blocks: `Find` of max_groups; `Missing`; `Places`; tuned for running totals; a lifetime series
`Find` of clip: `Find` of at_most; `Find` of a norm; `Places`; `Discover`; a lifetime series
`Find` of at_most: `Find` of edges; a clip for each key; `Places`; `Discover`; a derived column; a lifetime series
`Find` of a norm: `Find` of max_groups; `Places`; `Discover`; a lifetime series
`Find` of edges: `Find` of max_periods; `Find` of max_groups; `Missing`; `Places`; `Discover`; a lifetime series
`Find` of max_periods: `Places`; `Discover`; a lifetime series
`Find` of max_groups: `Places`; `Discover`; a lifetime series
`Missing`: a clip for each key; `Places`; `Discover`
a clip for each key: `Places`; `Discover`; a lifetime series
`Places`: `Discover`; a lifetime series
`Discover`: `plan_together` with a count; a lifetime series
`plan_together` with a count: a lifetime series
"""
PAIRS: frozenset[tuple[str, str]] = frozenset(
    (first, second)
    for first, _, others in (line.partition(": ") for line in _REFUSED.strip().splitlines())
    for second in others.split("; ")
)
"""Pairs that are refused under every unit that has both; the clip of a mean of rows is found for single rows alone."""

AT_DOORS: dict[str, set[str]] = {
    "commands": {"tuned for running totals"},
    "curator": {"`plan_together` with a count", "a lifetime series"},
}
"""What works by the library and not there."""
