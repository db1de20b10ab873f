"""Finished totals by groups: noise for as many groups as a unit changes, each number at its own key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.series.releases import Silent

import chronodp as cdp
from chronodp.errors import InvalidArgument

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
