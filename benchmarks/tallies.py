"""People who have lives: what their tally takes on disk."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Topic, alone, peak, show
from benchmarks.lives import LIFE, SHARE, SIZES, Run, make_tally

_SOME = 2**18  # people of a stretch


def measure() -> Topic:
    topic = Topic(
        "People who have lives: the tally on disk",
        "python -m benchmarks.tallies",
        ("people known", "people this month", "act", "seconds", "of the processor", "MB on disk", "peak GiB"),
    )
    for known, people in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            alone(_begin, folder, known, people)
            for name in ACTS:
                run = alone(_act, name, folder, people)
                size = run.counted / 10**6 if run.counted else ""
                topic.rows.append((known, people, name, run.seconds, run.processor, size, run.peak))
    topic.notes = [
        f"a life of {LIFE} periods; half of the month's people are known to the tally",
        "verify: all of it read and checked against the head that a ledger has; used: what everyone this month has "
        "used, 2^18 people at a time; write: the month's segment, sealed, synced and given its name; compact: both "
        "made one base",
        "on disk: what is read, or what is written",
        "each act in a process of its own, imports left out; all but verify begin with a tally that is verified, which "
        "is in their peak and not in their seconds. The files are in the folder for temporary ones",
    ]
    return topic


def _on_disk(folder: str) -> Any:
    from chronodp.ledger import Keys
    from chronodp.lifetime.tally import LifeTally

    keys = Keys(signing=bytes(32), sealing=bytes(range(32)))
    return LifeTally(Path(folder) / "tally", keys, "meters", "load", LIFE * SHARE)


def _begin(folder: str, known: int, people: int) -> None:
    """Make a tally with a base of all who are known."""
    from chronodp.lifetime.segments import BEGINNING

    tally = _on_disk(folder)
    tally.make()
    tally.verify(0, BEGINNING)
    _keep_head(folder, 1, tally.write(1, make_tally(known, people).entries))
    tally.announce(1)
    tally.compact()


def _keep_head(folder: str, step: int, head: bytes) -> None:
    """Keep what the ledger would."""
    (Path(folder) / "head").write_text(f"{step} {head.hex()}", encoding="utf-8")


def _verify(tally: Any, folder: str) -> int:
    step, head = (Path(folder) / "head").read_text(encoding="utf-8").split()
    tally.verify(int(step), bytes.fromhex(head))
    return _size(folder)


def _size(folder: str) -> int:
    """Return the bytes of all files of a tally."""
    return sum(file.stat().st_size for file in (Path(folder) / "tally").iterdir())


def _payers(tally: Any, people: int) -> Any:
    """Return what a month's people pay, half of whom are known."""
    from chronodp.lifetime.entries import Entries

    held = tally.people()
    chance = np.random.default_rng(5)
    high, low = chance.integers(0, 2**64, (2, people), np.uint64)
    half = people // 2
    known_too = chance.permutation(len(held))[:half]
    high[:half], low[:half] = held.high[known_too], held.low[known_too]
    order = np.argsort(high)
    return Entries(high[order], low[order], np.full(people, SHARE))


def _verifying(tally: Any, folder: str, people: int) -> Callable[[], int]:
    del people
    return lambda: _verify(tally, folder)


def _write(tally: Any, folder: str, people: int) -> Callable[[], int]:
    _verify(tally, folder)
    month = _payers(tally, people)

    def write() -> int:
        before = _size(folder)
        _keep_head(folder, 2, tally.write(2, month))
        tally.announce(2)
        return _size(folder) - before

    return write


def _used(tally: Any, folder: str, people: int) -> Callable[[], int]:
    _verify(tally, folder)
    month = _payers(tally, people)
    order = np.random.default_rng(6).permutation(people)
    high, low = month.high[order], month.low[order]

    def used() -> int:
        for first in range(0, people, _SOME):
            tally.used(high[first : first + _SOME], low[first : first + _SOME])
        return 0

    return used


def _compact(tally: Any, folder: str, people: int) -> Callable[[], int]:
    del people
    _verify(tally, folder)

    def compact() -> int:
        tally.compact()
        return _size(folder)

    return compact


ACTS: dict[str, Callable[[Any, str, int], Callable[[], int]]] = {
    "verify, a base": _verifying,
    "used": _used,
    "write": _write,
    "verify, a base and a segment": _verifying,
    "compact": _compact,
}


def _act(name: str, folder: str, people: int) -> Run:
    work = ACTS[name](_on_disk(folder), folder, people)
    start, busy = time.perf_counter(), time.process_time()
    size = work()
    return Run(time.perf_counter() - start, time.process_time() - busy, peak(), size)


if __name__ == "__main__":
    show(measure)
