"""Through how many files one step of a stream goes: as few as there are things to do, so that it can be followed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import chronodp as cdp

ROOT = Path(cdp.__file__).parent
MOST = 20


def test_a_step_crosses_few_files(tmp_path: Path) -> None:
    crossed: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        del argument
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            crossed.add(path.relative_to(ROOT).as_posix())

    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("visits", unit=cdp.Event(), epsilon=1.0)
        live = cdp.Stream(
            cdp.RunningTotal(),
            horizon=1000,
            change=1.0,
            unit=cdp.Event(),
            epsilon=1.0,
            ledger=ledger,
            dataset="visits",
            name="door",
        )
        live.step(1.0)  # the first one also makes variates ahead, and checks how they are made
        sys.setprofile(note)
        try:
            live.step(2.0)
        finally:
            sys.setprofile(None)
    assert len(crossed) <= MOST, sorted(crossed)
