"""What one unit does to votes, losses and the figure of what is missing: within what is claimed, and up to it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.conftest import Trials
from tests.engines.neighbours import neighbour, random_world
from tests.engines.plain import Plain

import chronodp as cdp
from chronodp.engines import VOTE, Record
from chronodp.privacy import Calendar
from chronodp.privacy.units import RecordUnit
from chronodp.selection import exponents_of, whole_gaps
from chronodp.series import FindPlan, voters_of
from chronodp.series.finding.scale import scale_utilities

CALENDAR = Calendar("1D", "2026-01-01", "2026-01-05")
GROUPED: dict[str, Any] = {"region": ["north", "south"]}
Relation = Any


def units() -> list[tuple[str, RecordUnit, str | None]]:
    relations: list[Relation] = ["add_remove", "replace"]
    return [
        (f"{name} {relation}", make(relation), user)
        for relation in relations
        for name, make, user in (
            ("user", lambda relation: cdp.User(relation=relation), "who"),
            ("two days", lambda relation: cdp.UserPeriod("2D", relation=relation), "who"),
            ("window", lambda relation: cdp.Window(2, relation=relation), "who"),
            ("row of a person", lambda relation: cdp.Event(relation=relation), "who"),
            ("row alone", lambda relation: cdp.Event(relation=relation), None),
        )
    ]


CASES = units()


def planned(world: Sequence[Record], unit: RecordUnit, user: str | None, **terms: Any) -> FindPlan:
    periods = cdp.Find() if unit.whole_person else None
    series = cdp.TimeSeries(
        world,
        time="at",
        user=user,
        every="1D",
        start="2026-01-01",
        end="2026-01-05",
        unit=unit,
        max_periods=periods,
        engine=Plain(),
    )
    query = series.sum("number", clip=cdp.Find()).by(max_groups=2, **GROUPED)
    plan: Any = query.plan(**({"epsilon": 2.0, "delta": 1e-3} | terms))
    return plan  # type: ignore[no-any-return]


def pairs(unit: RecordUnit, count: int, seed: int = 5) -> list[tuple[list[Record], list[Record]]]:
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        world = random_world(chance, CALENDAR, most=12)
        found.append((world, neighbour(chance, world, CALENDAR, unit)))
    return found


@pytest.mark.long
@pytest.mark.parametrize(("name", "unit", "user"), CASES, ids=[name for name, *_ in CASES])
def test_one_unit_moves_utilities_as_far_as_claimed(
    name: str, unit: RecordUnit, user: str | None, trials: Trials
) -> None:
    first = planned([], unit, user)
    scale, joint = first.design.scale, first.design.joint(2.0)
    assert scale is not None
    voters = voters_of(first.design.table)
    most_votes, most_loss = scale.choice.change, joint.choice.change
    seen_votes, seen_loss, mixed = 0, 0, False
    for one, other in pairs(unit, trials(4000, least=120)):
        votes, losses = [], []
        for world in (one, other):
            plan = about(first.origin, world)
            votes.append(np.array(scale_utilities(plan.sizes(scale)), dtype=object))
            losses.append(np.array(joint.utilities(plan.losses(joint)), dtype=object))
        moved = np.abs(votes[0] - votes[1]).max()
        assert moved <= most_votes
        seen_votes = max(seen_votes, moved)
        change = losses[1] - losses[0]
        assert np.abs(change).max() <= most_loss
        if joint.choice.monotone:
            assert change.min() >= 0 or change.max() <= 0
        mixed |= change.min() < 0 < change.max()
        seen_loss = max(seen_loss, np.abs(change).max())
    # What is claimed is no more than what some unit does: half of it at least in random tables this small.
    assert seen_votes >= most_votes / 2, name
    assert seen_loss >= most_loss / 4, name
    assert mixed or joint.choice.monotone or voters.altered


@pytest.mark.parametrize(("name", "unit", "user"), CASES, ids=[name for name, *_ in CASES])
def test_each_choice_stays_within_its_range(name: str, unit: RecordUnit, user: str | None, trials: Trials) -> None:
    first = planned([], unit, user)
    scale = first.design.scale
    assert scale is not None
    joint = first.design.joint(2.0)
    for one, other in pairs(unit, trials(400, least=20), seed=9):
        origins = [about(first.origin, world) for world in (one, other)]
        votes = [_log_chances(scale.choice, scale_utilities(origin.sizes(scale))) for origin in origins]
        bounds = [_log_chances(joint.choice, joint.utilities(origin.losses(joint))) for origin in origins]
        for choice, (before, after) in ((scale.choice, votes), (joint.choice, bounds)):
            assert np.ptp(before - after) <= choice.epsilon * (1 + 1e-9), name


def about(origin: Any, world: Sequence[Record]) -> Any:
    """Return an origin of the same question about other records."""
    return replace(origin, data=world)


def _log_chances(choice: Any, utilities: Sequence[int]) -> Any:
    exponents = exponents_of(choice, whole_gaps(choice, utilities))
    return -exponents - np.log(np.exp(-exponents).sum())


@pytest.mark.parametrize(("name", "unit", "user"), CASES, ids=[name for name, *_ in CASES])
def test_one_unit_moves_the_figure_as_far_as_claimed(
    name: str, unit: RecordUnit, user: str | None, trials: Trials
) -> None:
    series = cdp.TimeSeries(
        [],
        time="at",
        user=user,
        every="1D",
        start="2026-01-01",
        end="2026-01-05",
        unit=unit,
        max_periods=2 if unit.whole_person else None,
        engine=Plain(),
    )
    query = series.sum("number", clip=(-0.1, 0.2)).by(**GROUPED)
    plan = query.plan(epsilon=2.0, delta=1e-3, missing=cdp.Missing())
    figure = plan.design.missing
    assert figure is not None
    assert figure.beyond is not None
    seen = 0.0
    for one, other in pairs(unit, trials(4000, least=120), seed=3):
        lost, beyond = np.abs(
            np.subtract(*(about(plan.origin, world).missing(plan.design, key="k") for world in (one, other)))
        )
        assert lost * figure.lost.step <= figure.lost.sensitivity
        assert beyond * figure.beyond.step <= figure.beyond.sensitivity
        seen = max(seen, lost * figure.lost.step / figure.lost.sensitivity)
    assert seen > 0.4, name


# Mutants: what the checks above must notice.


def _moved(change: Callable[[Any], Any], unit: RecordUnit, user: str | None = "who") -> float:
    """Return the largest move of utilities over what is claimed, if losses are computed otherwise."""
    first = planned([], unit, user)
    joint = change(first.design.joint(2.0))
    worst = 0.0
    for one, other in pairs(unit, 150):
        found = [joint.utilities(about(first.origin, world).losses(joint)) for world in (one, other)]
        worst = max(worst, *(float(abs(a - b)) for a, b in zip(*found, strict=True)))
    return worst


class _Without:
    """A joint choice that differs in one attribute."""

    def __init__(self, joint: Any, **other: Any) -> None:
        self._joint, self._other = joint, other

    def __getattr__(self, name: str) -> Any:
        return self._other[name] if name in self._other else getattr(self._joint, name)


def test_losses_without_a_cap_are_noticed() -> None:
    claimed = planned([], cdp.User(), "who").design.joint(2.0).choice.change
    assert _moved(lambda joint: joint, cdp.User()) <= claimed
    assert _moved(lambda joint: _Without(joint, cap=2**62), cdp.User()) > 2 * claimed


def test_the_votes_of_a_history_are_noticed_under_a_window() -> None:
    held = {"ann": (1.0, None, 100.0, 100.0), "bo": (100.0, 100.0, 100.0, 100.0)}
    world = [
        Record(person, int(CALENDAR.edges[day]), number, ("north",))
        for person, numbers in held.items()
        for day, number in enumerate(numbers)
        if number is not None
    ]
    without = [row for row in world if row.person == "bo" or row.number == 1.0]  # ann's last two days are one window
    moved = {}
    for unit in (cdp.Window(2), cdp.User()):
        plan = planned([], unit, "who")
        scale = plan.design.scale
        assert scale is not None
        votes = [scale_utilities(about(plan.origin, rows).sizes(scale)) for rows in (world, without)]
        moved[unit.whole_person] = max(abs(one - other) for one, other in zip(*votes, strict=True))
    assert moved[False] <= 2 * VOTE  # two periods of a person come or go
    assert moved[True] == pytest.approx(VOTE * 4 / 3, abs=3)  # a split vote turns from 1/3 for to 1 against
