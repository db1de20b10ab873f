"""Kill -9 in every gap, and three jobs at once: the numbers and the tally are those of a run that nobody disturbed."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from chronodp.ledger import verify_chain
from tests import forkserver
from tests.lifetime.plain import EXAMPLE, MONTHS, Life, Result

GAPS = (
    *("tally read", "segment begun", "segment half written", "segment synced", "segment written", "noise drawn"),
    *("issue written", "issue committed", "issue marked", "announced"),
)
MERGING = ("base begun", "base half written", "base synced", "base written", "old base removed", "old segment removed")
EVENTS = ("segment written", "step written", "step committed", "step marked", "announced")


def job(address: str, folder: Path, work: str, point: str = "never", count: int = 0) -> int:
    done = forkserver.run("-m", "tests.lifetime.job", address, str(folder), work, point, str(count))
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def told(folder: Path) -> dict[int, set[str]]:
    """Return what jobs were told of each month."""
    lines = (folder / "told.txt").read_text(encoding="utf-8").splitlines()
    found: dict[int, set[str]] = {}
    for number, text in (line.split(" ", 1) for line in lines):
        found.setdefault(int(number), set()).add(text)
    return found


def check(address: str, folder: Path, expected: Result) -> None:
    with Life(address, folder) as life:
        assert life.result() == expected
        chain = life.ledger.chain("meters")
        assert len(verify_chain(chain, life.ledger.public_key)) == len(MONTHS)
        assert life.ledger.status("meters").charges == 1
        assert life.ledger.status("meters").unreleased == ()
        for number, texts in told(folder).items():
            stored = life.ledger.stored.release_of("meters", f"month {number}")
            assert stored is not None
            assert texts == {stored.text}  # nobody was ever told anything else


def undisturbed(folder: Path, *, events: bool) -> Result:
    folder.mkdir()
    with Life(str(folder / "budget.db"), folder) as life:
        life.work(events=events)
        return life.result()


def test_the_golden_example(tmp_path: Path) -> None:
    sums, used, steps = undisturbed(tmp_path / "quiet", events=False)
    assert sums == EXAMPLE["sums"]
    assert used == EXAMPLE["used"]
    assert steps == len(MONTHS)


@pytest.mark.kill
@pytest.mark.parametrize("work", ["months", "events"])
def test_deaths_change_nothing(address: str, tmp_path: Path, work: str) -> None:
    expected = undisturbed(tmp_path / "quiet", events=work == "events")
    gaps = (*GAPS, *MERGING) if work == "months" else EVENTS
    for point in gaps:
        assert job(address, tmp_path, work, point, 1) == -signal.SIGKILL
    assert job(address, tmp_path, work) == 0
    check(address, tmp_path, expected)


@pytest.mark.kill
@pytest.mark.stated  # the test before dies once in each gap
@pytest.mark.parametrize("gap", [*GAPS, *MERGING])
def test_a_death_in_each_gap_of_each_month(address: str, tmp_path: Path, gap: str) -> None:
    expected = undisturbed(tmp_path / "quiet", events=False)
    for count in range(1, 7):
        job(address, tmp_path, "months", gap, count)
    assert job(address, tmp_path, "months") == 0
    check(address, tmp_path, expected)


@pytest.mark.kill
@pytest.mark.parametrize("work", ["months", "events"])
def test_three_jobs_at_once(address: str, tmp_path: Path, work: str) -> None:
    expected = undisturbed(tmp_path / "quiet", events=work == "events")
    with Life(address, tmp_path) as life:
        life.open()
    words = ("-m", "tests.lifetime.job", address, str(tmp_path), work, "never", "0")
    programs = [forkserver.start(*words) for _ in range(3)]
    for program in programs:
        _, errors = program.communicate()
        assert program.wait() == 0, errors
    check(address, tmp_path, expected)
