from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.privacy.units import EVERY_UNIT

from chronodp.errors import InvalidArgument
from chronodp.privacy import Event, History, Swap, Unit, User, UserPeriod, Window


def test_says_what_it_protects_and_what_not(subtests: pytest.Subtests) -> None:
    for unit in EVERY_UNIT:
        with subtests.test(unit=unit):
            assert unit.protects
            assert unit.does_not_protect
            assert unit.protects != unit.does_not_protect
            assert str(unit)[0].islower()


def test_refuses_what_is_no_length() -> None:
    wrong: Any
    for wrong in ("", "1", "D", "0h", "-1h", "1.5h", "1d", "1 D", "9999999s", None, 24):
        with pytest.raises(InvalidArgument, match="every must be a period such as"):
            UserPeriod(wrong)
    for wrong in (0, -1, 1.5, True, "3", float("nan")):
        with pytest.raises(InvalidArgument, match="periods must be a whole number"):
            Window(wrong)


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
