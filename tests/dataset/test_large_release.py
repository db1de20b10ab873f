"""Finished totals: more than a text lists, stored in parts and read again, refused where too many; and by groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import SCALE
from tests.series.releases import Silent

import chronodp as cdp
from chronodp.dataset import Aggregate, ReleaseTogether, plan_together
from chronodp.errors import CertificateInvalid, InvalidArgument
from chronodp.ledger import MOST_CELLS, MOST_LISTED, Ledger
from chronodp.randomness import seeded
from chronodp.series import Release

BUDGET = {"dataset": "meters", "unit": cdp.Event(), "epsilon": 100.0}

LISTED = MOST_LISTED if SCALE >= 1 else 2**14
MANY = LISTED + 5


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only few are asked for, texts list fewer numbers and parts hold fewer: what is told of them is the same."""
    listed = "ledger.numbers.MOST_LISTED", "dataset.joint.release.MOST_LISTED"
    for name in (*listed, "ledger.numbers.PART", "series.shown_view._MOST_AT_ONCE"):
        monkeypatch.setattr(f"chronodp.{name}", LISTED)


def totals(count: int, *, first: float = 0.0) -> Aggregate:
    return Aggregate(first + np.arange(count, dtype=float), change=1.0, unit=cdp.Event())


def released(ledger: Ledger, count: int, request: str) -> Release:
    plan = totals(count).plan(epsilon=1.0)
    return plan.release(ledger, dataset="meters", request=request, entropy=seeded(1), progress=lambda _: None)


@pytest.mark.slow
def test_a_text_lists_numbers_up_to_the_limit_and_names_parts_above(ledger: Ledger) -> None:
    small, large = released(ledger, LISTED, "small"), released(ledger, MANY, "large")
    assert isinstance(json.loads(small.text)["noisy"], list)
    described = json.loads(large.text)["noisy"]
    assert (described["kind"], described["cells"], len(described["sha256"])) == ("numbers", MANY, 2)
    assert len(large.text) < 5000


@pytest.mark.slow
def test_a_large_release_is_what_was_drawn(ledger: Ledger, tmp_path: Path) -> None:
    plan = totals(MANY).plan(epsilon=1.0)
    numbers = plan.read(key="", progress=lambda _: None)
    drawn = plan.draw(numbers, seeded(1))
    made = released(ledger, MANY, "large")
    assert made.text == drawn.text
    values = made.to_pandas()["value"].to_numpy()
    steps = np.concatenate(list(drawn.unpack()))
    np.testing.assert_array_equal(values, steps * plan.design.noises[0].step)
    assert abs(values[10] - 10) < 60  # Laplace noise of scale 1
    again = Release.load(made.save(tmp_path / "large.arrow"))
    np.testing.assert_array_equal(again.to_pandas()["value"].to_numpy(), values)
    repeated = released(ledger, MANY, "large")
    np.testing.assert_array_equal(repeated.to_pandas()["value"].to_numpy(), values)


def test_a_part_that_was_changed_in_the_ledger_is_never_shown(ledger: Ledger) -> None:
    released(ledger, MANY, "large")
    with ledger._store.transaction() as transaction:
        ((content,),) = transaction.run("SELECT content FROM parts WHERE number = 1")
        changed = bytes([content[0] ^ 1]) + content[1:]
        transaction.run("UPDATE parts SET content = ? WHERE number = 1", (changed,))
    with pytest.raises(CertificateInvalid, match="part 2 of 2 of the numbers is not the one that was signed"):
        released(ledger, MANY, "large").to_pandas()


@pytest.mark.slow
def test_several_queries_share_the_limit_of_the_text(ledger: Ledger, tmp_path: Path) -> None:
    half = LISTED // 2
    for request, last in (("listed", half), ("named", half + 1)):
        plan = plan_together({"b": totals(half), "a": totals(last, first=1e6)}, epsilon=1.0)
        made = plan.release(ledger, dataset="meters", request=request, progress=lambda _: None)
        kinds = {type(part["noisy"]) for part in json.loads(made.text)["parts"].values()}
        assert kinds == ({list} if request == "listed" else {dict})
        again = ReleaseTogether.load(made.save(tmp_path / request))
        frame = again.to_pandas()
        assert len(frame) == half + last
        for name, first, count in (("a", 1e6, last), ("b", 0.0, half)):
            values = frame[frame["query"] == name]["value"].to_numpy()
            assert len(values) == count
            assert abs(values.mean() - first - (count - 1) / 2) < 1


def hours(periods: int) -> cdp.TimeSeries:
    return cdp.TimeSeries(
        "nowhere.parquet", time="t", user="u", every="1h", start="2026-01-01",
        end=str(np.datetime64("2026-01-01T00", "h") + np.timedelta64(periods, "h")), unit=cdp.User(), max_periods=2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "periods", "kinds"), [("count", 4097, 1), ("mean", 2049, 2), ("variance", 1366, 3)]
)
def test_what_cannot_be_stored_is_refused_in_the_plan(measure: str, periods: int, kinds: int) -> None:
    keys = [str(number) for number in range(2**15)]

    def plan(length: int) -> object:
        more: dict[str, Any] = {"count": {}, "mean": {"of": "people"}, "variance": {}}[measure]
        value: tuple[str, ...] = () if measure == "count" else ("kwh",)
        asked = getattr(hours(length), measure)(*value, **more, **({"clip": (0.0, 1.0)} if value else {}))
        return asked.by(place=keys, max_groups=1).plan(epsilon=1.0)

    assert plan(periods - 1)
    told = rf"at most {MOST_CELLS:,} cells .*fewer keys or longer.*'{periods * len(keys) * kinds:,} cells'"
    with pytest.raises(InvalidArgument, match=told):
        plan(periods)


def test_queries_together_are_counted_together() -> None:
    keys = [str(number) for number in range(2**14)]
    series = hours(2192)
    asked = [series.count().by(focus=None, max_groups=1, **{name: keys}) for name in ("a", "b", "c", "d")]
    assert plan_together(asked[:3], epsilon=1.0).cells == 3 * 2192 * 2**14
    with pytest.raises(InvalidArgument, match=r"queries must be.*at most 134,217,728 together.*143,654,912 cells"):
        plan_together(asked, epsilon=1.0)


def test_stretches_of_ratios_keep_their_kinds_and_reasons(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas

    monkeypatch.setattr("chronodp.series.shown_view._MOST_AT_ONCE", 4)
    release = released(ledger, 30, "small")
    plain = release.each_period()
    for view in (plain, release.ratio(release), release.publish(relative=0.2)):
        pieces = pandas.concat([one.to_pandas() for one in view.stretches()], ignore_index=True)
        pandas.testing.assert_frame_equal(pieces, view.to_pandas())
        assert ("why" in pieces) == (view is not plain)


# Finished totals by groups: noise for as many groups as a unit changes, each number at its own key.


TOTALS = np.arange(12.0).reshape(3, 4)
KEYS = {"page": ["a", "b"], "land": ["x", "y"]}


def grouped(max_groups: int = 1) -> cdp.Aggregate:
    return cdp.Aggregate(TOTALS, change=2.0, unit=cdp.User(), max_periods=2, by=KEYS, max_groups=max_groups)


def test_a_unit_that_changes_more_groups_costs_more() -> None:
    one, three = (grouped(groups).plan(epsilon=1.0).design for groups in (1, 3))
    assert one.noises[0].sensitivity == pytest.approx(4.0, rel=1e-6)  # two periods of one total, each by 2
    assert three.noises[0].sensitivity == pytest.approx(12.0, rel=1e-6)
    gaussian = grouped(3).plan(epsilon=0.01, delta=1e-3).design
    found = gaussian.noises[0]
    assert found.sensitivity == pytest.approx(12.0 if found.law == "laplace" else np.sqrt(24.0), rel=1e-5)


def test_numbers_stand_at_their_keys(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("totals", unit=cdp.User(), epsilon=1.0)
        plan = grouped().plan(epsilon=1.0)
        release = plan.release(ledger, dataset="totals", request="one", entropy=Silent())
    shown = release.to_pandas().set_index(["period", "page", "land"])["value"]
    assert shown[(0, "a", "y")] == 1.0
    assert shown[(2, "b", "x")] == 10.0
    assert np.array_equal(shown.to_numpy().reshape(3, 4), TOTALS)


def test_the_next_totals_have_the_same_groups() -> None:
    plan = grouped().plan(epsilon=1.0)
    assert plan.on(TOTALS + 1).design.table.groups == 4
    with pytest.raises(InvalidArgument, match="a row of 4 finite numbers a period"):
        plan.on([1.0, 2.0, 3.0])


def test_totals_that_do_not_fit_are_refused_without_their_values(subtests: pytest.Subtests) -> None:
    for totals in [[1.0, 2.0], TOTALS[:, :3], TOTALS[None], np.full((3, 4), np.nan), [["a"] * 4]]:
        with subtests.test(totals=totals):
            with pytest.raises(InvalidArgument, match="totals") as refused:
                cdp.Aggregate(totals, change=2.0, unit=cdp.User(), max_periods=2, by=KEYS)  # type: ignore[arg-type]
            assert "nan" not in str(refused.value)
    with pytest.raises(InvalidArgument, match="totals"):  # what a mask hides is not released
        cdp.Aggregate(np.ma.masked_array([1.0, 7.0], mask=[False, True]), change=1.0, unit=cdp.Event())


def test_names_and_keys_that_are_none_are_refused(subtests: pytest.Subtests) -> None:
    names: list[Any] = [None, 3, "", "a\x00"]
    for name in names:
        with subtests.test(name=name), pytest.raises(InvalidArgument, match="name must be what the totals are"):
            cdp.Aggregate([1.0], change=1.0, unit=cdp.Event(), name=name)
    keys: list[Any] = [[], ["a", "a"], "ab", cdp.Discover(max_keys=1), 3, np.array(3)]
    groups: list[Any] = [
        {}, [("page", ["a"])], {1: ["a"]}, {None: ["a"]}, {"": ["a"]}, *({"page": one} for one in keys),
    ]  # fmt: skip
    for by in groups:
        with subtests.test(by=by), pytest.raises(InvalidArgument):
            cdp.Aggregate(TOTALS, change=2.0, unit=cdp.User(), max_periods=2, by=by)
    for many in (range(2**28), range(10**30)):  # refused before they are written out
        with pytest.raises(InvalidArgument, match="at most 134,217,728; got 'a longer range'"):
            cdp.Aggregate(TOTALS, change=1.0, unit=cdp.Event(), by={"page": many})
    with pytest.raises(InvalidArgument, match="max_groups"):  # more than there are
        grouped(5)
