"""A process that blurs a stream until it dies: ``python -m tests.temporal.victim FOLDER POINT COUNT``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import chronodp as cdp
from chronodp.errors import StreamConflict
from chronodp.privacy import Swap
from chronodp.temporal import BlockShuffle, BlurredStream
from tests.killing import die_at


def main() -> None:
    folder, point, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with cdp.Ledger(folder / "budget.db", reached=die_at(point, count)) as ledger:
        ledger.open("watch", unit=Swap(3), epsilon=2.0)
        try:
            live = BlurredStream.resume(ledger, "pulse")
        except StreamConflict:
            live = BlurredStream(BlockShuffle(3, 1.0), ledger=ledger, dataset="watch", name="pulse")
        with (folder / "told.txt").open("a", encoding="utf-8", buffering=1) as file:
            for _ in range(100):
                made = live.step(live.period)
                if made.values:
                    file.write(json.dumps([made.first, made.values]) + "\n")


if __name__ == "__main__":
    main()
