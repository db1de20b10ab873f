"""The ledger that a file of tests pays from, and processes that end in the middle of a release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import chronodp as cdp


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[cdp.Ledger]:
    """Open the budget that the file names."""
    with cdp.Ledger(tmp_path / "budget.db") as store:
        store.open(**request.module.BUDGET)
        yield store


class Death(BaseException):
    """A process that is gone."""


def dying(*points: str, times: int = 1) -> Callable[[str], None]:
    """Return what a ledger calls at each point, and what ends it there when it comes by for the last of these times."""
    left = times

    def reached(name: str) -> None:
        nonlocal left
        left -= name in points
        if left == 0 and name in points:
            raise Death

    return reached
