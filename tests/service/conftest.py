"""A curator's house for every test that asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.town import House, open_house, write_policy


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(write_policy(tmp_path), str(tmp_path / "budget.db")) as opened:
        yield opened
