"""Kill -9 in every gap: nothing told or opened without the one debit, and no second draw."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from tests import forkserver

import chronodp as cdp
from chronodp.errors import StreamConflict

pytestmark = pytest.mark.kill

PAID = {"debit written": 0, "debit committed": 1, "noise drawn": 1, "release written": 1, "release committed": 1}


def run(folder: Path, point: str) -> tuple[int, str]:
    done = forkserver.run("-m", "tests.dataset.joint.victim", str(folder), point)
    return done.returncode, done.stderr


@pytest.mark.parametrize("point", PAID)
def test_nothing_is_told_or_opened_that_is_not_paid_for(point: str, tmp_path: Path) -> None:
    died, complaint = run(tmp_path, point)
    assert died == -signal.SIGKILL, complaint
    told = tmp_path / "told.txt"
    assert not told.exists()
    threshold = None
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        assert len(ledger.history("meters")) == PAID[point]
        if PAID[point]:
            threshold = cdp.Alert.resume(ledger, "june/alarm")._newest.threshold
        else:
            with pytest.raises(StreamConflict):
                cdp.Alert.resume(ledger, "june/alarm")
    again, complaint = run(tmp_path, "never")
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        assert len(ledger.history("meters")) == 1
        assert (again == 0) is told.exists()
        if point in ("debit committed", "noise drawn", "release written"):
            assert "debited and never released" in complaint
        else:
            assert again == 0
        if PAID[point]:
            assert cdp.Alert.resume(ledger, "june/alarm")._newest.threshold == threshold
