"""Prices of a life in whole numbers, of the series and of other questions about the same people: exact, and no more."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.lifetime import LifetimeDesign
from chronodp.lifetime.shares import MOST_PERIODS, life_of, quanta_of, takes_of, whole_price
from chronodp.privacy import User, dump, load as read_back
from chronodp.series import (
    Count,
    Design,
    Histogram,
    Mean,
    Measure,
    RunningTotal,
    Sum,
    Table,
    Variance,
    certificate_of,
    describe,
)
from chronodp.series.shapes import SquareRoot
from tests.cases import raising
from tests.conftest import SCALE
from tests.lifetime.lives import counted, issue, month, open_series, series

GROUPS = ["a", "b", "c"]
MEASURES: list[Measure] = [
    Count(),
    Count(4),
    Sum("x", (0.0, 3.0)),
    Sum("x", (-1.0, 2.5)),
    Sum("x", (-7.0, 0.0)),
    Histogram("x", (0.0, 1.0, 2.0, 5.0), 2),
    Mean("x", (0.0, 2.0)),
    Variance("x", (0.0, 2.0)),
]
measures = st.sampled_from(MEASURES)
DAYS: dict[str, Any] = {"start": "2026-03-01", "end": "2026-03-08"}


@cache
def table(measure: Measure, relation: Any = "add_remove", max_groups: int = 1, every: str = "1D") -> Table:
    asked = series(unit=User(relation=relation), every=every, max_periods=1).ask(measure)
    return asked.by(group=GROUPS, max_groups=max_groups).table


@cache
def life(measure: Measure, relation: Any = "add_remove", **terms: Any) -> LifetimeDesign:
    query = series(unit=User(relation=relation)).ask(measure).by(group=GROUPS, max_groups=terms.pop("max_groups", 1))
    return query.lifetime(**({"epsilon": 1.0, "delta": 1e-6, "max_periods": 6} | terms)).design


def bought(design: LifetimeDesign) -> Fraction:
    """What a life is worth: μ² or ε, of the floats in use."""
    power = 2 if design.base.law == "gaussian" else 1
    return sum(
        ((Fraction(noise.sensitivity) / Fraction(noise.scale)) ** power for noise in design.base.noises), Fraction(0)
    )


@pytest.mark.slow
@given(st.data())
@settings(max_examples=60 if SCALE >= 1 else 20, deadline=None)
def test_whatever_a_life_lets_through_is_within_what_was_bought(data: Any) -> None:
    relation, delta = data.draw(st.sampled_from(["add_remove", "replace"])), data.draw(st.sampled_from([0.0, 1e-6]))
    design = life(data.draw(measures), relation, delta=delta, max_groups=data.draw(st.integers(1, 2)))
    issues = [design.issue("load", start="2026-01-01", end="2026-08-01")]
    for _ in range(2):
        asked = table(data.draw(measures), relation, data.draw(st.integers(1, 3)))
        issues.append(
            design.issue("load", asked=asked, takes=data.draw(st.sampled_from([0.01, 0.3, 1.0, 2.5, 6.0])), **DAYS)
        )
    power, used, moved = 2 if design.base.law == "gaussian" else 1, [0, 0], Fraction(0)
    for made in data.draw(st.permutations(issues)):
        price = design.price(made)
        kept = [0, 0]
        for side in range(2 if relation == "replace" else 1):
            room = np.array([design.life - used[side]])
            kept[side] = min(data.draw(st.integers(0, 7)), int(price.most(room)[0]))
            used[side] += int(price.of(np.array([kept[side]]))[0]) if kept[side] else 0
        both = data.draw(st.integers(0, min(kept))) * made.table.max_places
        alone = sum(kept) * made.table.max_places - 2 * both
        for part, noise in zip(made.table.contributions(), made.noises, strict=True):
            change = both * part.exchange**power + alone * part.presence**power
            moved += change / Fraction(noise.scale) ** power
    assert moved <= bought(design)


def test_one_share_buys_what_a_joint_plan_of_as_many_periods_would() -> None:
    """Noise of another question is that of a series of its own, bought for the same."""
    for asked in MEASURES:
        for delta in [0.0, 1e-6]:
            design = life(Count(), delta=delta, max_periods=120)
            made = design.issue("load", asked=table(asked, every="1mo"), start="2026-03-01", end="2026-04-01")
            alone = life(asked, delta=delta, max_periods=120).base
            if alone.law == design.base.law:
                for found, wanted in zip(made.noises, alone.noises, strict=True):
                    assert found.scale == pytest.approx(wanted.scale, rel=1e-6), (delta, asked)
                    assert found.sensitivity == pytest.approx(wanted.sensitivity, rel=1e-6), (delta, asked)
            assert made.life is not None, (delta, asked)
            assert made.life.takes <= design.life // 120, (delta, asked)
            assert made.life.taken == "1", (delta, asked)
            assert made.cost == design.base.cost, (delta, asked)


def test_less_of_a_life_means_more_noise() -> None:
    for takes in [0.25, 1.0, 4.0]:
        design = life(Sum("x", (0.0, 3.0)), max_periods=36)
        made = design.issue("load", asked=table(Sum("y", (0.0, 5.0))), takes=takes, **DAYS)
        assert made.noises[0].scale == pytest.approx(design.base.noises[0].scale * 5 / 3 / takes**0.5, rel=1e-4), takes
        assert made.life is not None, takes
        assert made.life.takes <= takes * (design.life // 36), takes
        assert made.law == design.base.law, takes


def test_it_is_read_back_as_it_was_written_and_named() -> None:
    design = life(Sum("kwh", (0.0, 3.0)), max_periods=120)
    made = design.issue("load", asked=table(Count()), takes=0.5, **DAYS)
    assert read_back(dump(made), Design) == made
    assert made.claim.cost == design.claim.cost
    said = " ".join(str(certificate_of(made, seeded=False)).split())
    assert "count of people; Gaussian noise, white noise of scale" in said
    assert "which asks another question than the series itself (sum of kwh" in said
    assert "One person has a life of 120 shares: 120 full months of what the series asks itself" in said
    assert "a counted day takes 0.5 of 120 shares" in said
    described = dict(describe(made, 1e-6))
    assert described["Takes"] == "a counted day takes 0.5 of 120 shares"
    assert described["Releases"].startswith("count of people; 7 periods of 1D")


def test_what_cannot_be_asked_is_refused_by_sentences(tmp_path: Path) -> None:
    cases: list[tuple[Any, str]] = [
        ("count", "ask must be a question such as"),
        (series(user="household").count(), "asked with user='who'"),
        (series(time="when").count(), "asked with time='at'"),
        (series(unit=User(relation="replace")).count(), "asked for the unit that was bought"),
        (series(unit=User(called="meter")).count(), "asked for the unit that was bought"),
        (series(unit=cdp.Event()).count(), "unit must be User"),
        (series().sum("x", clip=cdp.Find()), "known before a life pays"),
        (series().count().by(region=cdp.Discover(max_keys=3)), "known before a life pays"),
        (series().active("1mo"), "asked of a count"),
    ]
    ledger, load = open_series(tmp_path, series().count().lifetime(epsilon=1.0, max_periods=3))
    with ledger:
        for ask, said in cases:
            with raising(InvalidArgument, match=said, case=(ask, said)):
                load.takes(ask=ask)


def test_terms_that_do_not_go_together_are_refused() -> None:
    design = life(Sum("x", (0.0, 3.0)), max_periods=6)
    for more, said in (
        ({"asked": table(Count()), "clip": (0.0, 1.0)}, "left out with ask"),
        ({"asked": table(Count()), "at_most": 3}, "left out with ask"),
        ({"takes": 0.5}, "given with ask"),
        ({"asked": table(Count()), "takes": 0.0}, "takes"),
        ({"asked": table(Count()), "takes": 6.5}, "a life has no more shares"),
        ({"asked": table(Count(), max_groups=3), "takes": 1e-10}, "cannot be drawn"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            design.issue("load", **DAYS, **more)


@pytest.mark.slow
def test_other_questions_take_of_the_same_life(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = [("ann", 3.0), ("bo", 1.5)]
    plan = series().sum("kwh", clip=(0.0, 3.0)).lifetime(epsilon=1.0, delta=1e-6, max_periods=3)
    ledger, load = open_series(tmp_path, plan)
    with ledger:
        first = issue(load, people, 0)
        ask = series().mean("kwh", clip=(0.0, 3.0), of="totals")
        assert load.takes(ask=ask).startswith("a counted month takes 1 of 3 shares; independent")
        mean = issue(load, people, 1, ask=ask)
        assert "takes 1 of 3 shares" in capsys.readouterr().err
        assert float(mean.to_pandas()["value"].iloc[0]) == pytest.approx(2.25)
        assert issue(load, [], 1, ask=ask).text == mean.text
        start, end = month(2)
        where = series(every="1D", max_periods=31).count().where("kwh > 2")
        days = load.issue(
            counted(people, 2), start=start, end=end, request="days", ask=where, takes=1.0, progress=lambda _: None
        )
        assert len(days.to_pandas()) == 31
        last = issue(load, people, 3)
        assert [float(one.to_pandas()["value"].iloc[0]) for one in (first, last)] == pytest.approx([4.5, 1.5])
        assert [request for request, _ in load.status.asked] == ["2026-02", "days"]
        assert "Asked        mean of kwh" in str(load.status)
        assert len(ledger.history("meters")) == 1
        assert [one.design.life and one.design.life.others for one in (first, mean, days, last)] == [None, None, 1, 2]
        assert "2 earlier issues with other questions took a part" in " ".join(str(last.certificate).split())
        load.verify()
    tables: dict[str, object] = {"2026-01": counted(people, 0), "2026-02": counted(people, 1)}
    tables |= {"days": counted(people, 2), "2026-04": counted(people, 3)}
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        made = cdp.Lifetime.rebuild(
            ledger, "load", tally=tmp_path / "again.tally", tables=tables, progress=lambda _: None
        )
        made.verify()


def test_exactly_k_full_periods_fit_a_life() -> None:
    for delta in [0.0, 1e-6]:
        for measure in [Count(), Count(5), Sum("x", (0.0, 3.0)), Sum("x", (-1.0, 0.7))]:
            design = life(measure, max_periods=7, delta=delta, max_groups=2)
            full = takes_of(design.base, design.base.table)
            assert full == 2 * quanta_of(design.base.law), (measure, delta)
            assert design.life == 7 * full, (measure, delta)
            prices = whole_price(full, 12).prices
            assert [price <= design.life for price in prices] == [True] * 7 + [False] * 5, (measure, delta)


def test_another_clip_takes_as_much_more_as_it_moves() -> None:
    """Squares under Gaussian noise and sizes under Laplace; of someone replaced, from one side of 0 to the other."""
    cases: list[tuple[tuple[float, float], float, str, Fraction]] = [
        ((0.0, 5.0), 1e-6, "add_remove", Fraction(25, 9)),
        ((0.0, 1.5), 1e-6, "add_remove", Fraction(1, 4)),
        ((-6.0, 3.0), 1e-6, "add_remove", Fraction(4)),
        ((0.0, 6.0), 0.0, "add_remove", Fraction(2)),
        ((-3.0, 3.0), 1e-6, "replace", Fraction(2)),
    ]
    for clip, delta, relation, taken in cases:
        design = life(Sum("x", (0.0, 3.0)), relation, delta=delta, max_periods=120)
        other = design.issue("load", start="2026-03-01", end="2026-04-01", clip=clip)
        assert other.life is not None
        assert other.life.takes == math.ceil(design.life // design.max_periods * taken), (clip, delta, relation)
        assert other.life.taken == f"{float(taken):.3g}", (clip, delta, relation)
        assert other.noises == design.base.noises, (clip, delta, relation)


def test_lives_that_no_number_holds_are_refused() -> None:
    wide = table(Count(), max_groups=3, every="1mo")
    with pytest.raises(InvalidArgument, match="max_periods must be at most 357,913,941"):
        life_of(wide, "gaussian", MOST_PERIODS)
    assert life_of(wide, "gaussian", MOST_PERIODS // 3) <= 2**62
    with pytest.raises(InvalidArgument, match="end must be earlier"):
        whole_price(2**60, 10)
    design = life(Sum("x", (0.0, 3.0)), max_periods=120)
    with pytest.raises(InvalidArgument, match="end must be earlier"):
        design.issue("load", start="2026-03-01", end="2026-04-01", clip=(0.0, 1e9))


def test_a_design_that_promises_more_than_its_noise_hides_is_refused() -> None:
    design = life(Count(), max_periods=120)
    with pytest.raises(InvalidArgument, match="noise for 121 periods"):
        replace(design, max_periods=121, life=design.life // 120 * 121)
    with pytest.raises(InvalidArgument, match="life must be that of 120 periods"):
        replace(design, life=design.life + 1)
    with pytest.raises(InvalidArgument, match="white noise"):
        replace(design, base=replace(design.base, shape=SquareRoot(RunningTotal())))
