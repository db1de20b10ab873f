"""Bounds found on the way to a release, on cells and on whole series: one debit, what is kept, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from tests.conftest import in_turn
from tests.dataset.conftest import Death, dying

import chronodp as cdp
from chronodp.errors import InvalidArgument, MissingBound, RequestConflict
from chronodp.privacy import dump, load
from chronodp.randomness import seeded
from chronodp.series import Find, FindPlan, Missing, Norm, Release, ScaledSum, Sum
from chronodp.series.design import Design

BUDGET = {"dataset": "meters", "unit": cdp.User(), "epsilon": 100.0, "delta": 1e-5}

DAYS = 14


def frame(people: int = 800, *, seed: int = 1, size: float | None = None) -> pandas.DataFrame:
    chance = np.random.default_rng(seed)
    who, day = np.repeat(np.arange(people), DAYS), np.tile(np.arange(DAYS), people)
    kept = chance.random(people * DAYS) < 0.5
    values = chance.lognormal(0.0, 0.7, people * DAYS) if size is None else np.full(people * DAYS, size)
    times = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(day[kept], unit="D")
    region = np.where(who[kept] % 3 == 0, "north", "south")
    return pandas.DataFrame({"who": who[kept].astype(str), "at": times, "kwh": values[kept], "region": region})


def meters(data: Any, **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {"unit": cdp.User(), "max_periods": Find()}
    return cdp.TimeSeries(
        data, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-15", **(options | changes)
    )


ODD_TABLES = {
    "equal": frame(600, size=1.0), "zeros": frame(600, size=0.0), "one person": frame(1), "nobody": frame(600).iloc[:0],
}  # fmt: skip


def released(ledger: cdp.Ledger, query: Any, request: str = "one", **terms: Any) -> Any:
    plan = query.plan(**({"epsilon": 1.0, "delta": 1e-6} | terms))
    made: Release = plan.release(ledger, dataset="meters", request=request, entropy=seeded(5))
    return made


@pytest.mark.slow
def test_a_release_says_which_bounds_were_found(ledger: cdp.Ledger) -> None:
    plan: Any = meters(frame()).sum("kwh", clip=Find()).plan(epsilon=1.0, delta=1e-6)
    assert isinstance(plan, FindPlan)
    assert "5" in str(plan) or "0.05" in str(plan)
    made = plan.release(ledger, dataset="meters", request="one", entropy=seeded(5))
    assert made.found is not None
    assert 0.2 < made.found.scale < 4
    assert made.found.size is not None
    assert made.design.table.measure == Sum("kwh", (-made.found.size, made.found.size))
    assert made.design.table.max_periods == made.found.max_periods
    assert "bounds found by the exponential mechanism" in str(made.certificate.mechanism)
    assert made.certificate.claim.cost == plan.claim.cost == made.design.cost
    assert made.certificate.claim.argument.endswith("finding.md")
    (entry,) = ledger.history("meters")
    assert entry.cost == plan.claim.cost


@pytest.mark.slow
def test_the_price_is_the_same_whatever_is_found(ledger: cdp.Ledger) -> None:
    few = released(ledger, meters(frame(50)).sum("kwh", clip=Find()), "few")
    many = released(ledger, meters(frame(900)).sum("kwh", clip=Find()), "many")
    assert few.design.cost == many.design.cost
    assert few.found != many.found


def test_the_price_fits_the_guarantee_and_fills_it() -> None:
    for delta in (0.0, 1e-6):
        plan: Any = meters("none.csv").sum("kwh", clip=Find(0.1)).plan(epsilon=1.0, delta=delta, missing=Missing())
        by = cdp.accounting.gaussian.epsilon if delta else cdp.accounting.basic.epsilon
        assert 1 - 1e-6 < by(plan.claim.cost, delta) <= 1.0


@pytest.mark.slow
def test_the_same_request_returns_its_release_and_other_terms_are_refused(ledger: cdp.Ledger) -> None:
    data = frame()
    first = released(ledger, meters(data).sum("kwh", clip=Find()))
    again = meters(data).sum("kwh", clip=Find()).plan(epsilon=1.0, delta=1e-6)
    assert again.release(ledger, dataset="meters", request="one").text == first.text
    for other in (Find(0.1), Find(between=(0.1, 100)), (0, Find())):
        with pytest.raises(RequestConflict):
            released(ledger, meters(data).sum("kwh", clip=other))
    with pytest.raises(RequestConflict):
        released(ledger, meters(frame(seed=2)).sum("kwh", clip=Find()))
    assert len(ledger.history("meters")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("gap", ["debit committed", "choice committed"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_death_between_choice_and_release_goes_on_with_the_same_choice(tmp_path: Path, gap: str, times: int) -> None:
    query = meters(frame()).sum("kwh", clip=Find())
    plan: Any = query.plan(epsilon=1.0, delta=1e-6)
    with cdp.Ledger(tmp_path / "b.db", reached=dying(gap, times=times)) as store:
        store.open("meters", unit=cdp.User(), epsilon=10.0, delta=1e-5)
        if gap == "debit committed" and times == 2:
            plan.release(store, dataset="meters", request="one")
        else:
            with pytest.raises(Death):
                plan.release(store, dataset="meters", request="one")
        kept = store._store.transaction()
        with kept as transaction:
            before = transaction.run("SELECT chosen FROM choices ORDER BY number")
    with cdp.Ledger(tmp_path / "b.db") as store:
        made = plan.release(store, dataset="meters", request="one")
        with store._store.transaction() as transaction:
            after = transaction.run("SELECT chosen FROM choices ORDER BY number")
        assert after[: len(before)] == before
        assert len(store.history("meters")) == 1
        assert plan.release(store, dataset="meters", request="one").text == made.text


@pytest.mark.slow
@pytest.mark.parametrize(("name", "delta"), in_turn(list(ODD_TABLES), (0.0, 1e-6)))
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_every_table_has_an_answer(ledger: cdp.Ledger, name: str, delta: float) -> None:
    data = meters(ODD_TABLES[name])
    queries: list[Any] = [data.sum("kwh", clip=Find())]
    if delta:  # a length has Gaussian noise
        queries.append(data.sum("kwh", bound=Norm(Find())).by(region=["north", "south"]))
    for request, query in enumerate(queries):
        made = released(ledger, query, str(request), delta=delta, missing=Missing())
        shown = made.to_pandas().drop(columns=["time", "region"], errors="ignore").astype(float)
        assert np.all(np.isfinite(shown.filter(regex="^[a-z]+$").to_numpy()))
        assert np.all(np.isnan(shown.filter(like="_all").to_numpy()))  # nothing is assumed of single days


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("times", [1, 5])
def test_rows_that_a_found_number_of_them_cuts_are_told(ledger: cdp.Ledger, times: int, delta: float) -> None:
    # Whether the number found is 1 or more, rows are counted: what is paid, and what is told, do not hang on it.
    data = pandas.concat([frame(200)] * times)
    plan: Any = meters(data).count(at_most=Find()).plan(epsilon=4.0, delta=delta, missing=Missing())
    assert len(plan.design.split.figures) == 2
    made = plan.release(ledger, dataset="meters", request="one", entropy=seeded(5))
    assert made.design.cost == plan.claim.cost
    assert len(made.design.missing.noises) == 2
    shown, figure = made.to_pandas(), made.missing
    kept, noise = shown["value"].mean(), (shown["upper"] - shown["lower"]).mean()
    assert figure.lower - noise <= len(data) / DAYS - kept <= figure.upper + noise
    given = meters(data, max_periods=2).count().plan(epsilon=4.0, delta=delta, missing=Missing())
    assert given.design.missing is not None
    assert len(given.design.missing.noises) == 1  # people are counted, and nobody counts for more than one


@pytest.mark.slow
def test_groups_counts_and_one_bound_alone(ledger: cdp.Ledger) -> None:
    data = frame()
    keys = {"region": ["north", "south"]}
    made = released(
        ledger, meters(data).sum("kwh", clip=(0, Find())).by(max_groups=Find(), focus=None, **keys), "groups"
    )
    assert made.found is not None
    assert made.found.max_groups in (1, 2)
    assert made.design.table.measure.clip[0] == 0.0
    rows = released(ledger, meters(pandas.concat([data] * 3)).count(at_most=Find()), "rows")
    assert rows.found is not None
    assert rows.found.size >= 1
    days = released(ledger, meters(data).count(), "days")
    assert days.found is not None
    assert days.found.size is None
    assert days.found.max_periods == days.design.table.max_periods
    clip = released(ledger, meters(data, max_periods=5).sum("kwh", clip=Find()), "clip")
    assert clip.found is not None
    assert clip.found.max_periods is None


@pytest.mark.slow
def test_found_bounds_are_public_for_the_next_month(ledger: cdp.Ledger) -> None:
    plan: Any = meters(frame()).sum("kwh", clip=Find()).plan(epsilon=1.0, delta=1e-6)
    made = plan.release(ledger, dataset="meters", request="one", entropy=seeded(5))
    later = plan.on(frame(seed=3), found=made.found)
    assert isinstance(later, cdp.Plan)
    assert later.design.split is None
    assert later.design.table.max_periods == made.found.max_periods
    assert later.design.noises[0].scale < made.design.noises[0].scale  # nothing is spent on finding
    anew = plan.on(frame(seed=3))
    assert isinstance(anew, FindPlan)
    with pytest.raises(InvalidArgument, match="found"):
        plan.on(frame(seed=3), found={"size": 3})


@pytest.mark.slow
def test_one_search_serves_several_queries(ledger: cdp.Ledger) -> None:
    series = meters(frame())
    sums, days = series.sum("kwh", clip=Find()), series.count()
    found = released(ledger, sums).found
    together = cdp.plan_together([sums.bounded(found), days.bounded(found)], epsilon=1.0, delta=1e-6)
    made = together.release(ledger, dataset="meters", request="both")
    assert len(made.names) == 2
    assert sums.bounded(found).table.measure == Sum("kwh", (-found.size, found.size))
    assert days.bounded(found).table.max_periods == found.max_periods
    with pytest.raises(InvalidArgument, match="found"):
        sums.bounded({"size": 3})  # type: ignore[arg-type]
    # What the release did not find is still to be found.
    assert dict(sums.bounded(released(ledger, days, "days").found).finds).keys() == {"clip"}


_find: Any = Find
_missing: Any = Missing
_some: Any = 0.05


def test_bad_input_is_refused_before_anything_is_spent(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, str]] = [
        (lambda: _find(0), "share"),
        (lambda: _find(0.6), "share"),
        (lambda: _find("much"), "share"),
        (lambda: _find(between=3), "between"),
        (lambda: _find(between=(0, 3)), "between"),
        (lambda: _find(between=(3, 1)), "between"),
        (lambda: _missing(share=1), "share"),
        (lambda: _missing(assume="hope"), "assume"),
        (lambda: meters("x.csv").sum("kwh", clip=(1, Find())), "clip"),
        (lambda: meters("x.csv").sum("kwh", clip=(_find(), 1)), "clip"),
        (lambda: meters("x.csv").sum("kwh", clip=_find), "clip"),
        (lambda: meters("x.csv").histogram("kwh", edges=[0, 1, 2]).plan(epsilon=1.0, missing=Missing()), "missing"),
        (lambda: meters("x.csv", max_periods=2).count().plan(epsilon=1.0, missing=_some), "missing"),
        (lambda: meters("x.csv").count().peak(every="7D").plan(epsilon=1.0), "^max_periods must be given for totals"),
        (
            lambda: meters("x.csv", max_periods=2).sum("kwh", clip=Find()).peak(every="7D").plan(epsilon=1.0),
            r"^clip must be given for totals, .* then use \.bounded\(release\.found\)",
        ),
        (
            lambda: meters("x.csv").mean("kwh", clip=(0, 1), at_most=_find(), of="rows"),
            r"^at_most .* for a mean: .* count\(",
        ),
        (lambda: meters("x.csv").histogram("kwh", edges=[0, 1], at_most=_find()), "^at_most .* for a histogram: "),
        (lambda: meters("x.csv").quantiles("kwh", [0.5], edges=[0, 1], at_most=_find()), "^at_most .* for quantiles: "),
        (lambda: meters("x.csv").variance("kwh", clip=(0, _find())), "^clip .* for a variance: .* use release.found"),
        (lambda: meters("x.csv").variance("kwh", clip=_find()), "^clip .* for a variance: .* use release.found"),
        (
            lambda: meters("x.csv", max_periods=2).sum("kwh", bound=cdp.Norm(3.0)).peak(every="7D"),
            "with a sum with a clip",
        ),
        (lambda: meters("x.csv", unit=cdp.UserPeriod("1D")), r"the calendar says .*; got 'Find\(\)'"),
        (lambda: meters("x.csv", unit=cdp.Event()), "max_periods"),
        (lambda: meters("x.csv").count().plan(epsilon=-1), "epsilon"),
        (lambda: cdp.plan_together({"top": meters("x.csv").count().peak(every="7D")}, epsilon=1.0), "of query 'top'"),
        (lambda: meters("x.csv").count().plan(epsilon=1.0, delta=2), "delta"),
    ]
    for make, argument in cases:
        with subtests.test(make=make, argument=argument), pytest.raises(InvalidArgument, match=argument):
            make()


def rows_of(people: int = 1200, *, seed: int = 3) -> pandas.DataFrame:
    """Some rows of each person on each day, of sizes that none knows."""
    data = frame(people, seed=seed)
    return pandas.concat([data, data.sample(frac=0.4, random_state=1).assign(kwh=lambda table: table.kwh * 1.3)])


@pytest.mark.slow
@pytest.mark.parametrize("of", ["rows", "people", "totals"])
def test_the_clip_of_a_mean_is_found_from_0_on(ledger: cdp.Ledger, of: Any) -> None:
    data = rows_of()
    query = meters(data).mean("kwh", clip=(0, Find()), of=of, at_most=1 if of == "rows" else None)
    plan: Any = query.plan(epsilon=2.0, delta=1e-6)
    words = " ".join(str(plan).split())
    assert "clipped where a private step finds it best" in words
    assert "times the size found" in words
    assert "with 1,000 present" in words
    made = plan.release(ledger, dataset="meters", request="one", entropy=seeded(2))
    clip = made.design.table.measure.clip
    assert clip == (0.0, made.found.size)
    assert 1.5 < clip[1] < 12
    cells = data.groupby(["at", "who"]).kwh
    truth = {"rows": data.groupby("at").kwh, "people": cells.mean().groupby("at"), "totals": cells.sum().groupby("at")}
    shown = made.to_pandas()
    assert np.sqrt(np.mean((shown["value"].to_numpy() - truth[of].mean().to_numpy()) ** 2)) < 0.25
    assert "bounds found by the exponential mechanism" in str(made.certificate.mechanism)
    assert made.certificate.claim.cost == plan.claim.cost
    assert load(dump(made.design), Design) == made.design
    again = query.bounded(made.found)
    assert again.finds == ()
    assert again.table.measure == made.design.table.measure


@pytest.mark.slow
def test_the_clip_of_a_mean_over_a_public_number_is_found_on_both_sides(ledger: cdp.Ledger) -> None:
    ledger.open("panel", unit=cdp.User(relation="replace"), epsilon=10.0, delta=1e-5)
    query = meters(frame(), unit=cdp.User(relation="replace")).mean("kwh", clip=Find(), people=800, of="totals")
    plan: Any = query.plan(epsilon=2.0, delta=1e-6)
    made: Any = plan.release(ledger, dataset="panel", request="one", entropy=seeded(2))
    assert made.design.table.measure.clip == (-made.found.size, made.found.size)
    assert made.design.table.measure.people == 800


@pytest.mark.slow
def test_rows_that_stand_alone_find_their_clip(tmp_path: Path) -> None:
    data = rows_of()
    for user in ("who", None):
        series = cdp.TimeSeries(
            data, time="at", user=user, every="1D", start="2026-01-01", end="2026-01-15", unit=cdp.Event()
        )
        with cdp.Ledger(tmp_path / f"{user}.db") as store:
            store.open("meters", unit=cdp.Event(), epsilon=10.0, delta=1e-5)
            plan: Any = series.mean("kwh", clip=(0, Find()), of="people").plan(epsilon=2.0, delta=1e-6)
            made = plan.release(store, dataset="meters", request="one", entropy=seeded(2))
            assert 1.5 < made.found.size < 12


def test_a_mean_refuses_what_cannot_be_found(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, str]] = [
        ({"clip": Find(), "of": "people"}, "middle"),
        ({"clip": Find(), "of": "totals"}, "middle"),
        ({"clip": (0, Find()), "of": "rows", "at_most": 2}, "at_most"),
        ({"clip": (1, Find()), "of": "people"}, "clip"),
        ({"clip": (0, Find()), "of": "people", "missing": Missing()}, "missing"),
        ({"clip": (0, 3), "of": "totals", "missing": Missing()}, "missing"),
        ({"clip": (0, 3), "of": "people", "missing": Missing()}, "missing"),
        ({"clip": (0, 3)}, "of is missing"),
        (
            {"clip": (0, 3), "of": "totals", "people": 9, "unit": cdp.User(relation="replace"), "missing": Missing()},
            "missing",
        ),
    ]
    for options, said in cases:
        with subtests.test(options=options, said=said):
            asked = dict(options)
            missing = asked.pop("missing", None)
            series = meters("x.csv", **{name: asked.pop(name) for name in ("unit",) if name in asked})
            with pytest.raises(InvalidArgument, match=said):
                series.mean("kwh", **asked).plan(epsilon=1.0, delta=1e-6, missing=missing)


# One bound on a person's whole series, declared or found: what is released, what is said, and what is refused.


REPLACE = cdp.User(relation="replace")


def scaled(norm: Any = 3.0, *, data: Any = "x.csv", signed: bool = True, **changes: Any) -> Any:
    return meters(data, **({"max_periods": None} | changes)).sum("kwh", bound=Norm(norm, signed))


@pytest.mark.slow
def test_people_are_scaled_and_not_cut(ledger: cdp.Ledger) -> None:
    data = frame()
    plan = scaled(data=data).plan(epsilon=1.0, delta=1e-6)
    (numbers,) = plan.read(key="k", progress=lambda _: None)
    by_day = data.assign(
        kept=data.kwh * data.groupby("who").kwh.transform(lambda own: min(1, 3 / np.hypot.reduce(own)))
    )
    exact = by_day.groupby("at").kept.sum().to_numpy()
    assert numbers[:, 0] * plan.design.noises[0].step == pytest.approx(exact, abs=1e-3)
    made = plan.release(ledger, dataset="meters", request="one")
    words = "a person's whole series scaled to a length of at most 3"
    assert words in " ".join(str(plan).split())
    assert words in str(made.certificate.mechanism)
    assert load(dump(made.design), Design) == made.design


@pytest.mark.parametrize(
    ("unit", "signed", "change"),
    [(cdp.User(), True, 3.0), (cdp.User(), False, 3.0), (REPLACE, True, 6.0), (REPLACE, False, 3 * 2**0.5)],
    ids=str,
)
def test_noise_follows_from_the_length(unit: Any, signed: bool, change: float) -> None:
    for groups in ({}, {"region": ["north", "south"]}):
        query = scaled(unit=unit, signed=signed)
        plan = (query.by(**groups) if groups else query).plan(epsilon=1.0, delta=1e-6)
        assert plan.design.noises[0].sensitivity == pytest.approx(change, rel=1e-12)
        assert str(plan.design.shape) == "white noise"
        assert plan.design.law == "gaussian"


def test_limits_of_the_series_do_not_matter() -> None:
    plans = [scaled(max_periods=limit).plan(epsilon=1.0, delta=1e-6) for limit in (None, 2, Find())]
    assert len({plan.identity for plan in plans}) == 1


@pytest.mark.slow
def test_a_length_is_found_and_errs_less_than_a_found_clip(ledger: cdp.Ledger) -> None:
    data = frame(3000)
    truth = data.groupby("at").kwh.sum().to_numpy()
    plan = scaled(Find(), data=data).plan(epsilon=1.0, delta=1e-6, missing=Missing(assume="even loss"))
    assert isinstance(plan, FindPlan)
    assert "of the budget picks bound, of 29 candidates" in " ".join(str(plan).split())
    made = plan.release(ledger, dataset="meters", request="one", entropy=seeded(5))
    assert made.found is not None
    assert made.found.norm is not None
    assert 3 < made.found.norm < 20
    assert made.found.size is None
    assert made.design.table.measure == ScaledSum("kwh", made.found.norm)
    assert made.certificate.claim.cost == plan.claim.cost == made.design.cost
    assert f"norm {made.found.norm:g}" in str(made.certificate.mechanism)
    days = made.to_pandas()
    assert ((days.lower_if_even <= truth) & (truth <= days.upper_if_even)).mean() > 0.9
    clip = released(ledger, meters(data).sum("kwh", clip=Find()), "clip").to_pandas()
    assert np.std(days.value - truth) < np.std(clip.value - truth)
    again = plan.release(ledger, dataset="meters", request="one")
    assert again.text == made.text
    with pytest.raises(RequestConflict):
        released(ledger, scaled(Find(0.1), data=data), missing=Missing())


_norm: Any = Norm


def test_what_cannot_be_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, str]] = [
        (lambda: _norm(0), "most"),
        (lambda: _norm("far"), "most"),
        (lambda: _norm(3.0, signed="no"), "signed"),
        (lambda: meters("x.csv").sum("kwh", bound=3.0), "bound must be Norm"),  # type: ignore[arg-type]
        (lambda: meters("x.csv").sum("kwh", clip=(0, 1), bound=Norm(3.0)), "clip must be left out"),
        (lambda: scaled(unit=cdp.Window(3)), "whole history"),
        (lambda: scaled(unit=cdp.UserPeriod("1W")), "whole history"),
        (lambda: scaled(unit=cdp.Event()), "whole history"),
        (lambda: scaled().plan(epsilon=1.0), "delta"),
        (lambda: scaled(Find()).plan(epsilon=1.0), "delta"),
        (lambda: scaled().by(max_groups=1, region=["north"]), "max_groups"),
        (lambda: scaled().by(max_groups=Find(), region=["north"]), "max_groups"),
        (lambda: scaled().peak(every="7D"), "peak"),
        (lambda: scaled(1e60), "clip"),
        (lambda: cdp.plan_together([scaled(Find())], epsilon=1.0), "delta"),
    ]
    for make, said in cases:
        with subtests.test(make=make, said=said), pytest.raises(InvalidArgument, match=said):
            make()


def test_a_sum_needs_a_bound_and_a_count_its_limit() -> None:
    series = meters("x.csv", max_periods=None)
    with pytest.raises(MissingBound, match="clip"):
        series.sum("kwh")
    with pytest.raises(MissingBound, match="max_periods"):
        series.count()
