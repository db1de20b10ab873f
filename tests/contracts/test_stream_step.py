"""Through how many files one step of a stream goes: as few as there are things to do, so that it can be followed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

import chronodp as cdp
from chronodp.series import CausalFilter

ROOT = Path(cdp.__file__).parent
MOST = 12


@pytest.mark.parametrize(
    ("workload", "delta"),
    [(cdp.RunningTotal(), 0.0), (cdp.RunningTotal(), 1e-6), (cdp.EachPeriod(), 0.0)],
    ids=["tree", "buffers", "independent"],
)
def test_a_step_crosses_few_files(workload: CausalFilter, delta: float, tmp_path: Path) -> None:
    crossed: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        del argument
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            crossed.add(path.relative_to(ROOT).as_posix())

    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("visits", unit=cdp.Event(), epsilon=1.0, delta=delta)
        live = cdp.Stream(
            workload,
            horizon=1000,
            change=1.0,
            unit=cdp.Event(),
            epsilon=1.0,
            delta=delta,
            ledger=ledger,
            dataset="visits",
            name="door",
        )
        live.step(1.0)  # the first one also makes variates and intervals ahead, and checks how they are made
        sys.setprofile(note)
        try:
            live.step(2.0)
        finally:
            sys.setprofile(None)
    assert len(crossed) <= MOST, sorted(crossed)
