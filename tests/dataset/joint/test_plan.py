"""Plans of several queries: what is refused, what follows from what, and that nothing better was overlooked."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.conftest import Trials
from tests.dataset.joint.queries import load_of, month

import chronodp as cdp
from chronodp.alerts import design_alert
from chronodp.dataset.joint import best_shares
from chronodp.dataset.joint.quantiles import QuantilePart
from chronodp.dataset.joint.series import SharedSeries
from chronodp.dataset.joint.split import squared_error
from chronodp.errors import InvalidArgument
from chronodp.ledger.filters import Filter
from chronodp.privacy import RecordUnit
from chronodp.spectrum import Lowest, Spectrum

LOAD = load_of(month(cdp.User()))
DAY = cdp.UserPeriod("1D")
UNITS: tuple[RecordUnit, ...] = (cdp.Event(), cdp.User(), DAY, cdp.Window(5), cdp.User("replace"))


def shared(query: Any) -> SharedSeries:
    return SharedSeries(query.table, query.records)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no queries": (lambda: cdp.plan_together([], epsilon=1.0), "at least one query"),
    "no list": (lambda: cdp.plan_together(LOAD, epsilon=1.0), "a list of queries"),  # type: ignore[arg-type]
    "a text": (lambda: cdp.plan_together("load", epsilon=1.0), "a list of queries"),  # type: ignore[arg-type]
    "no query": (lambda: cdp.plan_together({"x": 3}, epsilon=1.0), "query 'x'"),  # type: ignore[dict-item]
    "a plan": (lambda: cdp.plan_together([LOAD.plan(epsilon=1.0)], epsilon=1.0), "query '1'"),  # type: ignore[list-item]
    "an empty name": (lambda: cdp.plan_together({"": LOAD}, epsilon=1.0), "name"),
    "two units": (
        lambda: cdp.plan_together({"a": LOAD, "b": load_of(month(DAY))}, epsilon=1.0),
        "unit of query 'b'.*one price can protect one unit only",
    ),
    "two relations": (
        lambda: cdp.plan_together([LOAD, load_of(month(cdp.User("replace")))], epsilon=1.0),
        "one price can protect one unit only",
    ),
    "zero weights": (lambda: cdp.plan_together([LOAD, LOAD], epsilon=1.0, weights=(0, 0)), "not all 0"),
    "a negative weight": (lambda: cdp.plan_together([LOAD], epsilon=1.0, weights=(-1,)), "from 0 on"),
    "no number": (lambda: cdp.plan_together([LOAD], epsilon=1.0, weights=(float("nan"),)), "from 0 on"),
    "too few weights": (lambda: cdp.plan_together([LOAD, LOAD], epsilon=1.0, weights=(1,)), "for each of 1, 2"),
    "unknown weights": (lambda: cdp.plan_together({"a": LOAD}, epsilon=1.0, weights={"b": 1.0}), "for each of a"),
    "a weight of nothing": (
        lambda: cdp.plan_together({"a": LOAD, "b": LOAD.peak(every="1D")}, epsilon=1.0, weights=(1, 0)),
        "above 0 for 'b'",
    ),
    "no epsilon": (lambda: cdp.plan_together([LOAD], epsilon=0.0), "epsilon"),
    "too large a delta": (lambda: cdp.plan_together([LOAD], epsilon=1.0, delta=1.0), "delta"),
    "too little epsilon": (lambda: cdp.plan_together([LOAD], epsilon=1e-12), "epsilon"),
    "a peak of a variance": (
        lambda: month(cdp.User()).variance("kwh", clip=(0, 5)).peak(every="1D"),
        "a count, or with a sum",
    ),
    "a peak of a mean": (
        lambda: month(cdp.User()).mean("kwh", clip=(0, 5), of="people").peak(every="1D"),
        "a count, or with a sum",
    ),
    "a peak of a peak": (lambda: LOAD.peak(every="1D").peak(every="1W"), "a count, or with a sum"),
    "blocks that do not fit": (lambda: LOAD.peak(every="90min"), "fill without rest"),
    "blocks too long": (lambda: LOAD.peak(every="1Y"), "no longer than the series"),
    "no blocks": (lambda: LOAD.total(every="day"), "every"),
    "a tuned peak": (
        lambda: LOAD.peak(every="1D").plan(epsilon=1.0, tuned_for=cdp.RunningTotal()),
        "EachPeriod",
    ),
}


def test_what_cannot_be_planned_is_refused_in_words(subtests: pytest.Subtests) -> None:
    for name in [*REFUSED]:
        with subtests.test(name=name):
            ask, message = REFUSED[name]
            with pytest.raises(InvalidArgument, match=message):
                ask()


def test_what_follows_from_what() -> None:
    days, weeks, month_ = (LOAD.total(every=every) for every in ("1D", "1W", "30D"))
    assert shared(days).follows_from(shared(LOAD)) is not None
    for query, source, factor in ((days, LOAD, 24.0), (weeks, LOAD, 168.0), (weeks, days, 7.0), (month_, days, 30.0)):
        how = shared(query).follows_from(shared(source))
        assert how is not None
        assert how.factor == factor
    for query, source in (
        (LOAD, days), (days, weeks), (month_, weeks), (LOAD.peak(every="1D"), LOAD), (days, LOAD.peak(every="1D")),
        (days, month(cdp.User()).sum("kwh", clip=(0.0, 4.0))), (days, load_of(month(cdp.User(), "other.parquet"))),
        (month(cdp.User()).count().total(every="1D"), LOAD),
        (month(cdp.User(), every="1D", max_periods=30).sum("kwh", clip=(0.0, 120.0)), LOAD),
        (month(cdp.User(), every="1D", max_periods=30).count(), month(cdp.User()).count()),
    ):  # fmt: skip
        assert shared(query).follows_from(shared(source)) is None


def test_a_query_of_no_weight_is_told_where_it_is_free() -> None:
    plan = cdp.plan_together({"load": LOAD, "total": LOAD.total(every="1D")}, epsilon=1.0, weights=(1, 0))
    assert plan.chosen.sources == {"total": "load"}
    assert plan.chosen.shares["load"] == pytest.approx(1.0)


def test_no_way_of_answering_is_better(subtests: pytest.Subtests) -> None:
    """Every way to answer four totals from each other, each with its best shares, written out."""
    for unit, delta in itertools.product([cdp.Event(), cdp.User(), DAY], [0.0, 1e-6]):
        with subtests.test(unit=unit, delta=delta):
            load = load_of(month(unit))
            queries = [load, *(load.total(every=every) for every in ("1D", "6D", "30D"))]
            plan = cdp.plan_together(queries, epsilon=1.0, delta=delta, weights=(1.0, 0.3, 0.02, 5.0))
            law = plan.chosen.law
            whole = 1.0 if law == "laplace" else float(np.hypot.reduce(list(plan.chosen.shares.values())))
            single = [one.query.at(law, 1.0).rmse ** 2 for one in plan.asked]  # type: ignore[union-attr]
            periods = (1, 24, 144, 720)
            best = np.inf
            for sources in itertools.product(range(4), repeat=4):
                released = {place for place in range(4) if sources[place] == place}
                if not all(source in released and source <= place for place, source in enumerate(sources)):
                    continue
                errors = dict.fromkeys(sorted(released), 0.0)
                for place, source in enumerate(sources):
                    one = plan.asked[place]
                    errors[source] += one.weight * one.query.numbers * periods[place] / periods[source] * single[source]
                listed = list(errors.values())
                best = min(best, squared_error(listed, best_shares(listed, law=law, whole=whole)))
            assert plan.chosen.error == pytest.approx(best, rel=1e-9)
            assert all(plan.chosen.error <= other.error for other in plan.others)


def test_plans_fit_their_budget_and_have_the_error_they_say(trials: Trials) -> None:
    chance = np.random.default_rng(3)
    for _ in range(trials(200, least=12)):
        unit = UNITS[int(chance.integers(len(UNITS)))]
        hours = month(unit, days=6)
        load, people = load_of(hours), hours.count()
        alarm = design_alert(above=1.0, change=5.0, unit=unit, max_alerts=3, epsilon=1.0)
        all_of_them: list[Any] = [
            load, people, load.peak(every="1D"), people.trough(every="12h"), load.total(every="2D"),
            hours.mean("kwh", clip=(0.0, 5.0), of="people"), hours.mean("kwh", clip=(0.0, 5.0), of="totals"),
            hours.histogram("kwh", edges=(0.0, 1.0, 2.0)), load.by(region=["north", "south"]).peak(every="3D"),
            hours.quantiles("kwh", [0.5], edges=[0.1 * edge for edge in range(51)]),
            hours.quantiles("kwh", [0.1, 0.5, 0.9], edges=(0.0, 1.0, 2.0, 5.0), of="rows"), alarm,
        ]  # fmt: skip
        chosen = chance.choice(len(all_of_them), size=int(chance.integers(1, 6)), replace=False)
        weights = np.exp(chance.normal(size=len(chosen))).tolist()
        epsilon, delta = float(np.exp(chance.normal())), float(chance.choice([0.0, 1e-6]))
        plan = cdp.plan_together([all_of_them[one] for one in chosen], epsilon=epsilon, delta=delta, weights=weights)
        rule = Filter("gaussian" if plan.delta else "pure", epsilon, plan.delta, 0.0)
        nothing = (0,) * len(rule.ceilings)
        assert rule.fits(nothing, plan.cost)
        for name, part in plan.parts.items():
            assert part.rmse == pytest.approx(plan.chosen.rmse[name], rel=1e-4)
        drawn = any(isinstance(part, QuantilePart) and part.drawn for part in plan.parts.values())
        if not (drawn and plan.delta) and not any(isinstance(all_of_them[one], type(alarm)) for one in chosen):
            hair = 1e-5 if drawn else 1e-9  # the price of a choice is rounded down to six digits
            less = Filter(rule.kind, epsilon * (1 - hair), plan.delta, 0.0)
            assert not less.fits(nothing, plan.cost), "nothing is left over"


def test_blocks_that_a_stretch_touches_are_counted(subtests: pytest.Subtests) -> None:
    for unit, every, touched in [
        (cdp.Window(24), "1D", 2), (cdp.Window(25), "1D", 2), (cdp.Window(26), "1D", 3), (cdp.Window(1), "1D", 1),
        (DAY, "1D", 1), (DAY, "5h", 6), (cdp.UserPeriod("1W"), "1D", 7), (DAY, "6D", 1),
    ]:  # fmt: skip
        with subtests.test(unit=unit, every=every, touched=touched):
            (found,) = load_of(month(unit)).peak(every=every).table.sensitivities()
            assert found.l1 == 5.0 * touched


def test_queries_together_mean_the_same_periods() -> None:
    window, timed = cdp.Window(24), cdp.Window(24, every="1h")
    hours = cdp.Aggregate([1.0] * 48, change=1.0, unit=window, every="1h", start="2026-01-01")
    days = cdp.Aggregate([1.0] * 30, change=1.0, unit=window, every="1D", start="2026-01-01")
    bare = Spectrum([1.0] * 48, change=1.0, unit=window).plan(Lowest(4), epsilon=1.0)
    for other in (days, bare):
        with pytest.raises(InvalidArgument, match="one price can protect one unit only"):
            cdp.plan_together({"hours": hours, "other": other}, epsilon=1.0)
    for unit in (window, timed):  # an alert has no grid of its own: it is certified for what the others mean
        alarm = design_alert(above=5.0, change=1.0, max_alerts=1, epsilon=1.0, unit=unit)
        plan = cdp.plan_together({"hours": hours, "alarm": alarm}, epsilon=1.0)
        assert plan.claim.unit == timed
        assert '"every":"1h"' in plan.parts["alarm"].identity
