"""People who were active lately, by the front door: what is released, how it is planned, what is refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from tests.series.releases import Silent

import chronodp as cdp
from chronodp.errors import BudgetExhausted, InvalidArgument, MissingBound
from chronodp.privacy import dump, load
from chronodp.randomness import seeded
from chronodp.series import Active, Discover, EachPeriod, Find, Missing, Rolling, RunningTotal, draw_noise
from chronodp.series.design import Design
from chronodp.series.shapes import Differenced, White, errors_of

BUDGET = {"dataset": "visits", "unit": cdp.User(), "epsilon": 100.0, "delta": 1e-4}

DELTA = 1e-6


def visits(days: int = 60, people: int = 200, seed: int = 3) -> pd.DataFrame:
    """Rows from 30 days before 2026-01-31 on: some people every day, others now and then."""
    chance = np.random.default_rng(seed)
    often = chance.choice([0.02, 0.2, 0.9], people)[:, None]
    who, day = np.nonzero(chance.random((people, days)) < often)
    at = pd.Timestamp("2026-01-01 12:00", tz="UTC") + pd.to_timedelta(day, "D")
    return pd.DataFrame({"who": who.astype(str), "at": at, "day": day, "place": np.where(who % 3, "app", "web")})


def series(data: object = "visits.csv", **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {
        "time": "at", "user": "who", "every": "1D", "start": "2026-01-31", "end": "2026-03-02", "unit": cdp.User(),
    }  # fmt: skip
    return cdp.TimeSeries(data, **(options | changes))


def year(window: str, unit: Any = None, **changes: Any) -> Any:
    options = {"start": "2026-01-01", "end": "2027-01-01", "unit": unit or cdp.User()}
    return series(**options).active(window, **changes)


def counted(data: pd.DataFrame, window: int) -> list[int]:
    days = range(30, 60)
    return [data[(data.day > day - window) & (data.day <= day)].who.nunique() for day in days]


@pytest.mark.parametrize("window", [1, 7, 28])
@pytest.mark.parametrize("delta", [0.0, DELTA])
def test_distinct_people_of_a_rolling_window_are_counted(window: int, delta: float, ledger: cdp.Ledger) -> None:
    data = visits()
    plan = series(data).active(f"{window}D").plan(epsilon=1.0, delta=delta)
    made = plan.release(ledger, dataset="visits", request="one", entropy=Silent(), progress=lambda _: None)
    assert made.to_pandas()["value"].tolist() == counted(data, window)
    assert f"people active in the last {window}D" in made.certificate.mechanism
    assert made.certificate.claim.argument == "docs/explanation/proofs/active-people.md"
    assert load(dump(made.design), Design) == made.design


def test_groups_have_their_own_people(ledger: cdp.Ledger) -> None:
    data = visits()
    query = series(data).active("7D").by(place=["app", "web"])
    plan = query.plan(epsilon=1.0, delta=DELTA)
    made = plan.release(ledger, dataset="visits", request="one", entropy=Silent(), progress=lambda _: None)
    table = made.to_pandas()
    for place in ("app", "web"):
        assert table[table.place == place]["value"].tolist() == counted(data[data.place == place], 7)


def test_a_limit_cuts_the_stays_that_come_last(ledger: cdp.Ledger) -> None:
    at = pd.to_datetime(["2026-01-29", "2026-02-05", "2026-02-20", "2026-02-21"], utc=True)
    data = pd.DataFrame({"who": ["ann"] * 4, "at": at})
    plan = series(data).active("3D", max_stays=2).plan(epsilon=1.0, delta=DELTA)
    assert plan.design.table.cap == "2 stays"
    made = plan.release(ledger, dataset="visits", request="one", entropy=Silent(), progress=lambda _: None)
    found = made.to_pandas()["value"].tolist()
    assert found == [1.0, 0, 0, 0, 0, 1, 1, 1] + [0] * 22  # a stay that began before the start is the first
    told = plan.diagnose(bounds=True, progress=lambda _: None)
    assert told.tally is not None
    assert (told.tally.people_over, told.tally.cells, told.tally.cells_kept) == (1, 4, 2)


def rmse(plan: Any) -> float:
    return float(plan.design.errors.rmse_mean)


def white(plan: Any) -> float:
    found = [design for design in (plan.design, *plan.others) if isinstance(design.shape, White)]
    return min(float(design.errors.rmse_mean) for design in found if design.law == "gaussian")


def test_a_plan_takes_the_way_with_the_least_error() -> None:
    monthly, weekly, daily = (year(window).plan(epsilon=1.0, delta=DELTA) for window in ("28D", "7D", "1D"))
    assert rmse(monthly) <= 0.6 * white(monthly)
    assert rmse(weekly) <= white(weekly)
    assert isinstance(daily.design.shape, White)
    assert not any(plan.design.table.cap for plan in (monthly, weekly, daily))
    for plan in (monthly, weekly, daily):
        errors = [design.errors.rmse_mean for design in (plan.design, *plan.others)]
        assert errors == sorted(errors)
    both = year("28D", max_stays=6, max_periods=20).plan(epsilon=1.0, delta=DELTA)
    assert both.design.table.cap == "6 stays"
    assert set(both.alternatives["cap"]) == {"6 stays", "20 active periods", "nobody cut"}
    days = year("1D", max_stays=100, max_periods=90).plan(epsilon=1.0, delta=DELTA)
    assert days.design.table.cap == "90 active periods"
    assert days.design.noises[0].sensitivity == pytest.approx(90**0.5)
    moved = both.on("other.csv", start="2027-01-01", end="2028-01-01")
    assert moved.design.table.cap == "6 stays"
    assert set(moved.alternatives["cap"]) == set(both.alternatives["cap"])


def test_a_limit_that_buys_nothing_cuts_nobody() -> None:
    assert not year("28D", max_stays=14).plan(epsilon=1.0, delta=DELTA).design.table.cap
    assert not year("7D", max_periods=200).plan(epsilon=1.0).design.table.cap
    assert not year("7D", max_stays=3).plan(epsilon=1.0).design.table.cap  # Laplace noise is white
    assert year("7D", max_periods=20).plan(epsilon=1.0).design.noises[0].sensitivity == 140.0


def test_single_days_are_cheap_and_choose_their_noise() -> None:
    shapes = {}
    for window in (1, 7, 28):
        plan = year(f"{window}D", cdp.UserPeriod("1D")).plan(epsilon=1.0, delta=DELTA)
        assert plan.design.table.sensitivities()[0].l1 == window
        shapes[window] = plan.design.shape
    assert isinstance(shapes[1], White)
    assert isinstance(shapes[28], Differenced)
    window = year("7D", cdp.Window(3)).plan(epsilon=1.0)
    assert window.design.noises[0].sensitivity == 9.0
    assert year("7D", cdp.Event("replace")).plan(epsilon=1.0).design.noises[0].sensitivity == 14.0


@pytest.mark.slow
def test_intervals_are_those_of_the_shape(ledger: cdp.Ledger) -> None:
    data = visits()
    plan = series(data).active("28D", max_stays=1).plan(epsilon=1.0, delta=DELTA)
    assert isinstance(plan.design.shape, Differenced)
    made = plan.release(ledger, dataset="visits", request="one", entropy=seeded(1), progress=lambda _: None)
    noise = plan.design.noises[0]
    spread = np.array(
        [draw_noise(plan.design.shape, noise, 30, 1, seeded(number))[:, 0] * noise.step for number in range(800)]
    )
    view = made.each_period()
    half = ((view.estimates.upper - view.estimates.lower) / 2)[:, 0]
    assert np.abs((np.abs(spread) <= half).mean(axis=0) - 0.95).max() < 0.04
    weekly = made.rolling(7)
    half = ((weekly.estimates.upper - weekly.estimates.lower) / 2)[:, 0]
    rolled = np.apply_along_axis(lambda one: np.convolve(one, np.ones(7) / 7, mode="valid"), 1, spread)
    assert np.abs((np.abs(rolled) <= half).mean(axis=0) - 0.95).max() < 0.04
    assert spread.std() == pytest.approx(plan.design.errors.rmse_mean, rel=0.1)
    band = made.each_period(simultaneous=True)
    half = ((band.estimates.upper - band.estimates.lower) / 2)[:, 0]
    assert (np.abs(spread) <= half).all(axis=1).mean() == pytest.approx(0.95, abs=0.035)
    assert made.resample("1W").to_pandas()["value"].iloc[0] == pytest.approx(view.estimates.value[:7].mean())
    with pytest.raises(InvalidArgument, match="rolling count"):
        made.running_total()


def test_days_before_the_start_are_read_and_paid_for(tmp_path: Path) -> None:
    february = series(visits(), start="2026-02-01", end="2026-03-01")
    table = february.active("7D", max_stays=2).table
    assert table.span is not None
    assert table.span[0] == dt.datetime(2026, 1, 26, tzinfo=dt.UTC)
    with cdp.Ledger(tmp_path / "months.db") as months:
        months.open("visits", unit=cdp.User(), epsilon=1.0, delta=1e-5, renews="1mo")
        january = series(visits(), start="2026-01-08", end="2026-02-01")
        terms: dict[str, Any] = {"epsilon": 0.9, "delta": 1e-6}
        january.active("7D").plan(**terms).release(months, dataset="visits", request="jan", progress=lambda _: None)
        # Six days of January are read for February too: January's budget pays for both, and cannot.
        with pytest.raises(BudgetExhausted):
            february.active("7D").plan(**terms).release(months, dataset="visits", request="feb")
        daily = february.active("1D").plan(**terms)  # no day before the start
        daily.release(months, dataset="visits", request="daily", progress=lambda _: None)


def test_what_cannot_be_is_refused(subtests: pytest.Subtests) -> None:
    windows: tuple[Any, ...] = ("3h", "1mo", "week", 7)
    nothing: tuple[Any, ...] = (0, False, "", [])  # none of them is no limit
    cases: list[tuple[str, Callable[[], Any]]] = [
        *(("window", lambda window=window: series().active(window)) for window in windows),
        *(("max_periods", lambda limit=limit: series().active("7D", max_periods=limit)) for limit in nothing),
        ("max_stays", lambda: series().active("7D", max_stays=0)),
        ("max_stays", lambda: series(unit=cdp.UserPeriod("1D")).active("7D", max_stays=3)),
        ("max_periods", lambda: series(unit=cdp.Window(2)).active("7D", max_periods=3)),
        ("user", lambda: series(unit=cdp.Event(), user=None).active("7D")),
        ("tuned_for", lambda: series().active("7D").plan(epsilon=1.0, tuned_for=RunningTotal())),
        ("missing", lambda: series().active("7D").plan(epsilon=1.0, missing=Missing())),
        ("max_periods", lambda: series(max_periods=Find()).active("7D").plan(epsilon=1.0)),
        ("max_groups", lambda: series().active("7D").by(place=["a", "b"], max_groups=Find()).plan(epsilon=1.0)),
        ("Discover", lambda: series().active("7D").by(place=Discover(max_keys=2))),
        ("peak", lambda: series().active("7D").peak(every="1W")),
    ]
    for number, (said, make) in enumerate(cases):
        with subtests.test(number=number), pytest.raises((InvalidArgument, MissingBound), match=said):
            make()
    assert series().active("7D").plan(epsilon=1.0, delta=DELTA, tuned_for=Rolling(7)).design.tuned_for == Rolling(7)


def test_the_limit_of_the_series_counts_where_none_is_said() -> None:
    asked = series(max_periods=5)
    assert asked.active("7D").table.max_periods == 5
    assert asked.active("7D", max_periods=3).table.max_periods == 3
    assert asked.active("7D", max_stays=3).table.max_periods is None
    assert asked.ask(Active("7D", 3)).table.max_periods is None


def made_up_year(seed: int = 2) -> NDArray[np.bool_]:
    """20,000 people over a year, on 90 days before it too: seldom there, now and then, or on most days of a spell."""
    chance = np.random.default_rng(seed)
    people, days = 20_000, 365 + 27
    rate = np.where(chance.random(people) < 0.12, 0.5, chance.gamma(0.4, 0.06, people))[:, None]
    begin, length = chance.integers(-200, days, people)[:, None], chance.geometric(1 / 150, people)[:, None]
    at = np.arange(days)
    return (chance.random((people, days)) < rate) & (at >= begin) & (at < begin + length)


@pytest.mark.slow
def test_a_made_up_year_errs_less_with_stays() -> None:
    active = made_up_year()
    counts = np.cumsum(np.concatenate((np.zeros((len(active), 1), np.int32), active), axis=1), axis=1, dtype=np.int32)
    for window, stays in ((7, 24), (28, 6)):
        present = counts[:, 28 - 1 + 1 :] - counts[:, 28 - window : -window] > 0
        begun = np.diff(present.astype(np.int8), axis=1, prepend=0) == 1
        kept = present & (np.cumsum(begun, axis=1) <= stays)
        bias = (present.sum(axis=0) - kept.sum(axis=0)).astype(float)
        plan = year(f"{window}D", max_stays=stays).plan(epsilon=1.0, delta=DELTA)
        assert plan.design.table.cap == f"{stays} stays"
        error = float(np.sqrt(rmse(plan) ** 2 + (bias**2).mean()))
        assert error < {7: 60.0, 28: 36.0}[window] < white(plan) == pytest.approx(80.7, abs=0.1)


def test_errors_of_differences_are_those_of_running_totals() -> None:
    plan = year("28D", max_stays=4).plan(epsilon=1.0, delta=DELTA)
    shape = plan.design.shape
    assert isinstance(shape, Differenced)
    assert errors_of(EachPeriod(), shape, 365).rmse_mean == pytest.approx(
        errors_of(RunningTotal(), shape.of, 365).rmse_mean
    )
