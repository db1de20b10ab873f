"""A curator's house for every test that asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.service.town import House, open_house, write_policy

if TYPE_CHECKING:  # without a browser's library all other tests run
    from playwright.sync_api import Browser

    from tests.service.visiting import Reception, Visits


@pytest.fixture(scope="module")
def common_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Open one for all tests of a file that leave no trace in it: whatever they ask is refused, or read only."""
    folder = tmp_path_factory.mktemp("house")
    with open_house(write_policy(folder), str(folder / "budget.db")) as opened:
        yield opened


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(write_policy(tmp_path), str(tmp_path / "budget.db")) as opened:
        yield opened


@pytest.fixture(scope="module")
def guests(browser: Browser, house: House) -> Iterator[Reception]:
    """Open a reception; the house is one that a file opens for all its tests."""
    from tests.service.visiting import reception

    with reception(browser, house) as opened:
        yield opened


@pytest.fixture
def visit(guests: Reception) -> Iterator[Visits]:
    """Let people onto the page; at the end, check that nothing strayed and nothing was complained of."""
    yield guests.begin
    guests.leave()
