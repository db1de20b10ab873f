"""Sensitivities of block totals, peaks and troughs, against every pair of small neighbouring tables."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import Bounds, Contribution, Event, RecordUnit, User, UserPeriod, Window
from chronodp.privacy.blocks import Blocking, block_extremes, block_totals

Series = NDArray[np.float64]

PERIODS = 4
STARTS = [0, 2]
BACKGROUNDS = np.array(list(itertools.product((0.0, 100.0), repeat=PERIODS)))
"""What other people hold: a hundred in a period makes it its block's peak, and any other period its trough."""


def held(clip: tuple[float, float], periods: int, where: range) -> list[Series]:
    """Everything that one person may hold: nothing, or a total inside the clip, in at most so many periods."""
    low, high = clip
    found = []
    for cells in itertools.product((None, low, high), repeat=len(where)):
        if sum(cell is not None for cell in cells) <= periods:
            series = np.zeros(PERIODS)
            series[where.start : where.stop] = [cell or 0.0 for cell in cells]
            found.append(series)
    return found


def pairs(unit: RecordUnit, clip: tuple[float, float], periods: int) -> Iterator[tuple[Series, Series]]:
    """What a unit holds on either side of neighbouring tables."""
    nothing = np.zeros(PERIODS)
    if isinstance(unit, User):
        stretches = [range(PERIODS)]
    elif isinstance(unit, UserPeriod):
        stretches = [range(2), range(2, 4)]
    elif isinstance(unit, Window):
        stretches = [range(start, start + unit.periods) for start in range(PERIODS - unit.periods + 1)]
    else:
        yield from _rows(unit, clip)
        return
    for stretch in stretches:
        mine = held(clip, periods, stretch)
        others = [nothing] if unit.relation == "add_remove" else mine
        yield from itertools.product(mine, others)


def _rows(unit: RecordUnit, clip: tuple[float, float]) -> Iterator[tuple[Series, Series]]:
    """One row turns a person's total in its period into any other, and may come from another period."""
    low, high = clip
    values = (0.0, low, high)
    for period in range(PERIODS):
        for before, after in itertools.product(values, repeat=2):
            first, second = np.zeros(PERIODS), np.zeros(PERIODS)
            first[period], second[period] = before, after
            yield first, second
            if unit.relation == "replace":
                for other in set(range(PERIODS)) - {period}:
                    for left, entered in itertools.product(values, repeat=2):
                        one, two = first.copy(), second.copy()
                        one[other], two[other] = left, entered
                        yield one, two


@functools.cache
def different_pairs(unit: RecordUnit, clip: tuple[float, float], periods: int) -> Series:
    found = {(*first.tolist(), *second.tolist()) for first, second in pairs(unit, clip, periods)}
    return np.array(sorted(found)).reshape(len(found), 2, PERIODS)


def farthest(statistic: str, unit: RecordUnit, clip: tuple[float, float], periods: int) -> tuple[float, float]:
    reduce = {"total": np.add, "peak": np.maximum, "trough": np.minimum}[statistic]
    most = (0.0, 0.0)
    every = different_pairs(unit, clip, periods)
    for few in np.array_split(every, -(-len(every) // 256)):  # each before each background, as many as a cache holds
        blocks = reduce.reduceat(BACKGROUNDS + few[:, :, None], STARTS, axis=3)
        change = np.abs(blocks[:, 0] - blocks[:, 1])
        l1, l2 = change.sum(axis=2).max(), np.sqrt((change**2).sum(axis=2)).max()
        most = (max(most[0], float(l1)), max(most[1], float(l2)))
    return most


UNITS: list[tuple[RecordUnit, int | None, int]] = [
    *((User(relation), periods, 2) for relation in ("add_remove", "replace") for periods in (1, 2, 3, 4)),
    *((UserPeriod("1D", relation), 2, 1) for relation in ("add_remove", "replace")),
    *(
        (Window(size, relation), None, touched)
        for relation in ("add_remove", "replace")
        for size, touched in ((1, 1), (2, 2), (3, 2))
    ),
    *((Event(relation), None, 2) for relation in ("add_remove", "replace")),
]


@pytest.mark.slow
def test_no_unit_moves_blocks_farther_than_is_said(subtests: pytest.Subtests) -> None:
    for (unit, max_periods, touched), clip in itertools.product(UNITS, [(0.0, 5.0), (-2.0, 3.0), (2.0, 5.0)]):
        with subtests.test(unit=unit, max_periods=max_periods, touched=touched, clip=clip):
            bounds, blocking = Bounds(PERIODS, max_periods), Blocking(blocks=2, longest=2, touched=touched)
            contribution = Contribution.total(clip=clip)
            periods = unit.periods if isinstance(unit, Window) else max_periods or 1
            for statistic in ("peak", "trough"):
                said, found = (
                    block_extremes(unit, bounds, contribution, blocking),
                    farthest(statistic, unit, clip, periods),
                )
                assert found[0] <= said.l1 * (1 + 1e-12)
                assert found[1] <= said.l2 * (1 + 1e-12)
                assert found == pytest.approx((said.l1, said.l2)), "attained"
            said, found = block_totals(unit, bounds, contribution, blocking), farthest("total", unit, clip, periods)
            assert found[0] <= said.l1 * (1 + 1e-12)
            assert found[1] <= said.l2 * (1 + 1e-12)
            if unit.relation == "add_remove":
                assert found == pytest.approx((said.l1, said.l2)), "attained"


@pytest.mark.parametrize(("groups", "max_groups", "held_cells"), [(3, 1, 4), (3, 2, 6), (2, 2, 4)])
def test_a_person_may_be_in_more_groups_of_a_block_than_of_a_period(
    groups: int, max_groups: int, held_cells: int
) -> None:
    bounds, blocking = Bounds(4, 4, groups=groups, max_groups=max_groups), Blocking(blocks=2, longest=2, touched=2)
    found = block_extremes(User(), bounds, Contribution.count(), blocking)
    # In two periods a person is in two groups, if each time in another: and so in both blocks.
    assert found.l1 == held_cells


def test_a_blocking_that_is_none_is_refused() -> None:
    for changes in ({"blocks": 0}, {"longest": 0}, {"touched": 3}):
        with pytest.raises(InvalidArgument, match=next(iter(changes))):
            Blocking(**({"blocks": 2, "longest": 2, "touched": 2} | changes))
