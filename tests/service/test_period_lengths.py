"""Limits go with the length of a period: a clip of an hour is none of a day, and what is usual is not cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chronodp.errors import InvalidArgument, NotAllowed
from chronodp.privacy import Calendar
from chronodp.service.curator import Curator
from chronodp.service.period_lengths import grid_within, periods_covering
from chronodp.service.planning import AnyPlan
from chronodp.service.policy_file import parse_policy
from chronodp.service.presenting import show_dataset, show_plan
from chronodp.service.question import QueryRequest
from chronodp.service.scale import declared_scale

METERS = """
[datasets.meters]
source = "rows.csv"
time = "read_at"
user = "meter"
every = "1h"
start = "2026-01-01"
end = "2026-02-01"
unit = "user"
max_periods = {max_periods}
people = 1000
epsilon = 8.0
delta = 1e-6
{more}

[datasets.meters.columns.kwh]
{column}

[datasets.meters.groups]
region = {{ north = 400, south = 600 }}

[datasets.meters.allow]
grids = ["1h", "1D", "1W"]
{allow}
"""
SUM: dict[str, Any] = {"measure": {"kind": "sum", "column": "kwh", "clip": [0.0, 2.0]}, "epsilon": 1.0, "delta": 1e-7}
Asker = Callable[..., AnyPlan]


@pytest.fixture
def policy_of(tmp_path: Path) -> Iterator[Any]:
    """Make curators of policies that differ in a column, limits or rules; nothing is opened."""
    made: list[Curator] = []

    def make(column: str = "clip = [0, 2]", *, more: str = "", allow: str = "", max_periods: str = "744") -> Curator:
        text = METERS.format(column=column, more=more, allow=allow, max_periods=max_periods)
        made.append(Curator(parse_policy(text, folder=tmp_path), str(tmp_path / "budget.db")))
        return made[-1]

    yield make
    for curator in made:
        curator.close()


def plan(curator: Curator, question: Any = SUM, **changes: Any) -> AnyPlan:
    return curator.plan(curator.policy.datasets["meters"], QueryRequest.model_validate(question | changes))


def refusal(curator: Curator, question: Any = SUM, **changes: Any) -> tuple[str | None, str]:
    with pytest.raises(NotAllowed) as refused:
        plan(curator, question, **changes)
    return refused.value.argument, f"{refused.value}; {refused.value.mend}"


def measure(kind: str, **arguments: Any) -> dict[str, Any]:
    return {"measure": {"kind": kind, "column": "kwh", **arguments}}


def test_one_clip_is_of_the_datasets_own_periods(policy_of: Any) -> None:
    curator = policy_of()
    plan(curator)
    argument, said = refusal(curator, every="1D")
    assert argument == "every"
    assert "no clip of kwh in periods of 1D" in said
    assert "clip = { 1h = [0, 2], 1D = [..., ...] }" in said
    assert "read longer ones from the release, for nothing" in said
    (warning,) = curator.policy.warnings
    assert warning.startswith("policy.toml, line 17: datasets.meters.columns.kwh.clip is of periods of 1h")
    assert "1D and 1W totals of kwh are refused" in warning


def test_whatever_bounds_a_persons_total_needs_a_clip_of_its_length(policy_of: Any) -> None:
    cases: list[Any] = [
        measure("mean", clip=[0, 2], of="totals"),
        measure("variance", clip=[0, 2]),
        measure("histogram", edges=[0, 1, 2]),
        measure("quantiles", edges=[0, 1, 2], fractions=[0.5]),
        measure("sum", norm=4.0, signed=False),
        measure("sum") | {"find": {"bounds": ["clip"], "from_zero": True}},
        measure("sum", norm=None, signed=False) | {"find": {"bounds": ["norm"]}},
    ]
    for question in cases:
        curator = policy_of(allow="find = true")
        assert "no clip of kwh in periods of 1D" in refusal(curator, SUM | question, every="1D")[1], question


def test_what_hangs_on_no_length_needs_none(policy_of: Any) -> None:
    cases: list[Any] = [
        {"measure": {"kind": "count"}},
        {"measure": {"kind": "active", "window": "7D"}, "start": "2026-01-08"},
        measure("mean", clip=[0, 2], of="rows", at_most=1),
        measure("histogram", edges=[0, 1, 2], of="rows"),
    ]
    for question in cases:
        plan(policy_of(), SUM | question, every="1D")


def test_peaks_over_longer_periods_have_the_clip_of_the_shorter(policy_of: Any) -> None:
    plan(policy_of(), block={"statistic": "peak", "every": "1D"})


def test_each_length_has_its_own_widest_clip(policy_of: Any) -> None:
    curator = policy_of("clip = { 1h = [0, 2], 1D = [0, 40] }\nnorm = { 1D = 100 }", allow="find = true")
    plan(curator, SUM | measure("sum", clip=[0, 40]), every="1D")
    assert "within 0 to 40" in refusal(curator, SUM | measure("sum", clip=[0, 41]), every="1D")[1]
    assert "within 0 to 2" in refusal(curator, SUM | measure("sum", clip=[0, 40]))[1]
    assert "at most 100" in refusal(curator, SUM | measure("sum", norm=101, signed=False), every="1D")[1]
    found: Any = plan(curator, SUM | measure("sum") | {"find": {"bounds": ["clip"], "from_zero": True}}, every="1D")
    assert found.design.between[1] == 40.0
    shown = show_dataset(curator.policy.datasets["meters"]).columns["kwh"]
    assert (shown.clip, shown.clips, shown.norms) == ([0, 2], {"1h": [0, 2], "1D": [0, 40]}, {"1D": 100})


def test_a_limit_of_periods_covers_the_same_stretch_of_time(policy_of: Any) -> None:
    cases: list[tuple[str, int, int]] = [("1", 1, 1), ("24", 2, 2), ("48", 3, 2), ("168", 8, 2), ("744", 31, 4)]
    for hours, days, weeks in cases:
        meters = policy_of("clip = { 1h = [0, 2], 1D = [0, 40] }", max_periods=hours).policy.datasets["meters"]
        assert [meters.most_periods(every) for every in ("1h", "1D", "1W")] == [int(hours), days, weeks], (
            hours,
            days,
            weeks,
        )
        assert show_dataset(meters).most_periods == {"1h": int(hours), "1D": days, "1W": weeks}, (hours, days, weeks)


def test_a_limit_may_be_declared_by_length(policy_of: Any) -> None:
    curator = policy_of("clip = { 1h = [0, 2], 1D = [0, 40] }", max_periods="{ 1h = 100, 1D = 20 }")
    assert plan(curator, every="1D").design.table.max_periods == 20
    assert plan(curator, every="1D", end="2026-01-11").design.table.max_periods == 10
    assert plan(curator, every="1D", max_periods=5).design.table.max_periods == 5
    assert plan(curator).design.table.max_periods == 100


def test_coarser_limits_on_finer_periods_count_the_longest_day() -> None:
    days = Calendar("1D", "2026-10-20", "2026-10-30", "Europe/Berlin")
    assert periods_covering(days, 1, Calendar("1h", "2026-10-20", "2026-10-30", "Europe/Berlin")) == 25
    assert periods_covering(days, 1, Calendar("1h", "2026-10-21", "2026-10-24", "Europe/Berlin")) == 24
    months = Calendar("1mo", "2026-01-01", "2027-01-01")
    assert periods_covering(months, 2, Calendar("1D", "2026-01-01", "2027-01-01")) == 62
    with pytest.raises(InvalidArgument, match="whole number of 1Y"):
        grid_within(days, "1Y")


def test_a_longer_grid_without_dates_has_the_whole_periods(policy_of: Any) -> None:
    table = plan(policy_of("clip = { 1h = [0, 2], 1W = [0, 200] }"), every="1W").design.table
    assert table.horizon == 4
    assert table.calendar is not None
    assert table.calendar.end == "2026-01-29T00:00:00+00:00"


def test_what_most_people_would_exceed_is_refused(policy_of: Any) -> None:
    curator = policy_of(
        "clip = { 1h = [0, 2], 1D = [0, 40] }\nusual = { 1h = 0.6, 1D = 15 }", more="usual_periods = 700"
    )
    plan(curator)
    argument, said = refusal(curator, every="1D")
    assert argument == "clip"
    assert "does not allow clip 0 to 2; make it wide enough for 15, which one person usually has in 1D" in said
    assert "wide enough for 0.6" in refusal(curator, SUM | measure("mean", clip=[1, 2], of="totals"))[1]
    argument, said = refusal(curator, SUM | measure("quantiles", edges=[0, 1, 2], fractions=[0.5]), every="1D")
    assert (argument, "wide enough for 15" in said) == ("edges", True)
    # Bins of a tail leave others out on purpose; a filter, or several groups, leave less than is usual.
    plan(curator, SUM | measure("histogram", edges=[1, 2, 40]), every="1D")
    plan(curator, every="1D", by={"region": ["north", "south"]}, max_groups=2)
    argument, said = refusal(curator, max_periods=100)
    assert argument == "max_periods"
    assert "at least 700: one person usually has 700 of 1h" in said
    plan(curator, start="2026-01-30", max_periods=48)
    argument, said = refusal(curator, SUM | measure("sum", norm=1.0, signed=False))
    assert (argument, "at least 15.8745" in said) == ("norm", True)


def test_a_found_bound_and_a_filter_are_not_held_against_what_is_usual(policy_of: Any) -> None:
    allow = 'find = ["max_periods"]\nexpression_columns = ["kwh"]'
    curator = policy_of("clip = { 1h = [0, 2], 1D = [0, 40] }\nusual = { 1D = 15 }", allow=allow)
    plan(curator, every="1D", where="kwh < 0.1")
    plan(curator, find={"bounds": ["max_periods"]})
    assert "find clip" in refusal(curator, SUM | measure("sum") | {"find": {"bounds": ["clip"], "from_zero": True}})[1]


def test_what_a_policy_names_is_refused(policy_of: Any) -> None:
    cases: list[tuple[str, Any, str]] = [
        ("missing = false", {"missing": {}}, "missing"),
        ("max_groups = 1", {"by": {"region": ["north", "south"]}, "max_groups": 2}, "max_groups"),
        (
            "places = false",
            {
                "by": {"region": ["north", "south"]},
                "places": {"column": "region", "names": ["all", "region"], "keys": [["all"]], "children": [[2]]},
            },
            "places",
        ),
    ]
    for allow, question, argument in cases:
        plan(policy_of(), SUM | question)
        assert refusal(policy_of(allow=allow), SUM | question)[0] == argument, (allow, question, argument)


def test_the_scale_of_a_question_is_what_was_declared(policy_of: Any) -> None:
    cases: list[tuple[Any, float | None]] = [
        ({}, 600.0),
        ({"every": "1D", **measure("sum", clip=[0, 40])}, 15_000.0),
        ({"every": "1W", **measure("sum", clip=[0, 200])}, None),
        ({"measure": {"kind": "count"}}, 1000.0),
        ({"measure": {"kind": "count", "at_most": 3}}, None),
        (measure("mean", clip=[0, 2], of="totals"), 0.6),
        (measure("variance", clip=[0, 2]), None),
        (measure("histogram", edges=[0, 1, 2]), 500.0),
        ({"measure": {"kind": "active", "window": "2h"}, "start": "2026-01-02"}, 1000.0),
        ({"by": {"region": ["north", "south"]}}, 300.0),
        ({"by": {"region": ["north"]}}, 240.0),
        ({"block": {"statistic": "total", "every": "1D"}}, 14_400.0),
        ({"block": {"statistic": "peak", "every": "1D"}}, 600.0),
    ]
    for question, scale in cases:
        column = "clip = { 1h = [0, 2], 1D = [0, 40], 1W = [0, 200] }\nusual = { 1h = 0.6, 1D = 15 }"
        curator = policy_of(column, more="usual_periods = { 1D = 31 }")
        found = plan(curator, SUM | question)
        meters = curator.policy.datasets["meters"]
        assert declared_scale(meters, found) == (None if scale is None else pytest.approx(scale)), (question, scale)
        assert show_plan(meters, found).scale == declared_scale(meters, found), (question, scale)


def test_people_who_are_seldom_there_make_smaller_numbers(policy_of: Any) -> None:
    curator = policy_of("clip = [0, 2]\nusual = 1.0", more="usual_periods = 186")
    assert declared_scale(curator.policy.datasets["meters"], plan(curator)) == pytest.approx(250.0)
    filtered = policy_of("clip = [0, 2]\nusual = 1.0", allow='expression_columns = ["kwh"]')
    assert declared_scale(filtered.policy.datasets["meters"], plan(filtered, where="kwh > 1")) is None
