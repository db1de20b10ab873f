"""Edges of a histogram found on the way to its release: one debit, a public shape, and quantiles that come near."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from tests.conftest import in_turn
from tests.dataset.conftest import Death, dying

import chronodp as cdp
from chronodp.errors import InvalidArgument, RequestConflict
from chronodp.privacy import dump, load
from chronodp.randomness import seeded
from chronodp.series import Find, FindDesign, Found, Histogram, RowHistogram
from chronodp.series.design import Design
from chronodp.series.finding.edges import FARTHEST, edges_at, edges_shape

BUDGET = {"dataset": "rides", "unit": cdp.User(), "epsilon": 100.0, "delta": 1e-5}

DAYS = 14


def frame(people: int = 900, *, seed: int = 1, size: float = 20.0) -> pandas.DataFrame:
    """Some rows of each person, on both sides of 0 and somewhat more above."""
    chance = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), DAYS)
    times = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(np.tile(np.arange(DAYS), people), unit="D")
    late = chance.lognormal(0.0, 1.0, len(who)) * np.where(chance.random(len(who)) < 0.3, -0.5, 1.0)
    region = np.where(who % 3 == 0, "north", "south")
    return pandas.DataFrame({"who": who.astype(str), "at": times, "late": size * late, "region": region})


def rides(data: Any, **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {"unit": cdp.User(), "max_periods": DAYS}
    return cdp.TimeSeries(
        data, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-15", **(options | changes)
    )


ODD_TABLES = {"zeros": frame(9).assign(late=0.0), "one": frame(1), "none": frame().iloc[:0]}


def released(ledger: cdp.Ledger, query: Any, request: str = "one", **terms: Any) -> Any:
    plan = query.plan(**({"epsilon": 2.0, "delta": 1e-6} | terms))
    return plan.release(ledger, dataset="rides", request=request, entropy=seeded(5))


@pytest.mark.parametrize("of", ["rows", "people"])
@pytest.mark.parametrize("from_zero", [False, True])
def test_edges_are_a_public_shape_about_a_size_that_is_found(ledger: cdp.Ledger, of: Any, from_zero: bool) -> None:
    data = frame()
    query = rides(data).histogram("late", edges=(0, Find()) if from_zero else Find(), of=of)
    plan: Any = query.plan(epsilon=2.0, delta=1e-6)
    made = plan.release(ledger, dataset="rides", request="one", entropy=seeded(5))
    found, measure = made.found, made.design.table.measure
    assert isinstance(measure, RowHistogram if of == "rows" else Histogram)
    assert found.scale in {2.0 ** (index / 2) for index in range(-40, 81)}
    assert 20 <= found.scale <= 45  # a person's mean size is about 28
    assert measure.edges == found.edges == tuple(edge * found.scale for edge in edges_shape(from_zero=from_zero))
    assert len(found.edges) == 25
    assert made.design.cost == plan.claim.cost == made.certificate.claim.cost
    assert len(plan.design.split.choices) == 1
    assert f"24 bins from {found.edges[0]:g} to {found.edges[-1]:g}" in str(made.certificate.mechanism)
    (entry,) = ledger.history("rides")
    assert entry.cost == plan.claim.cost
    assert load(dump(made.design), Design) == made.design
    assert load(dump(plan.design), FindDesign) == plan.design
    truth = data.late[data.late >= 0] if from_zero else data.late
    for q in (0.1, 0.5, 0.9):
        read = made.quantile(q, every="14D").to_pandas().iloc[0]
        assert read.lower <= truth.quantile(q) <= read.upper


def test_a_plan_says_what_is_found_what_it_needs_and_what_is_left_out() -> None:
    words = " ".join(str(rides("x.csv").histogram("late", edges=Find(0.1)).plan(epsilon=1.0, delta=1e-6)).split())
    assert "10 % of the budget picks a typical size of a value among 121" in words
    assert "values beyond 64 times it are left out" in words
    assert "with fewer the edges may be far off" in words
    assert "times the size found" not in words  # the noise of a bin does not hang on it
    near: Any = rides("x.csv").histogram("late", edges=(0, Find(between=(1, 600)))).plan(epsilon=1.0, delta=1e-6)
    words = " ".join(str(near).split())
    assert "values beyond 64 times it or beyond 600 or below 0 are left out" in words
    wide: Any = rides("x.csv").histogram("late", edges=Find()).plan(epsilon=1.0, delta=1e-6)
    assert near.design.edges.needed < wide.design.edges.needed < 300


def test_no_edge_lies_beyond_a_public_end_and_bins_are_as_many(subtests: pytest.Subtests) -> None:
    for size, from_zero in itertools.product([0.01, 3.0, 50.0, 600.0, 900.0], [False, True]):
        with subtests.test(size=size, from_zero=from_zero):
            shape = edges_shape(from_zero=from_zero)
            edges = edges_at(shape, size, (0.01, 600.0))
            assert len(edges) == len(shape) == 25
            assert list(edges) == sorted(set(edges))
            assert edges[-1] == min(600.0, FARTHEST * size)
            assert edges[0] == (0.0 if from_zero else -edges[-1])


@pytest.mark.slow
def test_the_price_is_the_same_whatever_is_found_and_fills_the_guarantee(ledger: cdp.Ledger) -> None:
    for delta in (0.0, 1e-6):
        small = released(ledger, rides(frame()).histogram("late", edges=Find()), f"small {delta}", delta=delta)
        large = released(ledger, rides(frame(size=9e6)).histogram("late", edges=Find()), f"large {delta}", delta=delta)
        assert small.design.cost == large.design.cost
        assert small.found.scale < large.found.scale
        by = cdp.accounting.gaussian.epsilon if delta else cdp.accounting.basic.epsilon
        assert 2 - 1e-6 < by(small.design.cost, delta) <= 2.0


@pytest.mark.slow
@pytest.mark.parametrize("gap", ["debit committed", "choice committed"])
def test_a_death_after_the_choice_goes_on_with_it(tmp_path: Path, gap: str) -> None:
    plan: Any = rides(frame(5)).histogram("late", edges=Find()).plan(epsilon=1.0, delta=1e-6)  # so few: any size
    with cdp.Ledger(tmp_path / "b.db", reached=dying(gap)) as store:
        store.open("rides", unit=cdp.User(), epsilon=10.0, delta=1e-5)
        with pytest.raises(Death):
            plan.release(store, dataset="rides", request="one")
        with store._store.transaction() as transaction:
            before = transaction.run("SELECT chosen FROM choices WHERE chosen IS NOT NULL")
        assert len(before) == (gap == "choice committed")
    with cdp.Ledger(tmp_path / "b.db") as store:
        made = plan.release(store, dataset="rides", request="one")
        with store._store.transaction() as transaction:
            ((chosen,),) = transaction.run("SELECT chosen FROM choices WHERE chosen IS NOT NULL")
        assert [chosen] == [old for (old,) in before] or not before
        assert made.found == plan.design.edges.found(int(chosen))
        assert len(store.history("rides")) == 1
        assert plan.release(store, dataset="rides", request="one").text == made.text
        other = rides(frame(5)).histogram("late", edges=(0, Find())).plan(epsilon=1.0, delta=1e-6)
        with pytest.raises(RequestConflict):
            other.release(store, dataset="rides", request="one")


@pytest.mark.parametrize(("name", "delta"), in_turn(list(ODD_TABLES), (0.0, 1e-6)))
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_every_table_has_an_answer(ledger: cdp.Ledger, name: str, delta: float) -> None:
    made = released(ledger, rides(ODD_TABLES[name]).histogram("late", edges=Find()), delta=delta)
    assert np.all(np.isfinite(made.to_pandas()["value"]))


@pytest.mark.slow
def test_what_was_found_is_public_for_others(ledger: cdp.Ledger) -> None:
    query = rides(frame()).histogram("late", edges=Find(), of="rows")
    plan: Any = query.plan(epsilon=2.0, delta=1e-6)
    made = plan.release(ledger, dataset="rides", request="one", entropy=seeded(5))
    later = plan.on(frame(seed=2), found=made.found)
    assert isinstance(later, cdp.Plan)
    assert later.design.table.measure == made.design.table.measure
    assert later.design.noises[0].scale < made.design.noises[0].scale  # nothing is spent on finding
    assert plan.on(frame(seed=2)).design.finds_edges
    assert query.bounded(made.found).table.measure == made.design.table.measure
    assert query.bounded(made.found).finds == ()
    # A clip is no size of edges, and edges are no clip.
    sums = rides(frame()).sum("late", clip=Find())
    assert sums.bounded(made.found).finds == sums.finds
    assert query.bounded(Found(scale=1.0, size=3.0)).finds == query.finds
    with pytest.raises(InvalidArgument, match="that found edges"):
        plan.on(frame(seed=2), found=Found(scale=1.0, size=3.0))
    declared: Any = rides(frame(), max_periods=Find()).histogram("late", edges=[0, 9, 99]).plan(epsilon=1.0, delta=1e-6)
    kept = declared.on(frame(), found=Found(scale=1.0, max_periods=3, edges=made.found.edges))
    assert kept.design.table.measure.edges == (0.0, 9.0, 99.0)


@pytest.mark.slow
def test_periods_are_found_by_a_count_and_edges_then(ledger: cdp.Ledger) -> None:
    series = rides(frame(), max_periods=Find())
    query = series.histogram("late", edges=Find())
    with pytest.raises(InvalidArgument, match=r"max_periods must be .* count\(\) first, then use \.bounded"):
        query.plan(epsilon=1.0, delta=1e-6)
    days = released(ledger, series.count(), "days").found
    made = released(ledger, query.bounded(days))
    assert made.design.table.max_periods == days.max_periods
    assert made.found.edges is not None


@pytest.mark.slow
def test_queries_planned_together_find_edges_once(ledger: cdp.Ledger) -> None:
    series = rides(frame())
    late = series.histogram("late", edges=Find(), of="rows")
    asked = {"late": late, "sum": series.sum("late", clip=Find()), "regions": late.by(region=["north", "south"])}
    plan = cdp.plan_together(asked, epsilon=4.0, delta=1e-6)
    assert "finds edges of late, regions, once, among 121 candidates" in " ".join(str(plan).split())
    made = plan.release(ledger, dataset="rides", request="all", entropy=seeded(5))
    parts: dict[str, Any] = {name: made[name] for name in ("late", "regions", "sum")}
    found = parts["late"].found
    assert parts["late"].design.table.measure.bin_edges == parts["regions"].design.table.measure.bin_edges
    assert found == parts["regions"].found
    assert found.edges == parts["late"].design.table.measure.bin_edges
    assert 20 <= found.scale <= 45
    assert parts["sum"].found.edges is None
    assert 10 < parts["sum"].found.size < 1000


def both(series: cdp.TimeSeries, **keys: list[str]) -> Any:
    return series.histogram("late", edges=Find()).by(max_groups=Find(), focus=None, **keys)


def test_what_cannot_be_found_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, str]] = [
        (lambda series: series.histogram("late", edges=(1, Find())), r"edges must be \(0, Find\(\)\)"),
        (lambda series: series.histogram("late", edges=(Find(), 1)), "edges"),
        (lambda series: series.histogram("late", edges=Find), "edges"),
        (lambda series: series.quantiles("late", [0.5], edges=Find()), r"edges .* for quantiles: .* release.quantile"),
        (lambda series: series.histogram("late", edges=Find(between=(1e-9, 1))).plan(epsilon=1.0), "between"),
        (lambda series: series.histogram("late", edges=Find()).plan(epsilon=1.0, missing=cdp.Missing()), "missing"),
        (lambda series: both(series, region=["a", "b"]).plan(epsilon=1.0), "max_groups"),
    ]
    for make, said in cases:
        with subtests.test(make=make, said=said), pytest.raises(InvalidArgument, match=said):
            make(rides("x.csv"))
