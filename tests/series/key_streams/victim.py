"""A stream of keys until it dies: ``python -m tests.series.key_streams.victim ADDRESS FOLDER POINT COUNT``.

It kills itself, with SIGKILL, the COUNT-th time it reaches POINT. Whatever it announces it writes to a file, line by
line, after the stream said it may.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from tests.killing import die_at

from chronodp import Ledger
from chronodp.series.key_streams import KeyAnswer, KeyStream

HORIZON, LOOKS = 40, 20


def pairs_of(step: int) -> list[tuple[str, str]]:
    """Return the records of a step: the same whoever asks."""
    chance = np.random.default_rng(step)
    return [(f"p{chance.integers(400)}", f"/{chance.geometric(0.1)}") for _ in range(60)]


def as_line(answer: KeyAnswer) -> str:
    """Return all that an answer tells, to the last digit."""
    past = {key: path.tolist() for key, path in answer.past.items()}
    return json.dumps([answer.period, answer.look, answer.found, answer.values, past])


def main() -> None:
    address, folder, point, count = sys.argv[1:]
    with (
        Ledger(address, keys=Path(folder) / "keys", reached=die_at(point, int(count))) as ledger,
        (Path(folder) / "told.txt").open("a", encoding="utf-8", buffering=1) as file,
    ):
        live = KeyStream.resume(ledger, "pages")
        while not live.finished:
            answer = live.step(pairs_of(live.period))
            file.write(as_line(answer) + "\n")


if __name__ == "__main__":
    main()
