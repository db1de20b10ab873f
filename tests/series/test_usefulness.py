"""Whether a plan says, before anything is spent, if its numbers will be worth reading, and what a promise is worth."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pandas as pd
import pytest

from chronodp import Find, Ledger, TimeSeries, User
from chronodp.errors import InvalidArgument

GRID: dict[str, Any] = {"time": "at", "user": "who", "every": "1D", "start": "2026-01-01", "end": "2026-02-01"}


def series(**more: Any) -> TimeSeries:
    rows = pd.DataFrame({"at": pd.date_range("2026-01-01", periods=31), "who": range(31), "kwh": 2.0})
    return TimeSeries(rows, **GRID, unit=User(), **({"max_periods": 10} | more))


def said(plan: object) -> str:
    return " ".join(str(plan).split())


def test_a_plan_says_how_many_people_a_cell_needs() -> None:
    plan = series().count().plan(epsilon=1)
    needed = int(re.findall(r"a cell needs about ([\d,]+) people to come out within ± 10 %", said(plan))[0])
    assert needed == pytest.approx(10 * plan.half_width(), abs=1)


@pytest.mark.parametrize(("expect", "words"), [(3_000, ""), (100, "that is rough"), (20, "noise would hide")])
def test_a_guess_gives_the_relative_error(expect: float, words: str) -> None:
    plan = series().count().plan(epsilon=1, expect=expect)
    part = float(re.findall(r"is ([\d.]+) % of the", said(plan))[0])
    assert part == pytest.approx(100 * plan.half_width() / expect, rel=0.06)
    assert words in said(plan)
    assert plan.design == series().count().plan(epsilon=1).design


def test_an_earlier_view_says_how_many_cells_come_out_well(tmp_path: Any) -> None:
    with Ledger(tmp_path / "b.db") as ledger:
        ledger.open("d", unit=User(), epsilon=100)
        release = series().count().plan(epsilon=50).release(ledger, dataset="d", request="r")
    for earlier in (release, release.each_period()):
        assert "of 31 expected numbers come out within ± 10 %" in said(series().count().plan(epsilon=1, expect=earlier))


def test_what_is_no_size_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[Any] = [0, -5, "500", [500], float("nan"), True]
    for expect in cases:
        with subtests.test(expect=expect), pytest.raises(InvalidArgument, match="expect must be"):
            series().count().plan(epsilon=1, expect=expect)


def test_where_a_bound_is_found_the_widest_noise_counts() -> None:
    plan = series(max_periods=Find()).count().plan(epsilon=1)
    assert "if 31 periods count" in said(plan)
    with pytest.raises(InvalidArgument, match="expect must be left out where something is found"):
        series(max_periods=Find()).count().plan(epsilon=1, expect=500)


def test_a_promise_of_little_worth_says_how_often_a_guess_is_right(subtests: pytest.Subtests) -> None:
    for (terms, warned), asked in itertools.product(
        [
            ({"epsilon": 1.0}, ""),
            ({"epsilon": 4.0, "delta": 1e-6}, ""),
            ({"epsilon": 1e9}, "ε = 1e+09 hardly hides anybody"),
            ({"epsilon": 1.0, "delta": 0.5}, "δ = 0.5 may give everything of one unit away"),
        ],
        ["count", "find", "quantiles"],
    ):
        with subtests.test(terms=terms, warned=warned, asked=asked):
            if asked == "quantiles":
                query: Any = series().quantiles("kwh", [0.5], edges=[0, 1, 2, 3])
            else:
                query = series(**({"max_periods": Find()} if asked == "find" else {})).count()
            text = said(query.plan(**terms))
            assert bool(re.search(r"Warning .* a guess whether the unit is in the data may be right", text)) is bool(
                warned
            )
            assert warned in text
