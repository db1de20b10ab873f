"""Every feature of a question, a line for each: what is asked, and what changes how it is asked.

A feature is said in the words of a curator's question (``QueryRequest``); ``doors.py`` turns them into flags,
JSON and settings. Two measures go together where they are planned together; a change goes with a measure where it may
be made of it; and two changes where both may be made of one measure, the first of ``MEASURES`` that takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import chronodp as cdp
from chronodp.privacy.units import RecordUnit

__all__ = ["ALONE", "AT_DOORS", "CHANGES", "FEATURES", "MEASURES", "PAIRS", "UNITS", "Feature"]

UNITS: tuple[RecordUnit, ...] = (
    cdp.User(),
    cdp.UserPeriod("1D"),
    cdp.Window(2),
    cdp.Event(),
    cdp.User("replace"),
    cdp.UserPeriod("1D", "replace"),
    cdp.Window(2, "replace"),
    cdp.Event("replace"),
)


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature.

    Attributes:
        name: on the page.
        says: what a question says that has it, by the names of ``QueryRequest``; ``find`` lists bounds.
        needs: the argument of a measure without which it means nothing, such as ``clip``.
        way: how it is planned, where that is not by a plan of its own; named in ``ways.WAYS``.
    """

    name: str
    says: Mapping[str, Any] = field(default_factory=dict, hash=False)
    needs: str | None = None
    way: str | None = None

    @property
    def measures(self) -> bool:
        """Whether it says what is asked, and not how."""
        return "measure" in self.says


def _measure(name: str, kind: str, **arguments: Any) -> Feature:
    return Feature(name, {"measure": {"kind": kind, **arguments}})


_CLIP = (0.0, 3.0)
_CLIPS = {"north": (0.0, 1.5), "south": (0.0, 3.0)}
_EDGES = (0.0, 0.5, 1.0, 1.5, 2.0, 4.0)
_KWH = {"column": "kwh"}

MEASURES: tuple[Feature, ...] = (
    _measure("sum", "sum", **_KWH, clip=_CLIP),
    _measure("count of people", "count"),
    _measure("count of rows", "count", at_most=2),
    _measure("sum within a norm", "sum", **_KWH, norm=4.0),
    _measure("mean of rows", "mean", **_KWH, clip=_CLIP, of="rows", at_most=2),
    _measure("mean of people", "mean", **_KWH, clip=_CLIP, of="people"),
    _measure("mean of totals", "mean", **_KWH, clip=_CLIP, of="totals"),
    _measure("mean of totals, `people=`", "mean", **_KWH, clip=_CLIP, of="totals", people=12),
    _measure("variance", "variance", **_KWH, clip=_CLIP),
    _measure("histogram of people", "histogram", **_KWH, edges=_EDGES),
    _measure("histogram of rows", "histogram", **_KWH, edges=_EDGES, of="rows", at_most=2),
    _measure("quantiles of people", "quantiles", **_KWH, edges=_EDGES, fractions=(0.25, 0.5)),
    _measure("quantiles of rows", "quantiles", **_KWH, edges=_EDGES, fractions=(0.5,), of="rows", at_most=2),
    _measure("active people", "active", window="2D"),
)

CHANGES: tuple[Feature, ...] = (
    Feature("peaks of blocks", {"block": {"statistic": "peak", "every": "2D"}}),
    Feature("totals of blocks", {"block": {"statistic": "total", "every": "2D"}}),
    Feature("`Find` of clip", {"find": ("clip",)}, needs="clip"),
    Feature("`Find` of at_most", {"find": ("at_most",)}, needs="at_most"),
    Feature("`Find` of a norm", {"find": ("norm",)}, needs="norm"),
    Feature("`Find` of edges", {"find": ("edges",)}, needs="edges"),
    Feature("`Find` of max_periods", {"find": ("max_periods",)}),
    Feature("`Find` of max_groups", {"find": ("max_groups",), "by": {"region": ("north", "south")}}),
    Feature("`Missing`", {"missing": {"share": 0.1}}),
    Feature("public keys", {"by": {"region": ("north", "south")}}),
    Feature("a clip for each key", {"clips": _CLIPS, "by": {"region": ("north", "south")}}, needs="clip"),
    Feature("`Places`", {"places": (("all", "Ayr"), ("all", "Bath"))}),
    Feature("`Discover`", {"by": {"page": {"max_keys": 2}}}),
    Feature("`where`", {"where": "kwh > 0.25"}),
    Feature("a derived column", {"columns": {"twice": "kwh * 2"}}, needs="column"),
    Feature("tuned for running totals", {"tuned_for": {"kind": "running_total"}}),
    Feature("`plan_together` with a count", way="plan_together"),
    Feature("a lifetime series", way="lifetime"),
)

FEATURES = (*MEASURES, *CHANGES)


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
