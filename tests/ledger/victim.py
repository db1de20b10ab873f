"""A process that works on a ledger until it dies: ``python -m tests.ledger.victim ADDRESS FOLDER JOB POINT COUNT``.

It kills itself, with SIGKILL, the COUNT-th time it reaches POINT. Whatever it announces it writes to a file, line by
line, after the ledger said it may.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import numpy as np

from chronodp import User
from chronodp.errors import RequestConflict, StreamConflict
from chronodp.ledger import FileWitness, Ledger, Staged, StreamState, Written, pack
from chronodp.privacy import Certificate, PureCost, canonical
from chronodp.randomness import secure
from tests.killing import die_at
from tests.ledger.examples import CERTIFICATE, fulfil

PART_CELLS = 2**17


def main() -> None:
    address, folder, job, point, count = sys.argv[1:]

    keys, witness = Path(folder) / "keys", FileWitness(Path(folder) / "witness.json")
    with (
        Ledger(address, keys=keys, witness=witness, reached=die_at(point, int(count))) as ledger,
        announcements(folder, job) as file,
    ):
        ledger.open("meters", unit=User(), epsilon=10_000.0)
        if job == "requests":
            work_on_requests(ledger, file)
        elif job == "staged":
            work_on_choices(ledger, file)
        elif job == "parts":
            work_on_parts(ledger, file)
        elif job == "careless":
            announce_before_paying(ledger, file)
        elif point.startswith("stream"):
            open_a_stream(ledger, f"{os.getpid()}")
        else:
            work_on_a_stream(ledger, file)


def announcements(folder: str, job: str) -> TextIO:
    return (Path(folder) / f"{job}.txt").open("a", encoding="utf-8", buffering=1)


def work_on_requests(ledger: Ledger, file: TextIO) -> None:
    entropy = secure()

    def produce() -> tuple[str, Certificate]:
        return str(int(entropy.laplace(2.0**20, 1)[0])), CERTIFICATE

    for number in range(8):
        request = f"{os.getpid()}-{number}"
        made = fulfil(ledger, request, produce=produce)
        file.write(f"{request} {made.release}\n")


def work_on_parts(ledger: Ledger, file: TextIO) -> None:
    """Release three megabytes of numbers beside a text, in three parts: more than SQLite keeps in memory."""
    chance = np.random.default_rng(os.getpid())

    def produce() -> tuple[Written, Certificate]:
        described, parts = zip(*(pack([chance.integers(-(2**62), 2**62, PART_CELLS)]) for _ in range(3)), strict=True)
        text = canonical({"kind": "release", "noisy": list(described)})
        return Written(text, tuple(part for some in parts for part in some)), CERTIFICATE

    for number in range(8):
        request = f"{os.getpid()}-{number}"
        made = fulfil(ledger, request, produce=produce)
        file.write(f"{request} {made.release.replace(' ', '_')}\n")


def work_on_choices(ledger: Ledger, file: TextIO) -> None:
    """Go on with requests that others left, as far as they can be gone on with."""
    entropy = secure()

    def draw() -> str:
        return str(int(entropy.laplace(2.0**20, 1)[0]))

    staged = Staged((lambda _: draw, lambda _: draw), lambda chosen: lambda: (",".join((*chosen, draw())), CERTIFICATE))
    for number in range(10_000):
        with suppress(RequestConflict):
            made = fulfil(ledger, f"{number}", produce=staged)
            if not made.repeated:
                file.write(f"{number} {made.release}\n")


def announce_before_paying(ledger: Ledger, file: TextIO) -> None:
    """The mistake that the check must notice: noise is drawn and told before the debit is committed."""
    release = str(int(secure().laplace(2.0**20, 1)[0]))
    file.write(f"careless {release}\n")
    fulfil(ledger, "careless", produce=lambda: (release, CERTIFICATE))


def open_a_stream(ledger: Ledger, name: str) -> StreamState:
    return ledger.open_stream("meters", name, cost=PureCost(1.0), unit=User(), plan="plan", state=b"0")


def work_on_a_stream(ledger: Ledger, file: TextIO) -> None:
    entropy = secure()
    try:
        state = ledger.resume_stream("live", plan="plan")
    except StreamConflict:
        state = open_a_stream(ledger, "live")
    for _ in range(8):
        values = [str(value) for value in entropy.laplace(2.0**20, 2).tolist()]
        before = state.step
        state = ledger.advance_stream(state, values=values, state=str(before).encode())
        for offset, value in enumerate(values, start=1):
            file.write(f"{before + offset} {value}\n")


if __name__ == "__main__":
    main()
