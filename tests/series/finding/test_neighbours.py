"""What one unit does to votes, losses and the figure of what is missing: within what is claimed, and up to it."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.conftest import Trials, in_turn
from tests.engines.neighbours import neighbour, random_world
from tests.series.releases import over

import chronodp as cdp
from chronodp.engines import Record, Reference
from chronodp.privacy import Calendar
from chronodp.privacy.units import RecordUnit
from chronodp.selection import ChoiceDesign, design_choice, exponents_of, whole_gaps
from chronodp.series import FindPlan, Voters, voters_of
from chronodp.series.finding import FindDesign, Joint
from chronodp.series.finding.scale import median_utilities

CALENDAR = Calendar("1D", "2026-01-01", "2026-01-05")
GROUPED: dict[str, Any] = {"region": ["north", "south"]}
Relation = Any


RELATIONS: tuple[Relation, ...] = ("add_remove", "replace")
CASES: list[tuple[str, RecordUnit, str | None]] = [
    (f"{unit} of {user}", unit, user)
    for kind in RELATIONS
    for unit, user in (
        (cdp.User(kind), "who"),
        (cdp.UserPeriod("2D", kind), "who"),
        (cdp.Window(2, kind), "who"),
        (cdp.Event(kind), "who"),
        (cdp.Event(kind), None),
    )
]


def series(unit: RecordUnit, user: str | None, periods: Any) -> cdp.TimeSeries:
    limit = periods if unit.whole_person else None
    return over([], "2026-01-05", unit=unit, user=user, max_periods=limit, engine=Reference())


def planned(unit: RecordUnit, user: str | None, *, mean_of: Any = None, **terms: Any) -> FindPlan:
    asked = series(unit, user, cdp.Find()).sum("number", clip=cdp.Find())
    if mean_of is not None:
        limit = 1 if mean_of == "rows" else None
        asked = series(unit, user, cdp.Find()).mean("number", clip=(0, cdp.Find()), of=mean_of, at_most=limit)
    # A wide budget: in tables of a few rows noise would otherwise be all that counts.
    plan: Any = asked.by(max_groups=2, **GROUPED).plan(**({"epsilon": 400.0, "delta": 1e-3} | terms))
    return plan  # type: ignore[no-any-return]


def pairs(unit: RecordUnit, count: int, seed: int = 5) -> list[tuple[list[Record], list[Record]]]:
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        world = random_world(chance, CALENDAR, most=12)
        found.append((world, neighbour(chance, world, CALENDAR, unit)))
    return found


@functools.cache
def joint_of(design: FindDesign) -> Joint:
    """Return the choice of bounds after a median of 1 and an end of 4, which keeps what it computes of itself."""
    return design.joint(0, 2)


def choices(plan: FindPlan, world: Sequence[Record]) -> list[tuple[ChoiceDesign, list[int]]]:
    """Return each choice with its utilities: the median, the upper end above one of 1, and bounds after that."""
    scale, joint, origin = plan.design.scale, joint_of(plan.design), about(plan.origin, world)
    counts = origin.sizes(scale)
    medians = counts.above[2 : 2 + len(scale.first)]
    one = scale.first.index(0)
    above = counts.above[one : one + len(scale.tail.candidates)]
    return [
        (scale.median, median_utilities(medians, counts.voters)),
        (scale.tail, scale.tail_utilities(above)),
        (joint.choice, joint.utilities(origin.losses(joint))),
    ]


def about(origin: Any, world: Sequence[Record]) -> Any:
    """Return an origin of the same question about other records."""
    return replace(origin, data=world)


def farthest(plan: FindPlan, unit: RecordUnit, count: int, seed: int = 5) -> list[float]:
    """Hold every move of utilities against what is claimed, and return the largest of each choice over it."""
    seen = [0.0] * 3
    for one, other in pairs(unit, count, seed):
        for number, ((choice, before), (_, after)) in enumerate(
            zip(choices(plan, one), choices(plan, other), strict=True)
        ):
            change = [new - old for new, old in zip(after, before, strict=True)]
            most = max(map(abs, change))
            assert most <= choice.change
            if choice.monotone:
                assert min(change) >= 0 or max(change) <= 0
            _check_range(choice, before, after)
            seen[number] = max(seen[number], most / choice.change)
    return seen


@pytest.mark.slow
def test_one_unit_moves_utilities_as_far_as_claimed(trials: Trials, subtests: pytest.Subtests) -> None:
    for name, unit, user in CASES:
        with subtests.test(name=name):
            seen = farthest(planned(unit, user), unit, trials(4000, least=120))
            # What is claimed is no more than what some unit does; random tables this small come near it.
            assert seen[0] >= 0.5
            assert seen[1] == 1.0
            assert seen[2] >= 0.25
    for name, unit, user, mean_of in in_turn(CASES, ["rows", "people", "totals"]):
        with subtests.test(name=name, mean_of=mean_of):
            plan = planned(unit, user, mean_of=mean_of)
            assert max(farthest(plan, unit, trials(1200, least=60), seed=8)) >= 0.5


def test_one_unit_moves_utilities_of_a_typical_size_as_far_as_claimed(
    trials: Trials, subtests: pytest.Subtests
) -> None:
    for name, unit, user, of in in_turn(CASES, ["rows", "people"]):
        with subtests.test(name=name, unit=unit, user=user, of=of):
            asked = series(unit, user, 2).histogram("number", edges=cdp.Find(), of=of)
            plan: Any = asked.by(max_groups=2, **GROUPED).plan(epsilon=400.0)
            typical, seen = plan.design.edges, 0.0
            for one, other in pairs(unit, trials(1200, least=60), seed=9):
                counts = [about(plan.origin, world).sizes(typical) for world in (one, other)]
                before, after = (median_utilities(found.above, found.voters) for found in counts)
                most = max(abs(new - old) for new, old in zip(after, before, strict=True))
                assert most <= typical.median.change, name
                _check_range(typical.median, before, after)
                seen = max(seen, most / typical.median.change)
            assert seen >= 0.5, name


class _MeansOfHistories(Reference):
    """Mutant: of each cell, the share of a person's rows of all days."""

    def sizes(self, source: Any, asked: Any) -> Any:
        rows = [one for one in source if one.person is not None]
        counts = {one.person: sum(other.person == one.person for other in rows) for one in rows}
        shared = [replace(one, number=one.number and one.number / counts[one.person]) for one in rows]
        return super().sizes(shared, replace(asked, means=False))


def test_means_over_rows_of_all_days_are_noticed_under_a_day() -> None:
    plan = planned(cdp.UserPeriod("1D"), "who", mean_of="rows")
    days = [int(edge) for edge in CALENDAR.edges[:4]]
    quiet = [Record("ann", day, 1.0, ("north",)) for day in days[1:]]
    busy = [*quiet, *(Record("ann", days[0], 1.0, ("north",)) for _ in range(20))]
    worlds = [replace(about(plan.origin, world), engine=_MeansOfHistories()) for world in (quiet, busy)]
    one, other = (
        median_utilities(counts.above, counts.voters) for counts in (w.sizes(plan.design.scale) for w in worlds)
    )
    most = max(abs(new - old) for new, old in zip(one, other, strict=True))
    assert most > plan.design.scale.median.change  # one busy day moves all others' votes
    sound = [about(plan.origin, world).sizes(plan.design.scale) for world in (quiet, busy)]
    one, other = (median_utilities(counts.above, counts.voters) for counts in sound)
    assert max(abs(new - old) for new, old in zip(one, other, strict=True)) <= plan.design.scale.median.change


def scaled(unit: RecordUnit, norm: Any) -> Any:
    """Ask for a sum whose whole series are bounded by one length."""
    return series(unit, "who", None).sum("number", bound=cdp.Norm(norm)).by(**GROUPED)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
def test_one_person_moves_utilities_of_a_length_as_far_as_claimed(relation: Relation, trials: Trials) -> None:
    unit = cdp.User(relation=relation)
    plan = scaled(unit, cdp.Find()).plan(epsilon=400.0, delta=1e-3)
    assert max(farthest(plan, unit, trials(4000, least=120))) == 1.0
    assert joint_of(plan.design).choice.monotone == (relation == "add_remove")


def _check_range(choice: ChoiceDesign, before: list[int], after: list[int]) -> None:
    """The log-likelihood ratios of all candidates span at most epsilon."""
    one, other = (exponents_of(choice, whole_gaps(choice, utilities)) for utilities in (before, after))
    assert np.ptp(one - other) <= choice.epsilon * (1 + 1e-9), "the ratios span more than epsilon"


def test_one_unit_moves_the_figure_as_far_as_claimed(trials: Trials, subtests: pytest.Subtests) -> None:
    asked = [(*case, series(case[1], case[2], 2).sum("number", clip=(-0.1, 0.2)).by(**GROUPED)) for case in CASES]
    people: list[RecordUnit] = [cdp.User(), cdp.User("replace")]
    # Of a length no kept number is beyond the top: what is missing has the sign of what was there.
    asked += [(f"length {unit.relation}", unit, "who", scaled(unit, 0.2)) for unit in people]
    for name, unit, _, query in asked:
        with subtests.test(name=name):
            plan: Any = query.plan(epsilon=2.0, delta=1e-3, missing=cdp.Missing())
            assert plan.design.missing.top >= 0.2
            (of_lost, of_beyond), seen = plan.design.missing.noises, 0.0
            for pair in pairs(unit, trials(4000, least=120), seed=3):
                figures = (about(plan.origin, world).missing(plan.design, key="k") for world in pair)
                lost, beyond = np.abs(np.subtract(*figures))
                assert lost * of_lost.step <= of_lost.sensitivity
                assert beyond * of_beyond.step <= of_beyond.sensitivity
                seen = max(seen, lost * of_lost.step / of_lost.sensitivity)
            assert seen > 0.4


# Mutants: what the checks above must notice.


class _Without:
    """A joint choice that differs in one attribute."""

    def __init__(self, joint: Any, **other: Any) -> None:
        self._joint, self._other = joint, other

    def __getattr__(self, name: str) -> Any:
        return self._other[name] if name in self._other else getattr(self._joint, name)


def _moved(joint: Any, plan: FindPlan, *, enough: float = math.inf) -> float:
    """Return the largest move of utilities over what is claimed, or the first above ``enough``."""
    worst, claimed = 0.0, plan.design.joint(0, 2).choice.change
    for one, other in pairs(plan.design.table.unit, 150):
        found = [joint.utilities(about(plan.origin, world).losses(joint)) for world in (one, other)]
        worst = max(worst, *(abs(a - b) / claimed for a, b in zip(*found, strict=True)))
        if worst > enough:
            break
    return worst


@pytest.mark.slow
def test_losses_without_a_cap_or_with_that_of_the_candidate_are_noticed() -> None:
    plan = planned(cdp.User(), "who")
    joint = plan.design.joint(0, 2)
    assert _moved(joint, plan) <= 1
    assert _moved(_Without(joint, cap=2**50, top=2**51), plan, enough=2) > 2
    wider = _Without(joint, cap=joint.cap * 4, top=joint.top * 4)  # what the largest candidates would have
    assert _moved(wider, plan, enough=1) > 1


def test_the_monotone_factor_is_noticed_under_replace() -> None:
    plan = planned(cdp.User(relation="replace"), "who", epsilon=400_000.0)
    joint = plan.design.joint(0, 2)
    cheap = design_choice(
        joint.choice.mechanism, joint.choice.candidates, unit=cdp.User(), change=joint.choice.change, monotone=True,
        epsilon=joint.choice.epsilon,
    )  # fmt: skip
    # A person with a little every day, whom few periods cut, is replaced by one with much on one day, whom a small
    # clip cuts: one loss falls by the cap while another rises by it.
    daily = [Record("ann", int(CALENDAR.edges[day]), 1.0, ("north",)) for day in range(4)]
    at_once = [Record("ann", int(CALENDAR.edges[0]), 4.0, ("north",))]
    before, after = (choices(plan, world)[2][1] for world in (daily, at_once))
    _check_range(joint.choice, before, after)
    with pytest.raises(AssertionError, match="span"):
        _check_range(cheap, before, after)


def test_means_of_a_history_are_noticed_under_a_window() -> None:
    held = {"ann": (1.0, None, 100.0, 100.0), "bo": (100.0, 100.0, 100.0, 100.0)}
    world = [
        Record(person, int(CALENDAR.edges[day]), number, ("north",))
        for person, numbers in held.items()
        for day, number in enumerate(numbers)
        if number is not None
    ]
    without = [row for row in world if row.person == "bo" or row.number == 1.0]  # ann's last two days are one window
    plan = planned(cdp.User(), "who")  # counts people, where a window may be a part of one
    before, after = (choices(plan, rows)[0][1] for rows in (world, without))
    moved = max(abs(old - new) for old, new in zip(before, after, strict=True))
    assert moved == 2  # ann is altered: twice what a voter that comes or goes may move
    assert voters_of(planned(cdp.Window(2), "who").design.table) == Voters(False, 2, False)
