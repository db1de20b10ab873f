"""Tables to be released, and their designs."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from chronodp import Event, User, UserPeriod, Window
from chronodp.errors import InvalidArgument
from chronodp.postprocess.tails import Law
from chronodp.privacy import Calendar, RecordUnit
from chronodp.series import Count, Design, EachPeriod, Mean, Measure, RowMean, Sum, Table, Total, Variance
from chronodp.series.measures.histograms import Histogram, RowHistogram
from chronodp.series.planner import design_release

DELTA = 1e-6
THREE_DAYS = Calendar("1h", "2026-01-01", "2026-01-04")


def designs(released: Table, *, epsilon: float = 1.0, delta: float = DELTA) -> tuple[Design, ...]:
    return design_release(released, epsilon=epsilon, delta=delta, tuned_for=EachPeriod())


def of_law(released: Table, law: Law, *, epsilon: float = 1.0, delta: float = DELTA) -> Design:
    return next(design for design in designs(released, epsilon=epsilon, delta=delta) if design.law == law)


def table(measure: Measure, unit: RecordUnit, periods: int | None = None, **more: Any) -> Table:
    return Table(measure, unit, 72, THREE_DAYS, max_periods=periods, **more)


def feasible(released: Table, epsilon: float, delta: float) -> tuple[Design, ...]:
    """The designs; none where noise is refused because it drowns what one person adds a million times."""
    try:
        return designs(released, epsilon=epsilon, delta=delta)
    except InvalidArgument as refused:
        wide = 1.0 if isinstance(released.measure, Histogram) else width(released.measure)
        reaches = [wide, 1.0, wide**2 / 4]  # of a sum, a count, squares about the middle
        kinds = released.sensitivities()
        drowned = [
            len(kinds) * part.l1 / epsilon > 2.0**20 * reach for part, reach in zip(kinds, reaches, strict=False)
        ]
        if refused.name != "epsilon" or not any(drowned):
            raise
        return ()


def width(measure: Measure) -> float:
    if isinstance(measure, Mean | Variance | RowMean):
        return measure.clip[1] - measure.clip[0]
    return 1.0 if isinstance(measure, RowHistogram) else min(measure.reach, 2.0**10)


EPSILONS = st.floats(-4.0, 6.0).map(lambda power: 10.0**power)
DELTAS = st.floats(-12.0, -1.0).map(lambda power: 10.0**power)
CLIPS = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-2, 1e6)).map(lambda ends: (ends[0], ends[0] + ends[1]))
WIDE_CLIPS = CLIPS.filter(lambda clip: max(map(abs, clip)) <= 2**20 * (clip[1] - clip[0]))
MEASURES: st.SearchStrategy[Measure] = st.one_of(
    st.builds(Count, st.integers(1, 2**30)),
    st.builds(Sum, st.just("kwh"), CLIPS),
    st.builds(Mean, st.just("kwh"), WIDE_CLIPS),
    st.builds(Variance, st.just("kwh"), WIDE_CLIPS),
    st.builds(lambda bins: Histogram("age", tuple(range(bins + 1))), st.integers(1, 30)),
    st.builds(Total, st.floats(1e-9, 1e9)),
    st.builds(RowMean, st.just("kwh"), WIDE_CLIPS),
    st.builds(lambda bins: RowHistogram("age", tuple(range(bins + 1))), st.integers(1, 30)),
)


UNITS: st.SearchStrategy[tuple[RecordUnit, int | None]] = st.sampled_from([
    (Event(), None), (Event("replace"), None), (User(), 1), (User(), 72), (User("replace"), 30),
    (UserPeriod("1D"), None), (UserPeriod("7h"), None), (Window(3), None), (Window(24, "replace"), None),
])  # fmt: skip


TABLES = st.builds(lambda measure, who: table(measure, *who), MEASURES, UNITS)
