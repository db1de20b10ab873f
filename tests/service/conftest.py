"""A curator's house for every test that asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.service.town import House, house_of, write_policy

if TYPE_CHECKING:  # without a browser's library all other tests run
    from playwright.sync_api import Browser

    from tests.service.visiting import Reception, Visits


# For all tests of a file that leave no trace in it: whatever they ask is refused, or read only.
common_house = house_of(write_policy, scope="module")
house = house_of(write_policy, scope="function")


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
