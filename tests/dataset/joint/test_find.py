"""Queries planned together whose bounds are found: one search for what is the same, one debit, every number after."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.dataset.conftest import Death, dying
from tests.dataset.test_find import frame, meters

import chronodp as cdp
from chronodp.accounting import basic, gaussian
from chronodp.dataset import PlanTogether, plan_together
from chronodp.errors import InvalidArgument, RequestConflict
from chronodp.privacy import BoundedRangeCost, PureCost, SequenceCost
from chronodp.randomness import seeded
from chronodp.series import Discover, Find, Norm

BUDGET = {"dataset": "meters", "unit": cdp.User(), "epsilon": 100.0, "delta": 1e-5}

DATA = frame()


def load(data: Any = None, **changes: Any) -> Any:
    return meters(DATA if data is None else data, **changes).sum("kwh", clip=(0, Find()))


def four(data: Any = None) -> dict[str, Any]:
    days = load(data)
    regions = days.by(region=["north", "south"])
    return {"people": meters(DATA if data is None else data).count(), "days": days, "regions": regions}


def planned(queries: Any, **terms: Any) -> PlanTogether:
    return plan_together(queries, **({"epsilon": 1.0, "delta": 1e-6} | terms))


@pytest.mark.slow
def test_what_several_are_to_find_is_found_once_and_paid_once(ledger: cdp.Ledger) -> None:
    queries = four() | {"peaks": load().peak(every="7D"), "weeks": load().total(every="7D")}
    plan = planned(queries)
    (search,) = plan.searches
    assert search.design.finds == ("max_periods", "clip")
    assert sorted(search.members) == ["days", "peaks", "people", "regions", "weeks"]
    assert "5 % of the price finds max_periods and clip of" in " ".join(str(plan).split())
    made: Any = plan.release(ledger, dataset="meters", request="one", entropy=seeded(5))
    (entry,) = ledger.history("meters")
    assert entry.cost == plan.cost
    days: Any = made["days"]
    found = days.found
    assert found.size is not None
    assert found.max_periods is not None
    tables = {name: made[name].design.table for name in ("people", "days", "regions", "peaks")}
    assert {table.max_periods for table in tables.values()} == {found.max_periods}
    assert tables["days"].measure == tables["regions"].measure == tables["peaks"].periods.measure
    assert tables["days"].measure.clip == (0.0, found.size)
    people: Any = made["people"]
    assert people.found == replace(found, size=None)
    assert f"clip of days, regions, people, peaks, weeks found: {found}" in str(made.certificate.mechanism)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_the_price_fills_the_guarantee_and_no_more(delta: float, share: float) -> None:
    series = meters("none.csv", max_periods=Find(share))
    queries = {"people": series.count(), "load": series.sum("kwh", clip=Find(share))}
    plan = planned(queries, delta=delta)
    by = gaussian.epsilon if delta else basic.epsilon
    assert 1 - 1e-5 < by(plan.cost, delta) <= 1.0  # choices have six digits, rounded down
    (search,) = plan.searches
    assert isinstance(plan.cost, SequenceCost)
    kinds = {type(cost) for cost in plan.cost.costs[:3]}
    assert kinds == ({BoundedRangeCost} if delta else {PureCost})
    found = sum(gaussian.mu_of_bounded(part / 2) ** 2 if delta else part for part in search.design.split.choices)
    whole = gaussian.mu_for(1.0, delta) ** 2 if delta else 1.0
    assert found / whole == pytest.approx(share, rel=1e-4)


@pytest.mark.slow
def test_what_was_drawn_cost_what_the_plan_says(ledger: cdp.Ledger) -> None:
    # Of the released numbers' own sensitivity and noise, whichever bounds were found: not of the plan's words.
    plan = planned(four())
    made: Any = plan.release(ledger, dataset="meters", request="one", entropy=seeded(5))
    (search,) = plan.searches
    spent = [gaussian.mu_of_bounded(part / 2) for part in search.design.split.choices]
    for name in plan.parts:
        design = made[name].design
        bounded = design.table
        (exact,) = bounded.sensitivities(design.shape)
        (noise,) = design.noises
        assert noise.sensitivity >= exact.l2
        spent.append(exact.l2 / noise.scale)
    assert math.hypot(*spent) == pytest.approx(gaussian.mu_for(1.0, 1e-6), rel=1e-6)
    assert math.hypot(*spent) <= gaussian.mu_for(1.0, 1e-6)


@pytest.mark.slow
def test_the_price_is_the_same_whatever_is_found(ledger: cdp.Ledger) -> None:
    costs = set()
    founds = set()
    for number, data in enumerate((frame(60), frame(900))):
        plan = planned(four(data))
        made: Any = plan.release(ledger, dataset="meters", request=f"r{number}", entropy=seeded(number))
        costs.add(str(made.certificate.claim.cost))
        founds.add(str(made["days"].found))
    assert len(costs) == 1
    assert len(founds) == 2


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_death_after_a_choice_goes_on_with_it(tmp_path: Path, times: int) -> None:
    other = meters(DATA).sum("kwh", clip=Find(0.02, between=(0.1, 10.0)))  # another search: other ends
    plan = planned({"days": load(), "signed": other})
    assert len(plan.searches) == 2
    with cdp.Ledger(tmp_path / "b.db", reached=dying("choice committed", times=times)) as store:
        store.open("meters", unit=cdp.User(), epsilon=10.0, delta=1e-5)
        with pytest.raises(Death):
            plan.release(store, dataset="meters", request="one")
        with store._store.transaction() as transaction:
            before = transaction.run("SELECT number, chosen FROM choices ORDER BY number", ())
        made: Any = plan.release(store, dataset="meters", request="one")
        with store._store.transaction() as transaction:
            after = transaction.run("SELECT number, chosen FROM choices ORDER BY number", ())
        assert len(before) == times
        assert after[:times] == before
        assert len(store.history("meters")) == 1
        assert plan.release(store, dataset="meters", request="one").text == made.text
        with pytest.raises(RequestConflict):
            planned({"days": load(), "signed": load()}).release(store, dataset="meters", request="one")
        with pytest.raises(RequestConflict):
            planned({"days": load(frame(seed=2)), "signed": other}).release(store, dataset="meters", request="one")


@pytest.mark.slow
def test_totals_are_read_from_a_series_whose_bounds_are_found(ledger: cdp.Ledger) -> None:
    plan = planned({"days": load(), "weeks": load().total(every="7D")}, weights=(1.0, 1.0))
    assert plan.chosen.sources == {"weeks": "days"}
    made = plan.release(ledger, dataset="meters", request="one", entropy=seeded(5))
    days, weeks = made.view("days").to_pandas(), made.view("weeks").to_pandas()
    assert weeks["value"].sum() == pytest.approx(days["value"].sum())


def test_a_search_that_is_not_paid_for_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # Mutant: numbers get the whole price, as if finding were free. The ledger's own rule sees it before any release.
    from chronodp.dataset.joint import planner

    monkeypatch.setattr(planner, "left_for_numbers", lambda searches, *, law, whole: whole)  # noqa: ARG005
    with pytest.raises(AssertionError, match="never add up"):
        planned(four("none.csv"))


@pytest.mark.slow
def test_a_length_is_found_among_others(ledger: cdp.Ledger) -> None:
    scaled = meters(DATA).sum("kwh", bound=Norm(Find()))
    plan = planned({"people": meters(DATA).count(), "load": scaled})
    assert [search.design.finds for search in plan.searches] == [("max_periods",), ("bound",)]
    made: Any = plan.release(ledger, dataset="meters", request="one", entropy=seeded(5))
    assert made["load"].design.table.measure.norm == made["load"].found.norm
    assert made["people"].found.norm is None
    with pytest.raises(InvalidArgument, match="delta"):
        planned({"load": scaled}, delta=0.0)


def test_other_rows_other_columns_and_other_terms_are_found_apart() -> None:
    series = meters("x.csv", max_periods=14)
    base = series.sum("kwh", clip=Find())
    others = (
        base.where("region = 'north'"), series.sum("gas", clip=Find()), series.sum("kwh", clip=(0, Find())),
        series.sum("kwh", clip=Find(between=(1, 9))), meters("y.csv", max_periods=14).sum("kwh", clip=Find()),
    )  # fmt: skip
    for other in others:
        assert len(planned([base, other]).searches) == 2
    assert len(planned([base, base.by(region=["north"])]).searches) == 1
    assert planned([meters("x.csv").variance("kwh", clip=(0, 1))]).searches
    groups = base.by(region=["a", "b"], max_groups=Find())
    assert len(planned([base, groups]).searches) == 1
    assert len(planned([groups, base.by(kind=["a", "b"], max_groups=Find())]).searches) == 2


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ({"peak": load("x.csv").peak(every="7D")}, "plan the query that the block is made of beside it"),
        ([meters("x.csv", max_periods=7).sum(name, clip=Find(0.3)) for name in ("a", "b")], "at most 0.5 of the price"),
        ([load("x.csv").by(region=Discover(), max_groups=1)], "public keys"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_spent(queries: Any, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        planned(queries)


@pytest.mark.slow
def test_bounds_found_alone_are_taken_as_written(ledger: cdp.Ledger) -> None:
    # Also of blocks, whose people are bounded in shorter periods, and of a whole series' length.
    made: Any = load().plan(epsilon=1.0, delta=1e-6).release(ledger, dataset="meters", request="one")
    peaks = load().peak(every="7D").bounded(made.found)
    assert peaks.finds == ()
    assert peaks.table.max_periods == made.found.max_periods
    assert peaks.table.periods.measure == made.design.table.measure
    scaled = meters(DATA).sum("kwh", bound=Norm(Find()))
    length: Any = scaled.plan(epsilon=1.0, delta=1e-6).release(ledger, dataset="meters", request="two")
    bounded = scaled.bounded(length.found)
    assert bounded.finds == ()
    assert bounded.table.measure.norm == length.found.norm
    assert not planned({"load": load().bounded(made.found), "peaks": peaks, "length": bounded}).searches
