"""Whatever a plan may find it can draw: its candidates are cut before anything is paid."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest
from tests.conftest import Trials
from tests.series.releases import over

import chronodp as cdp
from chronodp.dataset.joint.series import FoundPart
from chronodp.errors import InvalidArgument
from chronodp.randomness import seeded
from chronodp.series import FindPlan, Found, Missing
from chronodp.series.design import Design

DAYS = {"1h": ("2026-01-01", "2026-01-03"), "1D": ("2026-01-01", "2026-01-31"), "7D": ("2026-01-01", "2026-12-31")}
BUDGETS = (1e-9, 1e-7, 1e-5, 1e-3, 0.1, 1.0, 50.0, 1e6, 1e9, 1e12, 1e15)
BETWEEN = (None, (1.0, 2.7), (0.3, 0.4), (1.0, 2.0000000000000004), (5.0, 5.0), (1.0, 2.0**39), (2.0**36, 2.0**39))


def few() -> pandas.DataFrame:
    return pandas.DataFrame(
        [(dt.datetime(2026, 1, 1 + day, 5), f"p{who}", 1.5) for who in range(5) for day in range(3)],
        columns=["at", "who", "number"],
    )


def series(every: str, unit: Any, max_periods: Any) -> cdp.TimeSeries:
    start, end = DAYS[every]
    return over(few(), end, every=every, start=start, unit=unit, max_periods=max_periods)


KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "count": lambda about, find: about.count(at_most=find),
    "count of declared rows": lambda about, _: about.count(at_most=2**30),
    "sum": lambda about, find: about.sum("number", clip=find),
    "sum from 0": lambda about, find: about.sum("number", clip=(0, find)),
    "mean of rows": lambda about, find: about.mean("number", clip=(0, find), of="rows", at_most=1),
    "mean of totals": lambda about, find: about.mean("number", clip=(0, find), of="totals"),
    "norm": lambda about, find: about.sum("number", bound=cdp.Norm(find)),
    "edges": lambda about, find: about.histogram("number", edges=find),
}


def draw(design: Design) -> None:
    for noise in design.noises:
        noise.draws(seeded(1))((1, 1))


def draw_all(plan: FindPlan, chance: random.Random, count: int) -> int:
    """Draw candidates of all kinds of scales, the first and last of each among them; return how many."""
    design, drawn = plan.design, 0
    if design.finds_edges:
        edges = design.edges.first
        for half_octave in (edges[0], edges[-1], *chance.choices(edges, k=count)):
            draw(design.release_design(design.edges.found(half_octave)))
            drawn += 1
        return drawn
    first = design.scale.first
    for median in {first[0], first[-1], *chance.choices(first, k=count)}:
        for upper in {median - 2, median + 20, median + chance.randrange(-2, 21)}:
            joint = design.joint(median, upper)
            assert len(joint.choice.candidates) == len(joint.candidates) >= 1
            assert len(joint.utilities([0] * losses_of(joint))) == len(joint.candidates)
            for place in {0, len(joint.candidates) - 1, chance.randrange(len(joint.candidates))}:
                made = design.release_design(design.found(joint, place))
                draw(made)
                if made.missing is not None:
                    made.missing.draw([0, 0], seeded(1))  # type: ignore[arg-type]  # one number each
                drawn += 1
    return drawn


def losses_of(joint: Any) -> int:
    return len(joint.periods) * len(joint.groups) * len(joint.sizes)


@pytest.mark.slow
def test_every_candidate_can_be_drawn(trials: Trials, subtests: pytest.Subtests) -> None:
    for kind, ask in KINDS.items():
        with subtests.test(kind=kind):
            chance, drawn, refused = random.Random(kind), 0, 0
            units = (cdp.User(), cdp.User(relation="replace"), cdp.UserPeriod("2D"), cdp.Window(2), cdp.Event())
            for _ in range(trials(1200, least=60)):
                unit = chance.choice(units)
                periods = cdp.Find() if unit.whole_person and (kind != "edges" or not chance.randrange(4)) else None
                find = cdp.Find(chance.choice((0.001, 0.05, 0.5)), between=chance.choice(BETWEEN))
                missing = chance.choice((None, Missing(), Missing(share=1e-9)))
                terms = {"epsilon": chance.choice(BUDGETS), "delta": chance.choice((0.0, 1e-9, 1e-3))}
                try:
                    query = ask(series(chance.choice(list(DAYS)), unit, periods), find)
                    if chance.randrange(2):
                        query = query.by(region=["north", "south", "east"], max_groups=chance.choice((2, cdp.Find())))
                    plan = query.plan(**terms, missing=missing)
                except InvalidArgument:
                    refused += 1
                    continue
                if isinstance(plan, FindPlan):
                    drawn += draw_all(plan, chance, 2)
                    assert str(plan)
            assert drawn > trials(600, least=30)
            assert refused  # or the budgets were no sweep


def test_forty_releases_of_few_people_all_succeed(tmp_path: Path) -> None:
    ledger = cdp.Ledger(tmp_path / "budget.db")
    ledger.open("few", unit=cdp.User(), epsilon=50.0, delta=1e-3)
    plan = series("1D", cdp.User(), 30).count(at_most=cdp.Find()).plan(epsilon=1.0, delta=1e-6)
    for number in range(40):
        plan.release(ledger=ledger, dataset="few", request=f"r{number}", entropy=seeded(number))
    ledger.close_connection()


def test_blocks_planned_beside_draw_whatever_is_found() -> None:
    about = series("1D", cdp.User(), 30)
    rows = about.count(at_most=cdp.Find())
    queries = {"rows": rows, "weeks": rows.total(every="7D"), "people": about.count()}
    for epsilon in (1e-5, 1.0):
        plan = cdp.plan_together(queries, epsilon=epsilon, delta=1e-6, weights=(1.0, 1.0, 1.0))
        (search,) = plan.searches
        design = search.design
        for median in (design.scale.first[0], 0, design.scale.first[-1]):
            for upper in (median - 2, median + 20):
                joint = design.joint(median, upper)
                for place in (0, len(joint.candidates) - 1):
                    found = design.found(joint, place)
                    for name, part in plan.parts.items():
                        if isinstance(part, FoundPart):
                            assert name in search.members
                            draw(part.bounded(found).design)


def test_a_public_end_beyond_what_can_be_drawn_is_refused_in_words() -> None:
    query = series("1D", cdp.User(), 30).count(at_most=cdp.Find(between=(2.0**29, 2.0**35)))
    with pytest.raises(
        InvalidArgument, match=r"between must be .*smaller first end.* at most [0-9,]+ rows of one person"
    ):
        query.plan(epsilon=1.0, delta=1e-6)


def test_a_budget_that_can_draw_nothing_is_refused_before_it_is_paid() -> None:
    with pytest.raises(InvalidArgument, match="epsilon must be"):
        series("1D", cdp.User(), cdp.Find()).count(at_most=cdp.Find()).plan(epsilon=1e-9)


def test_limits_that_cannot_be_drawn_are_left_out_and_the_others_stay() -> None:
    """At a small price noise for one person everywhere is too much, and that for one in a few periods is not."""
    about = series("1D", cdp.User(), cdp.Find(0.5)).count(at_most=1)
    query = about.by(region=[str(number) for number in range(100)], max_groups=cdp.Find(0.5))
    plan: Any = query.plan(epsilon=4e-7)
    kept = {(one["max_periods"], one["max_groups"]) for one in plan.candidates}
    assert (1, 1) in kept
    assert (30, 1) in kept
    assert (30, 100) not in kept
    assert str(plan)
    for periods, groups in kept:
        draw(plan.design.release_design(Found(scale=1.0, max_periods=periods, max_groups=groups)))
    joint = plan.design.joint(0, 0)
    assert {(periods, groups) for periods, groups, _ in joint.candidates} == kept
    assert len(joint.utilities([0] * losses_of(joint))) == len(kept) < losses_of(joint)


def test_a_figure_that_cannot_be_drawn_is_refused_before_it_is_paid() -> None:
    query = series("1D", cdp.User(), 30).sum("number", clip=(0.0, 2.0))
    with pytest.raises(InvalidArgument, match="missing must be"):
        query.plan(epsilon=1.0, delta=1e-6, missing=Missing(share=1e-16))
