"""A ledger for every test of releases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import chronodp as cdp


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("meters", unit=cdp.User(), epsilon=100.0, delta=1e-3)
        opened.open("panel", unit=cdp.User("replace"), epsilon=100.0, delta=1e-3)
        yield opened
