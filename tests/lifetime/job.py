"""A process that works on a lifetime until it dies: ``python -m tests.lifetime.job ADDRESS FOLDER WORK POINT COUNT``.

It kills itself, with SIGKILL, the COUNT-th time it reaches POINT; never if COUNT is 0. WORK is "months" or "events".
What it is told it writes to a file, line by line.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.killing import die_at
from tests.lifetime.plain import MONTHS, Life


def main() -> None:
    address, folder, work, point, count = sys.argv[1:]
    with (
        Life(address, Path(folder), reached=die_at(point, int(count))) as life,
        (Path(folder) / "told.txt").open("a", encoding="utf-8", buffering=1) as file,
    ):
        life.work(events=work == "events")
        for number in range(len(MONTHS)):
            file.write(f"{number} {life.issue(number).release}\n")


if __name__ == "__main__":
    main()
