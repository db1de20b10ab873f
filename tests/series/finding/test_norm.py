"""One length of a whole series, found: its candidates, its cap, and its exact probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import chronodp as cdp
from chronodp.engines import Record, Reference
from chronodp.selection import exponents_of, whole_gaps
from chronodp.series import FindPlan


def planned(records: list[Record], horizon: int, *, relation: Any = "add_remove", **find: Any) -> FindPlan:
    start = np.datetime64("2026-01-01")
    series = cdp.TimeSeries(
        records,
        time="at",
        user="who",
        every="1D",
        start=str(start),
        end=str(start + np.timedelta64(horizon, "D")),
        unit=cdp.User(relation=relation),
        engine=Reference(),
    )
    plan: Any = series.sum("number", bound=cdp.Norm(cdp.Find(**find))).plan(epsilon=1.0, delta=1e-6)
    return plan  # type: ignore[no-any-return]


@pytest.mark.parametrize(("horizon", "least", "most"), [(14, -4, 24), (56, 0, 32), (365, 5, 42), (1, -12, 8)])
def test_lengths_span_from_an_even_series_to_one_period(horizon: int, least: int, most: int) -> None:
    joint = planned([], horizon).design.joint(0, 2)
    expected = [2.0 * 2 ** (index / 4) for index in range(least, most + 1)]
    found = [size * joint.grid.step for size in joint.sizes]
    assert found == pytest.approx(expected, rel=1e-3)
    assert joint.periods == (horizon,)
    assert joint.top <= 2**31  # products of squares fit every engine
    short = planned([], horizon, between=(1.0, 3.0)).design.joint(0, 2)
    assert all(0.999 <= size * short.grid.step <= 3.001 for size in short.sizes)
    assert short.top <= 2**31


def test_the_choice_has_the_probabilities_of_the_rule() -> None:
    horizon, people = 20, 300
    chance = np.random.default_rng(7)
    held = chance.lognormal(0.0, 0.8, (people, horizon)) * (chance.random((people, horizon)) < 0.6)
    held *= chance.choice([-1.0, 1.0], held.shape)
    plan = planned([], horizon)
    calendar = plan.design.table.calendar
    assert calendar is not None
    records = [
        Record(str(who), int(calendar.edges[day]), float(held[who, day]))
        for who in range(people)
        for day in range(horizon)
        if held[who, day]
    ]
    design = planned(records, horizon).design
    joint = design.joint(-1, 3)
    losses = planned(records, horizon).origin.losses(joint)
    exponents = np.array(exponents_of(joint.choice, whole_gaps(joint.choice, joint.utilities(losses))))
    found = np.exp(exponents.min() - exponents)
    # The rule in floats: d = y (1 - min(1, r / |v|)), counted four times beyond a tenth of the cap, against noise.
    level, length = np.abs(held).mean(axis=1), np.linalg.norm(held, axis=1)
    end, third, left = 2.0**1.5, design.split.choices[-1], design.split.noise
    slope = float(np.clip(0.07 * third * math.sqrt(horizon) / left, 0.1, 16))
    cap = slope * end * 2.0 ** (4 / 10)
    even = round(2 * math.log2(horizon))
    bounds = end * 2.0 ** (np.arange(even - 12, 2 * even + 9) / 4)
    lost = [level * (1 - np.minimum(1, bound / length)) for bound in bounds]
    read = np.array([np.minimum(cap, one + 3 * np.maximum(0, one - cap / 10)).sum() for one in lost])
    exact = -third * np.maximum(read, bounds / left) / cap
    expected = np.exp(exact - exact.max())
    assert found / found.sum() == pytest.approx(expected / expected.sum(), abs=1e-4)
    assert (found > 0.02).sum() >= 3  # the comparison is not empty
