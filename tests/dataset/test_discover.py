"""Keys found on the way to a release: one debit, what is kept after a crash, what is refused, what a reader gets."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from tests.conftest import Trials

import chronodp as cdp
from chronodp.accounting import gaussian
from chronodp.dataset import Records
from chronodp.engines import DuckDB, Record, Reference
from chronodp.errors import InvalidArgument, MissingBound, UnsupportedCost
from chronodp.postprocess import Growing, RandomWalk
from chronodp.randomness import keyed_entropy, seeded
from chronodp.selection.keys import OptimalRule, Rounds
from chronodp.series import Discover, DiscoverPlan, Find, Missing, Release, smooth_view

BUDGET = {"dataset": "web", "unit": cdp.User(), "epsilon": 60.0, "delta": 1e-4, "reserve": 1e-5}

START = int(np.datetime64("2026-01-01T00:00:00", "us").astype(np.int64))
DAY = 86_400_000_000
UNITS: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    (cdp.User(), {"max_periods": 4}, {"max_keys": 5}),
    (cdp.User(relation="replace"), {"max_periods": 4}, {"max_keys": 5}), (cdp.UserPeriod("1D"), {}, {}),
    (cdp.UserPeriod("1W"), {}, {}), (cdp.Window(3), {}, {}), (cdp.Event(), {}, {}),
]  # fmt: skip


def visits(people: int = 600, *, seed: int = 1, lone: int = 40) -> list[Record]:
    """People who look at popular pages on some days, and some of them at a page of their own."""
    chance = np.random.default_rng(seed)
    rows = [
        Record(f"u{who}", START + int(day) * DAY, 1.0, (f"page {int(page)}",))
        for who in range(people)
        for day, page in zip(chance.integers(0, 14, 4), np.minimum(chance.zipf(1.5, 4), 300), strict=True)
    ]
    own = [Record(f"u{who}", START, 1.0, (f"of u{who} alone",)) for who in range(lone)]
    return rows + own


def web(data: Any, unit: Any = None, **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {"engine": Reference()} | ({"max_periods": 4} if unit is None else {})
    return cdp.TimeSeries(
        data, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-15",
        unit=cdp.User() if unit is None else unit, **(options | changes),
    )  # fmt: skip


def asked(data: Any = None, discover: Discover | None = None, **terms: Any) -> DiscoverPlan:
    query = web(visits() if data is None else data).count()
    query = query.by(page=Discover(max_keys=5) if discover is None else discover, max_groups=2)
    plan: Any = query.plan(**({"epsilon": 4.0, "delta": 1e-6} | terms))
    return plan  # type: ignore[no-any-return]


def released(ledger: cdp.Ledger, plan: Any, request: str = "one") -> Release:
    made: Release = plan.release(ledger, dataset="web", request=request, entropy=seeded(5))
    return made


def test_a_release_says_which_keys_were_found(ledger: cdp.Ledger) -> None:
    plan = asked()
    assert isinstance(plan, DiscoverPlan)
    made = released(ledger, plan)
    assert made.keys is not None
    assert 3 < len(made.keys) < 100
    assert not any("alone" in key for key in made.keys)
    assert list(made.keys) == sorted(made.keys, key=str.encode)
    assert set(made.to_pandas()["page"]) == set(made.keys)
    assert "keys of page found by 2 rounds of weighted counts" in made.certificate.mechanism
    assert made.certificate.claim.cost == plan.claim.cost == made.design.cost
    assert made.certificate.claim.argument.endswith("keys.md")
    assert f"{len(made.keys)} found privately" in str(made)
    (entry,) = ledger.history("web")
    assert entry.cost == plan.claim.cost
    again = Release(made.text, made.signed)
    assert again.keys == made.keys


@pytest.mark.slow
def test_the_noise_is_on_what_the_keys_hold(ledger: cdp.Ledger) -> None:
    data = visits()
    made = released(ledger, asked(data))
    assert made.keys is not None
    exact = web(data).count().by(page=list(made.keys), max_groups=2).plan(epsilon=4.0, delta=1e-6)
    numbers = exact.origin.numbers(exact.design, key="00" * 16, progress=lambda _: None)[0]
    step = exact.design.noises[0].step
    drawn = made.to_pandas()["value"].to_numpy() - numbers.ravel() * step
    # Who is over the limit has other groups under another key of the choice: a few people more or less.
    assert abs(float(drawn.mean())) < 2
    alone = made.design.noises[0].sensitivity / gaussian.mu_for(4.0, 1e-6)
    assert alone < made.design.noises[0].scale < 1.15 * alone


@pytest.mark.parametrize(("unit", "series", "found"), UNITS, ids=str)
@pytest.mark.parametrize("delta", [1e-5, 0.0])
@pytest.mark.slow
def test_every_unit_has_its_price(
    unit: Any, series: dict[str, Any], found: dict[str, Any], delta: float, tmp_path: Path
) -> None:
    discover = Discover(**found, delta=1e-6)
    plan: Any = web(visits(), unit, **series).count().by(page=discover, max_groups=2).plan(epsilon=3.0, delta=delta)
    rule = plan.design.finding
    if delta:
        assert isinstance(rule, Rounds)
        assert 2.99 < gaussian.epsilon(plan.claim.cost, delta) <= 3.0
    else:
        assert isinstance(rule, OptimalRule)
        assert cdp.accounting.basic.epsilon(plan.claim.cost, 1e-6) <= 3.0
    with cdp.Ledger(tmp_path / "budget.db") as store:
        rules: dict[str, Any] = {"delta": 2e-5, "reserve": 1e-6} if delta else {"delta": 1e-6, "rule": "pure"}
        store.open("web", unit=unit, epsilon=3.5, **rules)
        made = released(store, plan)
    assert made.keys is not None
    assert not any("alone" in key for key in made.keys)
    wanted = delta or 1e-6
    assert (made.certificate.guarantee.epsilon, made.certificate.guarantee.delta) == (3.0, wanted)


def test_what_one_unit_can_move(subtests: pytest.Subtests) -> None:
    for unit, most, blocks, replace in [
        (cdp.User(), 5, 1, False),
        (cdp.User(relation="replace"), 5, 1, True),
        (cdp.UserPeriod("1D"), 2, 1, False),
        (cdp.UserPeriod("1W"), 14, 1, False),  # seven days of two groups each
        (cdp.UserPeriod("1D", timezone="Asia/Tokyo"), 2, 2, True),  # such days cut those of the grid
        (cdp.Window(3), 2, 3, False),
        (cdp.Event(), 1, 1, False),
        (cdp.Event(relation="replace"), 1, 1, True),
    ]:
        with subtests.test(unit=unit, most=most, blocks=blocks, replace=replace):
            whole = isinstance(unit, cdp.User)
            discover = Discover(max_keys=5 if whole else None)
            series = web(visits(), unit, **({"max_periods": 4} if whole else {}))
            plan: Any = series.count().by(page=discover, max_groups=2).plan(epsilon=3.0, delta=1e-5)
            rule = plan.design.finding
            assert (rule.most, rule.blocks, rule.replace) == (most, blocks, replace)


@pytest.mark.slow
def test_the_price_is_the_same_whatever_is_found(ledger: cdp.Ledger) -> None:
    few, many = (released(ledger, asked(visits(people)), str(people)) for people in (20, 900))
    assert few.design.cost == many.design.cost
    assert few.keys != many.keys
    assert few.design.noises == many.design.noises


def test_delta_is_parted_and_its_part_comes_from_the_reserve(ledger: cdp.Ledger) -> None:
    plan = asked(delta=1e-5)
    assert plan.design.finding.delta == 4e-6
    assert gaussian.epsilon(plan.claim.cost, 1e-5) <= 4.0 < gaussian.epsilon(plan.claim.cost, 9.9e-6)
    released(ledger, plan)
    assert "reserved delta 4e-06 of 1e-05 spent" in str(ledger.status("web"))


def test_without_a_reserve_nothing_is_read(tmp_path: Path) -> None:
    class Unread(Reference):
        def held_keys(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("the table was read")

    query = cdp.TimeSeries(
        [], time="at", user="who", every="1D", start="2026-01-01", end="2026-01-15", unit=cdp.User(),
        max_periods=4, engine=Unread(),
    ).count().by(page=Discover(max_keys=5))  # fmt: skip
    plan: Any = query.plan(epsilon=1.0, delta=1e-6)
    with cdp.Ledger(tmp_path / "budget.db") as store:
        store.open("web", unit=cdp.User(), epsilon=10.0, delta=1e-4)
        with pytest.raises(UnsupportedCost, match="reserve="):
            released(store, plan)
        assert not list(store.history("web"))


@pytest.mark.parametrize("people", [0, 1, 3])
def test_no_key_is_an_empty_table_and_no_error(ledger: cdp.Ledger, people: int, tmp_path: Path) -> None:
    made = released(ledger, asked(visits(people, lone=people)))
    assert made.keys == ()
    assert list(made.to_pandas().columns) == ["time", "page", "value", "lower", "upper"]
    assert made.to_pandas().empty
    for view in (made.running_total(), made.rolling(2), made.resample("1W"), made.ewm(0.5), made.linear([0.5, 0.5])):
        assert view.to_pandas().empty
        view.plot()
    assert made.each_period(simultaneous=True).to_arrow().num_rows == 0
    for view, method in ((made.each_period(), RandomWalk()), (made.running_total(), Growing())):
        assert smooth_view(view, method=method).to_pandas().empty
    made.report(tmp_path / "page.html")
    made.save(tmp_path / "release.json")
    assert Release.load(tmp_path / "release.json").keys == ()
    assert len(list(ledger.history("web"))) == 1


@pytest.mark.slow
def test_most_keeps_those_with_the_largest_noisy_weight(ledger: cdp.Ledger) -> None:
    every = released(ledger, asked(), "all").keys
    # The second lies nine deviations of the noise above the third, whatever the owner's secret is.
    two = released(ledger, asked(discover=Discover(max_keys=5, most=2)), "two").keys
    assert every is not None
    assert two == ("page 1", "page 2")
    assert len(every) > 3


@pytest.mark.slow
def test_found_keys_are_public_keys_from_then_on(ledger: cdp.Ledger) -> None:
    made = released(ledger, asked())
    assert made.keys
    later = web(visits(seed=2)).count().by(page=made.keys, max_groups=2).plan(epsilon=1.0, delta=1e-6)
    again: Any = later.release(ledger, dataset="web", request="february", entropy=seeded(1))
    assert set(again.to_pandas()["page"]) == set(made.keys)
    assert again.keys is None


class Dies(Reference):
    """Answers who holds which key, and dies when it is asked for numbers, once."""

    def __init__(self) -> None:
        self.alive = False

    def totals(self, *arguments: Any, **options: Any) -> Any:
        if not self.alive:
            self.alive = True
            raise KeyboardInterrupt
        return super().totals(*arguments, **options)


@pytest.mark.slow
def test_a_process_that_died_after_finding_goes_on_to_the_same_keys(ledger: cdp.Ledger) -> None:
    data, engine = visits(), Dies()
    whole = asked(data)
    plan = dataclasses.replace(whole, origin=Records(data, "at", "who", engine))
    with pytest.raises(KeyboardInterrupt):
        plan.release(ledger, dataset="web", request="one")
    assert len(list(ledger.history("web"))) == 1
    made = plan.release(ledger, dataset="web", request="one")
    assert len(list(ledger.history("web"))) == 1
    assert made.keys
    assert plan.release(ledger, dataset="web", request="one").text == made.text


def test_what_is_stored_of_finding_is_a_nonce() -> None:
    """It decides the noise with the owner's secret alone: whoever reads the ledger learns nothing."""
    plan, data = asked(), visits()
    made = plan.making(plan.read(key="00" * 32, progress=lambda _: None), seeded(1), key="00" * 32, progress=None)
    texts = {made.choices[0](())() for _ in range(3)}
    assert len(texts) == 3
    assert all(len(bytes.fromhex(text)) == 32 for text in texts)
    assert not any(record.keys[0] in text for text in texts for record in data if record.keys[0])


def test_the_same_nonce_finds_the_same_keys_and_another_may_not() -> None:
    from chronodp.series.discovery import find_keys

    plan = asked(visits(200))
    held = plan.origin.held_keys(plan.design, key="00" * 32)
    found = [find_keys(plan.design, held, keyed_entropy(bytes([secret]) * 32)) for secret in (1, 1, 2, 3, 4, 5)]
    assert found[0] == found[1]
    assert len(set(found)) > 1


@pytest.mark.slow
def test_a_lone_key_is_published_as_rarely_as_stated(trials: Trials) -> None:
    from chronodp.series.discovery import find_keys

    # At a large delta, so that a few thousand draws decide.
    plan = asked([Record("one", START, 1.0, (f"{number}",)) for number in range(5)], Discover(max_keys=5, delta=0.1),
                 epsilon=1.0, delta=0.2)  # fmt: skip
    held = plan.origin.held_keys(plan.design, key="00" * 32)
    draws = trials(4000, least=1000)
    told = sum(bool(find_keys(plan.design, held, seeded(seed))) for seed in range(draws))
    assert told / draws <= 0.1 + 4 * (0.1 * 0.9 / draws) ** 0.5
    assert told / draws > 0.02  # the bound is near: round by round, at five keys of one person


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_a_million_keys_of_one_person_each(ledger: cdp.Ledger, trials: Trials) -> None:
    """A thousand people hold one key more: it is found among a million that are not."""
    lone = trials(10**6, least=10**5)
    held = [f"u{number}" for number in (*range(lone), *range(1000))]
    pages = [*(f"k{number}" for number in range(lone)), *["all"] * 1000]
    at = pyarrow.array([START] * len(held)).cast(pyarrow.timestamp("us", "UTC"))
    series = web(pyarrow.table({"who": held, "page": pages, "at": at}), engine=DuckDB(threads=2))
    rare = Discover(max_keys=3, delta=1e-12)  # of a key of one person alone
    keys = released(ledger, series.count().by(page=rare, max_groups=1).plan(epsilon=1.0, delta=1e-6)).keys
    assert keys is not None
    assert "all" in keys
    assert len(keys) <= 2


def test_words_say_how_many_people_a_key_needs() -> None:
    words = " ".join(str(asked(epsilon=1.0)).split())
    needed = asked(epsilon=1.0).design.finding
    assert isinstance(needed, Rounds)
    assert f"published half of the time if {needed.people_needed(1):,} people hold it and nothing else" in words
    assert f"({needed.people_needed(5):,} if each holds 5)" in words
    assert "one held by a single person, with probability at most 4e-07" in words
    assert "counts in at most 4 of 14 periods in 2 groups of each" in words


def test_what_cannot_be_found_is_refused_in_words(subtests: pytest.Subtests) -> None:
    one, counts = Discover(max_keys=3), web([]).count()
    late = Discover(max_keys=3, delta=1e-6)
    terms: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: counts.by(page=Discover()).plan(**terms), MissingBound, "max_keys"),
        (lambda: web([], cdp.Event()).count().by(page=one).plan(**terms), InvalidArgument, "left out"),
        (lambda: counts.by(page=one).plan(epsilon=1.0), InvalidArgument, r"Discover\(delta=1e-6\)"),
        (lambda: counts.by(page=late).plan(**terms), InvalidArgument, "below the plan's delta"),
        (lambda: counts.by(page=one, site=one), InvalidArgument, "concat"),
        (lambda: counts.by(page=one).by(site=one), InvalidArgument, "concat"),
        # What is found at once with keys names the mend.
        (lambda: counts.by(page=one, max_groups=Find()), InvalidArgument, r"release\.keys"),
        (lambda: web([]).sum("x", clip=Find()).by(page=one).plan(**terms), InvalidArgument, r"release\.keys"),
        (lambda: web([]).sum("x", bound=cdp.Norm(2.0)).by(page=one), InvalidArgument, r"release\.keys"),
        (lambda: counts.by(page=one).plan(**terms, missing=Missing()), InvalidArgument, r"release\.keys"),
        (lambda: cdp.plan_together([counts.by(page=one), counts], **terms), InvalidArgument, r"release\.keys"),
    ]
    for number, (build, kind, said) in enumerate(cases):
        with subtests.test(number=number, said=said), pytest.raises(kind, match=said):
            build()
    for name, value in (
        *(("max_keys", bad) for bad in (0, 2.5, Find(), "95%", 0.95)), *(("share", bad) for bad in (-0.1, 0.95, True)),
        *(("delta", bad) for bad in (0.0, 1.0)), *(("most", 0), ("longest", 0)),
    ):  # fmt: skip
        wrong: Any = {name: value}
        with subtests.test(name=name, value=value), pytest.raises(InvalidArgument, match=f"^{name} must be"):
            Discover(**wrong)
