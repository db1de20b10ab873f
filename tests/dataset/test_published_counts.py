"""Counts of one period that decide which keys are published: one price, one reading, one draw, whatever happens."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from tests.conftest import Trials
from tests.dataset.conftest import Death, dying

import chronodp as cdp
from chronodp.accounting import basic, gaussian
from chronodp.engines import DuckDB, Record, Reference, Spark
from chronodp.errors import BudgetExhausted, InvalidArgument, MissingBound
from chronodp.privacy import FailureCost, dump
from chronodp.randomness import keyed_entropy, seeded
from chronodp.selection.keys import PublishedCounts
from chronodp.series import Discover, DiscoverPlan, Release
from chronodp.series.discovery import published_counts

BUDGET = {"dataset": "web", "unit": cdp.User(), "epsilon": 60.0, "delta": 1e-4, "reserve": 1e-5}

MORNING = np.datetime64("2026-01-05T09:00", "us")
SECRET = "00" * 32
UNITS: list[tuple[Any, dict[str, Any], dict[str, Any], int | None]] = [
    (cdp.User(), {"max_periods": 1}, {"max_keys": 1}, None),
    (cdp.User(), {"max_periods": 1}, {"max_keys": 3}, 3),
    (cdp.User(relation="replace"), {"max_periods": 1}, {"max_keys": 2}, None),
    (cdp.UserPeriod("1W"), {}, {}, 2),
    (cdp.UserPeriod("1D"), {}, {}, 2),  # days cut the week: a person's other days stay
    (cdp.Window(1), {}, {}, 2),
    (cdp.Event(), {}, {}, None),
    (cdp.Event(relation="replace"), {}, {}, None),
]


def visits(people: int = 400, *, seed: int = 1, lone: int = 40) -> pyarrow.Table:
    """People who read popular pages in one week, and some of them a page of their own."""
    chance = np.random.default_rng(seed)
    pages = [f"page {min(int(page), 300)}" for page in chance.zipf(1.5, people * 4)]
    who = [f"u{number // 4}" for number in range(people * 4)] + [f"u{number}" for number in range(lone)]
    pages += [f"of u{number} alone" for number in range(lone)]
    days = chance.integers(0, 7, len(who)).astype("timedelta64[D]")
    at = pyarrow.array(MORNING + days).cast(pyarrow.timestamp("us", "UTC"))
    return pyarrow.table({"who": who, "at": at, "page": pages})


def week(data: Any = None, unit: Any = None, *, engine: Any = None, end: str = "2026-01-12", **changes: Any) -> Any:
    options: dict[str, Any] = {"max_periods": 1} if unit is None else {}
    return cdp.TimeSeries(
        visits() if data is None else data, time="at", user="who", every="1W", start="2026-01-05", end=end,
        unit=cdp.User() if unit is None else unit, engine=DuckDB(threads=2) if engine is None else engine,
        **(options | changes),
    )  # fmt: skip


def asked(data: Any = None, *, max_keys: int = 2, engine: Any = None, **terms: Any) -> DiscoverPlan:
    query = week(data, engine=engine).count().by(page=Discover(max_keys=max_keys, share=0))
    plan: DiscoverPlan = query.plan(**({"epsilon": 2.0, "delta": 1e-6} | terms))
    return plan


def released(ledger: cdp.Ledger, plan: Any, request: str = "one") -> Release:
    made: Release = plan.release(ledger, dataset="web", request=request)
    return made


def test_every_published_count_reaches_the_threshold(ledger: cdp.Ledger) -> None:
    plan = asked()
    made = released(ledger, plan)
    assert made.keys
    assert not any("alone" in key for key in made.keys)
    assert list(made.keys) == sorted(made.keys, key=str.encode)
    noise, rule = plan.design.count_noise, plan.design.finding
    assert isinstance(rule, PublishedCounts)
    frame = made.to_pandas()
    assert list(frame["page"]) == list(made.keys)
    assert frame["value"].min() * noise.person >= rule.threshold(noise)
    assert "found by the published counts themselves" in made.certificate.mechanism
    assert made.certificate.claim.cost == plan.claim.cost == made.design.cost
    assert made.certificate.claim.argument.endswith("keys.md")
    assert "found privately, by their own counts" in str(made)
    assert "too high more often than that" in str(made)
    (entry,) = ledger.history("web")
    assert entry.cost == plan.claim.cost
    assert released(ledger, plan).text == made.text


def test_no_noise_is_on_a_count_but_the_one_that_decided() -> None:
    plan = asked()
    held = plan.read(key=SECRET, progress=lambda _: None)
    keys, noisy = published_counts(plan.design, held, seeded(4))
    noise = plan.design.count_noise
    drawn = seeded(4).gaussian(noise.scale, len(held.keys))
    exact = dict(zip(held.keys, (held.people * noise.person + drawn).tolist(), strict=True))
    assert dict(zip(keys, noisy.ravel().tolist(), strict=True)) == {key: exact[key] for key in keys}


@pytest.mark.parametrize(("unit", "series", "found", "groups"), UNITS, ids=str)
@pytest.mark.parametrize("delta", [1e-5, 0.0])
def test_every_unit_has_its_price(
    unit: Any, series: dict[str, Any], found: dict[str, Any], groups: int | None, delta: float, tmp_path: Path
) -> None:
    discover = Discover(**found, delta=1e-6, share=0)
    query = week(None, unit, **series).count().by(page=discover, max_groups=groups)
    plan = query.plan(epsilon=3.0, delta=delta)
    rule, (noise,) = plan.design.finding, plan.design.typical.noises
    moved = (found.get("max_keys") or groups or 1) * (2 if rule.replace else 1)
    assert rule.replace == (unit.relation == "replace" or unit == cdp.UserPeriod("1D"))
    assert (rule.most * rule.blocks * (2 if rule.replace else 1)) == moved
    if delta:
        assert noise.sensitivity == pytest.approx(moved**0.5, rel=1e-15)
        assert 2.99 < gaussian.epsilon(plan.claim.cost, delta) <= 3.0
    else:
        assert noise.sensitivity == moved
        assert basic.epsilon(plan.claim.cost, 1e-6) <= 3.0
    assert FailureCost(1e-6) in plan.claim.cost.costs
    with cdp.Ledger(tmp_path / "budget.db") as store:
        rules: dict[str, Any] = {"delta": 2e-5, "reserve": 1e-6} if delta else {"delta": 1e-6, "rule": "pure"}
        store.open("web", unit=unit, epsilon=3.5, **rules)
        made = released(store, plan)
    assert made.keys
    assert not any("alone" in key for key in made.keys)
    assert made.design.noises == (noise,)
    wanted = delta or 1e-6
    assert (made.certificate.guarantee.epsilon, made.certificate.guarantee.delta) == (3.0, wanted)


def test_noise_does_not_hang_on_how_many_keys_are_found_or_may_be() -> None:
    """Who is replaced moves two counts, also where one key alone is published: its noise decided that."""
    one, many = (
        week(None, cdp.User(relation="replace"), max_periods=1)
        .count()
        .by(page=Discover(max_keys=1, share=0, most=most))
        .plan(epsilon=1.0, delta=1e-6)
        .design
        for most in (1, 5000)
    )
    assert one.typical.noises == many.typical.noises == one.release_design(["a"]).noises
    assert one.typical.noises[0].sensitivity ** 2 >= 2


@pytest.mark.parametrize("pure", [False, True])
def test_fewer_people_and_less_noise_than_with_a_share(pure: bool) -> None:
    terms: dict[str, Any] = {"epsilon": 1.0} if pure else {"epsilon": 1.0, "delta": 1e-6}
    found: dict[str, Any] = {"delta": 4e-7} if pure else {}
    for most in (1, 3):
        plans = [
            week().count().by(page=Discover(max_keys=most, share=share, **found), max_groups=most).plan(**terms)
            for share in (0, 0.2)
        ]
        reused, shared = plans
        assert reused.half_width() < 0.91 * shared.half_width()
        needed = reused.design.finding.people_needed(reused.design.count_noise)
        assert needed < 0.7 * shared.design.finding.people_needed(most)
        words = " ".join(str(shared).split())
        assert f"With share=0 the counts themselves decide: half of the time if {needed:,} people hold it" in words
        own = " ".join(str(reused).split())
        assert "the published counts find keys of page themselves" in own
        assert f"half of the time if {needed:,} people hold it, whatever else they hold" in own
        assert "one held by a single person, with probability at most 4e-07" in own


@pytest.mark.parametrize("point", ["choice committed", "debit marked"])
def test_a_process_that_died_goes_on_to_the_same_keys_and_the_same_counts(tmp_path: Path, point: str) -> None:
    first = tmp_path / "first"
    first.mkdir()
    plan = asked()
    with cdp.Ledger(first / "budget.db") as store:
        store.open("web", unit=cdp.User(), epsilon=60.0, delta=1e-4, reserve=1e-5)
    with cdp.Ledger(first / "budget.db", reached=dying(point)) as store, pytest.raises(Death):
        released(store, plan)
    texts = []
    for copy in ("second", "third"):
        shutil.copytree(first, tmp_path / copy)
        with cdp.Ledger(tmp_path / copy / "budget.db") as store:
            made = released(store, plan)
            texts.append(made.text)
            assert len(list(store.history("web"))) == 1
            assert made.keys
    # Once the nonce is stored nothing is left to chance; before, nothing was drawn that anybody could have seen.
    assert (texts[0] == texts[1]) == (point == "choice committed")


def test_the_nonce_and_the_secret_decide_keys_and_counts() -> None:
    plan = asked()
    held = plan.read(key=SECRET, progress=lambda _: None)
    texts = {
        (nonce, seed): plan.making(held, seeded(seed), key=SECRET, progress=None).release((nonce,))()[0]
        for nonce in ("11" * 32, "22" * 32)
        for seed in (1, 2)
    }
    assert texts["11" * 32, 1] == texts["11" * 32, 2] != texts["22" * 32, 1]


@pytest.mark.slow
def test_a_lone_key_is_published_as_rarely_as_stated(trials: Trials) -> None:
    data = pyarrow.table({"who": ["one"] * 2, "at": [MORNING.item()] * 2, "page": ["a", "b"]})
    plan = week(data).count().by(page=Discover(max_keys=2, share=0, delta=0.1)).plan(epsilon=1.0, delta=0.2)
    held = plan.read(key=SECRET, progress=lambda _: None)
    draws = trials(4000, least=1000)
    told = sum(
        bool(published_counts(plan.design, held, keyed_entropy(seed.to_bytes(32, "big")))[0]) for seed in range(draws)
    )
    near = 4 * (0.1 * 0.9 / draws) ** 0.5
    assert 0.1 - near < told / draws <= 0.1 + near  # the bound is met


@pytest.mark.parametrize("people", [0, 1, 3])
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_no_key_is_an_empty_table_and_no_error(ledger: cdp.Ledger, people: int) -> None:
    made = released(ledger, asked(visits(people, lone=people)))
    assert made.keys == ()
    assert made.to_pandas().empty
    assert len(list(ledger.history("web"))) == 1


def test_most_keeps_those_with_the_largest_counts(ledger: cdp.Ledger) -> None:
    query = week().count().by(page=Discover(max_keys=2, share=0, most=2))
    two = released(ledger, query.plan(epsilon=8.0, delta=1e-6))
    assert two.keys == ("page 1", "page 2")


def test_engines_publish_the_same_bytes(spark: Any, tmp_path: Path) -> None:
    table = visits(120)
    pyarrow.parquet.write_table(table, tmp_path / "week.parquet")
    frame = spark.read.parquet(str(tmp_path / "week.parquet"))
    rows = [
        Record(who, at, None, (page,))
        for who, at, page in zip(
            table["who"].to_pylist(), table["at"].cast(pyarrow.int64()).to_pylist(), table["page"].to_pylist(),
            strict=True,
        )
    ]  # fmt: skip
    texts = []
    for data, engine in ((table, DuckDB(threads=2)), (frame, Spark()), (rows, Reference())):
        plan = asked(data, engine=engine)
        held = plan.read(key=SECRET, progress=lambda _: None)
        written, _ = plan.making(held, seeded(1), key=SECRET, progress=None).release(("33" * 32,))()
        texts.append(written)
    assert texts[0] == texts[1] == texts[2]


def test_next_week_is_found_anew_and_a_longer_time_is_refused() -> None:
    plan = asked()
    moved = plan.on(visits(seed=2), start="2026-01-12", end="2026-01-19")
    assert moved.design.finding == plan.design.finding
    with pytest.raises(InvalidArgument, match="share must be above 0 for 2 periods"):
        plan.on(visits(seed=2), start="2026-01-12", end="2026-01-26")


class TestRefused:
    def test_what_published_counts_cannot_decide_names_the_mend(self, subtests: pytest.Subtests) -> None:
        counts = Discover(max_keys=1, share=0)
        cases: list[tuple[Any, str]] = [
            (week([], end="2026-01-19", max_periods=2).count().by(page=counts), "for 2 periods: .* one long period"),
            (week([]).sum("x", clip=(0, 1)).by(page=counts), r"above 0 here: only a count of people, count\(\)"),
            (week([]).count(at_most=2).by(page=counts), "only a count of people"),
            (week([]).count().by(page=counts, region=["north"]), "beside other columns; or make one column of all"),
            (week([]).count().by(page=Discover(max_keys=3, share=0), max_groups=2), "max_groups must be max_keys"),
            (week([]).count().by(page=Discover(share=0)), "max_keys"),
        ]
        for query, said in cases:
            with subtests.test(said=said), pytest.raises((InvalidArgument, MissingBound), match=said):
                query.plan(epsilon=1.0, delta=1e-6)
        with pytest.raises(MissingBound, match=r"Discover\(delta=1e-6\)"):
            week([]).count().by(page=counts).plan(epsilon=1.0)


class TestHabits:
    """What people do around keys that is not private: the front door refuses it, or has no way to say it."""

    def test_each_of_many_days_is_added_up(self, tmp_path: Path) -> None:
        """At (1, 1e-6) a day, 365 days are no (1, 1e-6): the second is refused before its table is read."""
        with cdp.Ledger(tmp_path / "budget.db") as store:
            store.open("web", unit=cdp.User(), epsilon=1.0, delta=1e-6, reserve=4e-7)
            released(store, asked(epsilon=1.0), "monday")
            with pytest.raises(BudgetExhausted):
                released(store, asked(epsilon=1.0), "tuesday")
            assert len(list(store.history("web"))) == 1

    def test_no_exact_count_of_a_kept_key_leaves_the_plan(self) -> None:
        plan = asked()
        held = plan.read(key=SECRET, progress=lambda _: None)
        made: Any = plan.making(held, seeded(1), key=SECRET, progress=None).release(("44" * 32,))()
        written, certificate = made
        content = json.loads(written.text)
        assert set(content) == {"kind", "design", "noisy"}
        person = plan.design.count_noise.person
        exact = dict(zip(held.keys, (held.people * person).tolist(), strict=True))
        (grouping,) = content["design"]["table"]["groupings"]
        assert grouping["keys"]
        for key, noisy in zip(grouping["keys"], content["noisy"][0], strict=True):
            assert noisy != exact[key]  # by chance once in 2^25 draws
        assert "people" not in repr(held)
        assert str(certificate)


def test_a_share_of_0_is_one_number() -> None:
    assert dump(Discover(max_keys=1, share=0)) == dump(Discover(max_keys=1, share=-0.0))
    assert dataclasses.replace(Discover(max_keys=1), share=0) == Discover(max_keys=1, share=0.0)
