from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.privacy.units import EVERY_UNIT

from chronodp.errors import InvalidArgument
from chronodp.privacy import Event, History, Swap, Unit, User, UserPeriod, Window


@pytest.mark.parametrize("unit", EVERY_UNIT, ids=str)
def test_says_what_it_protects_and_what_not(unit: Unit) -> None:
    assert unit.protects
    assert unit.does_not_protect
    assert unit.protects != unit.does_not_protect
    assert str(unit)[0].islower()


def test_relation_is_part_of_a_unit() -> None:
    assert User() != User(relation="replace")
    assert User() == User(relation="add_remove")
    assert str(User()) != str(User(relation="replace"))


@pytest.mark.parametrize("every", ["", "1", "D", "0h", "-1h", "1.5h", "1d", "1 D", "9999999s", None, 24])
def test_refuses_what_is_no_calendar_period(every: object) -> None:
    with pytest.raises(InvalidArgument, match="every must be a period such as"):
        UserPeriod(every)  # type: ignore[arg-type]


@pytest.mark.parametrize("periods", [0, -1, 1.5, True, "3", float("nan")])
def test_refuses_windows_of_no_length(periods: object) -> None:
    with pytest.raises(InvalidArgument, match="periods must be a whole number"):
        Window(periods)  # type: ignore[arg-type]


def test_refuses_unknown_relations_and_blocks_of_one() -> None:
    wrong: Any = "remove"
    builds: list[Callable[[], Unit]] = [
        lambda: Event(wrong),
        lambda: User(wrong),
        lambda: Window(3, wrong),
        lambda: UserPeriod("1D", wrong),
    ]
    for build in builds:
        with pytest.raises(InvalidArgument, match="relation must be 'add_remove' or 'replace'"):
            build()
    with pytest.raises(InvalidArgument, match="block"):
        Swap(1)
    with pytest.raises(InvalidArgument, match="changes must be 'any', 'same' or 'crossing'"):
        History("none")  # type: ignore[arg-type]
