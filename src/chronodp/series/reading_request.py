"""A reading as it is asked for from outside, by a command or over the network, and the view that answers it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, cast

from chronodp.errors import InvalidArgument
from chronodp.series.readable import Readable
from chronodp.series.readings.made import LinearReading
from chronodp.series.readings.publishing import Coverage
from chronodp.series.readings.steps import check_within
from chronodp.series.views import View

__all__ = ["ReadingRequest", "offered", "read_view"]


_NUMBER = re.compile("[0-9]{1,18}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRequest:
    """What is to be read. In this order: keys, sums of groups, longer periods, means or totals, one ratio, a rule.

    Attributes:
        places: the level of places.
        at: keys of groupings, as 'county=c12'.
        over: groupings that are added up.
        over_all: whether all are.
        resample: longer periods, such as '1W'.
        rolling: over how many rows means are taken.
        running_total: whether totals are.
        share: whether each is shown as a part of all.
        ratio_at: of what it is divided by, keys of groupings.
        within: where the ratio is known to be.
        change: first and last date of a baseline.
        match: 'weekday' to compare with the same weekday.
        statistic: of the baseline, 'mean' or 'median'.
        scale: 'percent' or 'index'.
        relative: of what is published, how far intervals reach, in times of the value.
        points: the same in its own units ...
        chance: ... and with which probability it is exceeded.
        coverage: in which sense intervals of what is published hold.
        level: of intervals.
        simultaneous: whether all hold at once.
    """

    places: str | None = None
    at: Sequence[str] = ()
    over: Sequence[str] = ()
    over_all: bool = False
    resample: str | None = None
    rolling: int | None = None
    running_total: bool = False
    share: bool = False
    ratio_at: Sequence[str] = ()
    within: tuple[float, float] | None = None
    change: tuple[str, str] | None = None
    match: str | None = None
    statistic: str = "mean"
    scale: str = "percent"
    relative: float | None = None
    points: float | None = None
    chance: float | None = None
    coverage: str = "published"
    level: float = 0.95
    simultaneous: bool = False

    @property
    def publishes(self) -> bool:
        """Whether a rule leaves out what is not reliable."""
        return self.relative is not None or self.points is not None or self.chance is not None

    @property
    def steps(self) -> bool:
        """Whether anything is asked before the ratio."""
        time = self.resample is not None or self.rolling is not None or self.running_total
        return bool(self.places is not None or self.at or self.over or self.over_all or time)


def offered(given: Readable | View) -> tuple[str, ...]:
    """Return what can be asked of a release or a view, by the names of `ReadingRequest`."""
    view = given if isinstance(given, View) else given.operand
    made, measure = view.made, view.table.measure
    if made is None:
        return ()
    sums = measure.block is None or not measure.block.extreme
    linear = isinstance(made, LinearReading)
    columns = made.columns
    found = {
        "places": bool(columns.nodes),
        "at": bool(columns.groupings),
        "over": bool(columns.groupings) and sums,
        "resample": made.rows.abut and sums and view.table.calendar is not None,
        "rolling": linear or made.rows.abut,
        "running_total": linear and made.rows.abut and sums and not measure.averages,
        "share": isinstance(made, LinearReading) and made.nonnegative and len(columns) > 1,
        "ratio": linear,
        "change": linear,
        "publish": True,
    }
    return tuple(name for name, on in found.items() if on)


def read_view(
    given: Readable | View, request: ReadingRequest, *, other: Readable | View | None = None, most: int | None = None
) -> View:
    """Return what is asked of a release or a view, free.

    Args:
        given: the release or view.
        request: what is asked of it.
        other: what it is divided by; where keys alone are said, these of the same.
        most: of how many cells a ratio or a rule may be; any number unless told.
    """
    divided = other is not None or bool(request.ratio_at)
    asked = [name for name, on in (("share", request.share), ("ratio", divided), ("change", request.change)) if on]
    if len(asked) > 1:
        raise InvalidArgument(asked[1], "given", f"left out beside {asked[0]}: one ratio at a time")
    _check_unused(request, divided=divided, asked=asked)
    view = _stepped(given, request, "at", shown=not asked)
    for name in (*asked, *(["relative" if request.points is None else "points"] if request.publishes else [])):
        cells = view.size if view.made is None else len(view.periods) * len(view.made.columns)
        if most is not None and cells > most:
            allowed = f"asked of at most {most:,} cells, these are {cells:,}: of fewer groups, or longer periods"
            raise InvalidArgument(name, "too many cells", allowed)
    if asked:
        view = _ratio(view, given, request, other)
    if not request.publishes:
        return view
    coverage = cast("Coverage", request.coverage)  # checked there
    return view.publish(relative=request.relative, points=request.points, chance=request.chance, coverage=coverage)


def _check_unused(request: ReadingRequest, *, divided: bool, asked: list[str]) -> None:
    """Refuse what would change nothing: whoever says it means something else."""
    if request.within is not None and not divided:
        raise InvalidArgument("within", request.within, "used with a ratio")
    if request.match is not None and request.change is None:
        raise InvalidArgument("match", request.match, "used with a change")
    for name, said, usual in (("statistic", request.statistic, "mean"), ("scale", request.scale, "percent")):
        if said != usual and request.change is None:
            raise InvalidArgument(name, said, "used with a change")
    if request.coverage != "published" and not request.publishes:
        raise InvalidArgument("coverage", request.coverage, "used with a rule of what is published")
    if request.over and request.over_all:
        raise InvalidArgument("over", request.over[0], "left out beside over_all, which adds up every grouping")
    if request.simultaneous and not asked:
        raise InvalidArgument("simultaneous", True, "used with a share, a ratio or a change")


def _ratio(view: View, given: Readable | View, request: ReadingRequest, other: Readable | View | None) -> View:
    level, simultaneous = request.level, request.simultaneous
    if request.share:
        with _under("share"):
            return view.share(level=level, simultaneous=simultaneous)
    if request.change is not None:
        return view.change(
            baseline=_baseline(view, request.change),
            match=request.match,  # type: ignore[arg-type]  # checked there, as the next two
            statistic=request.statistic,  # type: ignore[arg-type]
            scale=request.scale,  # type: ignore[arg-type]
            level=level,
            simultaneous=simultaneous,
        )
    below = _stepped(given if other is None else other, request, "ratio_at", shown=False)
    check_within(request.within)
    with _under("ratio"):
        return view.ratio(below, within=request.within, level=level, simultaneous=simultaneous)


def _stepped(given: Readable | View, request: ReadingRequest, keys: Literal["at", "ratio_at"], *, shown: bool) -> View:
    level = request.level
    if isinstance(given, View):
        view = given
    elif shown and not request.steps:
        return given.each_period(level=level)
    else:
        view = given.operand  # intervals of numbers that are only added up are not needed
    if request.places is not None:
        with _under("places"):
            view = view.at_level(request.places, level=level)
    at = request.at if keys == "at" else request.ratio_at
    if at:
        with _under(keys):
            view = view.at(_keys(at), level=level)
    if request.over or request.over_all:
        with _under("over"):
            view = view.over(*request.over, level=level)
    if request.resample is not None:
        with _under("resample"):
            view = view.resample(request.resample, level=level)
    if request.rolling is not None:
        with _under("rolling"):
            view = view.rolling(request.rolling, level=level)
    if request.running_total:
        with _under("running_total"):
            view = view.running_total(level=level)
    return view


@contextmanager
def _under(name: str) -> Iterator[None]:
    """Refuse under the name by which it was asked here; what the step calls its own arguments nobody wrote."""
    try:
        yield
    except InvalidArgument as error:
        raise (error if error.name == name else error.renamed(name)) from None


def _baseline(view: View, given: tuple[str, str]) -> tuple[str, str] | tuple[int, int]:
    """Return dates, or numbers of periods where these have no dates."""
    if view.table.calendar is not None or not all(_NUMBER.fullmatch(text) for text in given):
        return given
    return int(given[0]), int(given[1])


def _keys(texts: Sequence[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for text in texts:
        name, sign, key = text.partition("=")
        if not (name and sign):
            raise InvalidArgument("at", text, "a grouping and its key, as county=c12")
        if name in found:
            raise InvalidArgument("at", text, "one key of a grouping: what is read is one place, or all of them")
        found[name] = key
    return found
