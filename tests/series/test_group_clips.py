"""Clips by group: one person moves every group within its own clip, and noise goes with it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.series.releases import over

import chronodp as cdp
from chronodp.dataset import Query, TimeSeries
from chronodp.engines import Record, Reference
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, RecordUnit
from chronodp.privacy.units import Event
from chronodp.series.measures import GroupClips

DAYS = Calendar("1D", "2026-01-01", "2026-01-03")
REGIONS = ("north", "south")
CLIPS = {"north": (0, 50), "south": (0, 400)}
SIGNED = {"north": (-1.0, 2.0), "south": (-4.0, 8.0)}
VALUES = (None, -1e9, 0.3, 1e9)
UNITS: tuple[RecordUnit, ...] = tuple(
    kind
    for relation in ("add_remove", "replace")
    for kind in (cdp.User(relation), cdp.UserPeriod("1D", relation), cdp.Window(1, relation), Event(relation))
)


def series(data: object, unit: RecordUnit, engine: Any = None, **options: Any) -> TimeSeries:
    """Return two days of people's numbers."""
    limit = {"max_periods": 1} if isinstance(unit, cdp.User) else {}
    return over(data, "2026-01-03", unit=unit, engine=engine, **{**limit, **options})


def split(query: Query[cdp.Plan], **options: Any) -> cdp.Plan:
    """Return the plan of a question by region."""
    return query.by(region=REGIONS, **options).plan(epsilon=1.0)


def rows_of(state: tuple[float | None, ...]) -> list[Record]:
    """Return the rows of one person: a value, or none, for each day and region."""
    cells = itertools.product(DAYS.edges[:2].tolist(), REGIONS)
    return [
        Record("ann", int(day), value, (region,))
        for (day, region), value in zip(cells, state, strict=True)
        if value is not None
    ]


def numbers(plan: cdp.Plan, state: tuple[float | None, ...]) -> np.ndarray[Any, Any]:
    """Return the numbers before noise of a plan, which has read nothing yet, in units of the widest clip."""
    origin: Any = plan.origin
    read = replace(origin, data=rows_of(state)).numbers(plan.design, key="k", progress=lambda _: None)
    steps = [noise.step for noise in plan.design.noises]
    return np.concatenate([part.ravel() * step for part, step in zip(read, steps, strict=True)])


def neighbours(unit: RecordUnit, states: list[tuple[Any, ...]]) -> np.ndarray[Any, Any]:
    """Return, for each state, which others differ from it in one unit."""
    values = np.array([[VALUES.index(value) for value in state] for state in states])
    changed = values[:, None] != values
    there = values != 0  # where there is a row
    gone, came = (changed & there[:, None]).sum(axis=2), (changed & there).sum(axis=2)
    found: np.ndarray[Any, Any]
    if unit.of_rows:
        alone = (gone == 0) | (came == 0)  # what came, or went, alone
        found = (changed.sum(axis=2) == 1) & alone if unit.relation == "add_remove" else np.maximum(gone, came) == 1
    elif unit.whole_person:
        found = np.ones_like(gone, bool) if unit.relation == "replace" else ~there.any(axis=1)[:, None]
    else:
        days = changed.reshape(*gone.shape, 2, 2).any(axis=3)
        held = there.reshape(len(states), 1, 2, 2).any(axis=3)
        found = (days.sum(axis=2) <= 1) & ((unit.relation == "replace") | ~(days & held).any(axis=2))
    found = found & ~np.eye(len(states), dtype=bool)
    return found


@pytest.mark.slow
def test_every_pair_of_one_persons_tables_is_within_the_stated_change(subtests: pytest.Subtests) -> None:
    for groups, unit in itertools.product([1, 2], UNITS):
        with subtests.test(groups=groups, unit=unit):
            states = list(itertools.product(VALUES, repeat=4))
            plan = split(series([], unit, Reference()).sum("number", clip=SIGNED), max_groups=groups)
            (stated,) = plan.design.table.sensitivities()
            read = np.array([numbers(plan, state) for state in states])
            most = [0.0, 0.0]
            for first, which in enumerate(neighbours(unit, states)):
                if which.any():
                    change = np.abs(read[which] - read[first])
                    norms = change.sum(axis=1).max(), np.sqrt((change**2).sum(axis=1)).max()
                    most = [max(pair) for pair in zip(most, norms, strict=True)]
            assert most[0] <= stated.l1
            assert most[1] <= stated.l2
            # A row moves a total that it shares from end to end, which a cell of one row cannot show.
            assert max(most[0] / stated.l1, most[1] / stated.l2) > (0.6 if unit.of_rows else 0.99)


def test_the_numbers_are_those_of_the_divided_column(subtests: pytest.Subtests) -> None:
    for unit in UNITS:
        with subtests.test(unit=unit):
            chance = np.random.default_rng(5)
            table = pd.DataFrame(
                {
                    "at": pd.to_datetime(chance.choice(DAYS.edges[:2], 200), unit="us", utc=True),
                    "who": chance.integers(0, 20, 200).astype(str),
                    "region": chance.choice(REGIONS, 200),
                    "number": chance.normal(10, 300, 200),
                }
            )
            divided = "CASE WHEN region = 'north' THEN number * 8 ELSE number END"
            asked = [
                series(table, unit).sum("number", clip=CLIPS),
                series(table, unit, columns={"divided": divided}).sum("divided", clip=(0, 400)),
            ]
            plans = [query.by(region=REGIONS, max_groups=2).plan(epsilon=1.0, delta=1e-6) for query in asked]
            one, other = (plan.origin.numbers(plan.design, key="k", progress=lambda _: None)[0] for plan in plans)
            assert np.array_equal(one, other)
            assert one.any()
            assert plans[0].design.noises == plans[1].design.noises
            assert plans[0].design.cost == plans[1].design.cost


def released(query: Query[cdp.Plan], tmp_path: Any, epsilon: float = 1.0, **options: Any) -> Any:
    """Return a release with seeded noise."""
    ledger = cdp.Ledger(tmp_path / "budget.db")
    ledger.open("meters", unit=query.table.unit, epsilon=100.0, delta=1e-3)
    plan = query.plan(epsilon=epsilon, delta=1e-6, **options)
    return plan.release(ledger, dataset="meters", request="r", entropy=cdp.randomness.seeded(3))


def town() -> pd.DataFrame:
    """Return people of two regions, of whom those in the south have ten times as much."""
    chance = np.random.default_rng(7)
    rows = 40_000
    region = chance.choice(REGIONS, rows)
    return pd.DataFrame(
        {
            "at": pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(chance.integers(0, 400, rows), "D"),
            "who": chance.integers(0, 400, rows).astype(str),
            "region": region,
            "number": np.where(region == "north", chance.uniform(0, 20, rows), chance.uniform(0, 160, rows)),
        }
    )


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return town()


def years(table: pd.DataFrame, unit: RecordUnit) -> TimeSeries:
    return over(table, "2027-02-05", unit=unit)


@pytest.mark.parametrize("of", ["sum", "rows", "totals"])
def test_bands_go_with_the_clip_and_cover(of: str, table: pd.DataFrame, tmp_path: Any) -> None:
    asked = years(table, cdp.UserPeriod("1D"))
    clipped = table.assign(day=table["at"].dt.normalize())
    if of == "sum":
        query, by = asked.sum("number", clip=CLIPS), clipped.groupby(["day", "region", "who"])["number"].sum()
    elif of == "totals":
        query = asked.mean("number", clip=CLIPS, of="totals")
        by = clipped.groupby(["day", "region", "who"])["number"].sum()
    else:
        query = asked.mean("number", clip=CLIPS, of="people")
        by = clipped.groupby(["day", "region", "who"])["number"].mean()
    most = by.index.get_level_values("region").map({"north": 50.0, "south": 400.0})
    held = by.clip(upper=pd.Series(most, by.index)).groupby(["day", "region"])
    truth = (held.sum() if of == "sum" else held.mean()).unstack()[list(REGIONS)].to_numpy()
    view = released(query.by(region=REGIONS, max_groups=2), tmp_path, 4.0).each_period()
    value = view.estimates.value
    inside = ((view.estimates.lower <= truth) & (truth <= view.estimates.upper)).mean(axis=0)
    assert np.all(np.abs(inside - 0.95) < 6 * np.sqrt(0.95 * 0.05 / 400))
    spread = np.sqrt(((value - truth) ** 2).mean(axis=0))
    assert 5 < spread[1] / spread[0] < 12  # 8 where noise alone decides


def test_every_reading_knows_the_noise_of_each_group(table: pd.DataFrame, tmp_path: Any) -> None:
    query = years(table, cdp.UserPeriod("1D")).sum("number", clip=CLIPS).by(region=REGIONS, max_groups=2)
    release = released(query, tmp_path)
    whole = release.each_period().to_pandas()
    half = ((whole["upper"] - whole["lower"]) / 2).to_numpy().reshape(-1, 2)
    assert np.allclose(half[:, 0] * 8, half[:, 1])
    north = release.operand.at(region="north").to_pandas()
    assert np.allclose(north["value"], whole.loc[whole["region"] == "north", "value"])
    assert np.allclose((north["upper"] - north["lower"]) / 2, half[:, 0])
    over = release.operand.over("region")
    assert np.allclose(over.estimates.value[:, 0], whole["value"].to_numpy().reshape(-1, 2).sum(axis=1))
    assert np.allclose(over.made.linear.variance(), release.design.noises[0].deviation ** 2 * (1 + 1 / 64))
    weeks, longer = release.resample("1W").to_pandas(), release.operand.resample("1W").to_pandas()
    assert np.allclose(weeks["value"], longer["value"])
    assert np.allclose(weeks["upper"], longer["upper"])
    smooth = release.ewm(0.5).to_pandas()
    wide = (smooth["upper"] - smooth["lower"]).to_numpy().reshape(-1, 2)
    assert np.allclose(wide[:, 0] * 8, wide[:, 1])
    assert cdp.Release.load(release.save(tmp_path / "release.json")).each_period().to_pandas().equals(whole)


def test_peaks_are_those_of_each_group(table: pd.DataFrame, tmp_path: Any) -> None:
    query = years(table, cdp.UserPeriod("1D")).sum("number", clip=CLIPS).by(region=REGIONS, max_groups=2)
    peaks = released(query.peak(every="1W"), tmp_path, 20.0).to_pandas()
    days = table.assign(day=table["at"].dt.normalize())
    held = days.groupby(["day", "region", "who"])["number"].sum()
    most = held.index.get_level_values("region").map({"north": 50.0, "south": 400.0})
    sums = held.clip(upper=pd.Series(most, held.index)).groupby(["day", "region"]).sum().unstack().to_numpy()
    truth = sums[: len(sums) // 7 * 7].reshape(-1, 7, 2).max(axis=1).ravel()
    assert np.all(np.abs(peaks["value"] - truth) < 2 * (peaks["upper"] - peaks["lower"]))


def test_means_of_unlike_groups_are_not_taken_together(table: pd.DataFrame, tmp_path: Any) -> None:
    query = years(table, cdp.UserPeriod("1D")).mean("number", clip=CLIPS, of="people")
    release = released(query.by(region=REGIONS, max_groups=2), tmp_path)
    with pytest.raises(InvalidArgument, match="groups with one clip"):
        release.operand.over("region")
    assert len(release.operand.at(region="north").to_pandas()) == 400


def test_the_plan_says_whose_noise_is_which(table: pd.DataFrame) -> None:
    query = years(table, cdp.UserPeriod("1D")).sum("number", clip=CLIPS).by(region=REGIONS)
    plan = query.plan(epsilon=1.0, delta=1e-6)
    text = " ".join(str(plan).split())
    assert "clipped to 0 … 50 (north), 0 … 400 (south)" in text
    assert f"down to {plan.design.noises[0].scale / 8:.6g}" in text
    assert "0 … 50 (north)" in plan.certificate_for(seeded=False).mechanism
    wide = years(table, cdp.UserPeriod("1D")).sum("number", clip=(0, 400)).by(region=REGIONS)
    assert plan.half_width() == wide.plan(epsilon=1.0, delta=1e-6).half_width()


def test_keys_are_read_as_cells_are() -> None:
    plan = series([], cdp.UserPeriod("1D"), Reference()).sum("number", clip={1: (0, 1), 2: (0, 3)})
    assert plan.by(floor=[2, 1]).plan(epsilon=1.0).design.table.scales == (1.0, 1 / 3)
    both = plan.by(floor=["1", "2"], region=REGIONS).plan(epsilon=1.0).design.table
    assert both.scales == (1 / 3, 1 / 3, 1.0, 1.0)


def test_what_no_clips_are_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, str]] = [
        ({}, "one for each"), ({"north": 50}, "a pair"), ({"north": cdp.Find()}, "a pair"),
        ({"north": (0, 50, 60)}, "pair"), ({"north": (0, float("nan"))}, "finite"), ({"": (0, 1)}, "keys as by"),
        ({1: (0, 1), "1": (0, 2)}, "different keys"), ({"north": (0, 50), "south": (-1, 50)}, "one proportion"),
        ({"north": (0, 1e-9), "south": (0, 1e9)}, "times as wide"),
    ]  # fmt: skip
    for clip, says in cases:
        with subtests.test(clip=clip, says=says):
            with pytest.raises(InvalidArgument, match=says) as refused:
                series([], cdp.UserPeriod("1D"), Reference()).sum("number", clip=clip)
            assert refused.value.name == "clip"


def test_proportions_are_those_of_numbers_as_people_write_them() -> None:
    clips = GroupClips(("a", "b"), ((-0.1, 0.3), (-0.3, 0.9)))
    assert clips.widest == (-0.3, 0.9)


def test_what_does_not_go_with_them_is_refused_with_the_mend(subtests: pytest.Subtests) -> None:
    plain = series([], cdp.User(), Reference()).sum("number", clip=CLIPS)
    cases: list[tuple[Any, str]] = [
        (lambda: plain, "keys of one column"),
        (lambda: plain.by(region=["north"]), "keys of one column"),
        (lambda: plain.by(region=REGIONS, other=REGIONS), "several have these keys"),
        (lambda: plain.by(region=cdp.Discover(max_keys=1)), "where keys are found"),
        (lambda: plain.by(region=REGIONS).lifetime(epsilon=1.0, max_periods=3), "one clip"),
        (lambda: plain.by(cdp.Places([("all", region) for region in REGIONS], "land", "region")), "with Places"),
    ]
    for ask, says in cases:
        with subtests.test(says=says), pytest.raises(InvalidArgument, match=says):
            ask().plan(epsilon=1.0, delta=1e-6)
    query = plain.by(region=REGIONS)
    with pytest.raises(InvalidArgument, match="clips of their own"):
        query.plan(epsilon=1.0, delta=1e-6, missing=cdp.Missing())
    with pytest.raises(InvalidArgument, match="clips of their own"):
        query.plan(epsilon=1.0, delta=1e-6).diagnose(bounds=True)
    with pytest.raises(InvalidArgument, match="pair"):
        series([], cdp.User(), Reference()).variance("number", clip=CLIPS)  # type: ignore[arg-type]  # refused
