"""A window that is due waits for no import, and garbage is collected again when messages are read."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from chronodp.live.warming import collecting_later
from tests.cases import raising

OPENED = """
import sys
from pathlib import Path
from chronodp import User
from chronodp.live import Limits, Windows
from tests.live.examples import Bench, at, write

limits = Limits(User(), Windows("1s", "2026-01-01", count=3), clip=(0.0, 5.0), max_periods=3)
bench = Bench(Path(sys.argv[1]), limits, alert={"above": 2.0, "max_alerts": 1, "epsilon": 1e4})
write(bench.path, {"at": at(limits, 0), "who": "ann", "value": 1.0})
live, state, ledger = bench.start()
opened = set(sys.modules)
bench.clock.moment = limits.windows.closes(1)
live.run(windows=2)
print(*sorted(set(sys.modules) - opened))
"""


@pytest.mark.slow
def test_the_first_release_imports_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENED, str(tmp_path)]  # a fresh interpreter: what is loaded is the question
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert done.stdout.split() == []


def test_collecting_is_as_it_was_whatever_happens() -> None:
    for enabled in [True, False]:
        before = gc.isenabled()
        try:
            (gc.enable if enabled else gc.disable)()
            with raising(KeyboardInterrupt, case=enabled):
                interrupted()
            assert gc.isenabled() == enabled, enabled
        finally:
            (gc.enable if before else gc.disable)()


@collecting_later()
def interrupted() -> None:
    assert not gc.isenabled()
    raise KeyboardInterrupt
