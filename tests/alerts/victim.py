"""A process that watches until it dies: ``python -m tests.alerts.victim FOLDER POINT COUNT``.

It kills itself, with SIGKILL, the COUNT-th time it reaches POINT. Each alert is written to a file after it was told.
"""

from __future__ import annotations

import sys
from pathlib import Path

import chronodp as cdp
from chronodp.errors import StreamConflict
from tests.killing import die_at

MAX_ALERTS = 6


def main() -> None:
    folder, point, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with cdp.Ledger(folder / "budget.db", reached=die_at(point, count)) as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=2.0)
        try:
            alarm = cdp.Alert.resume(ledger, "alarm")
        except StreamConflict:
            alarm = cdp.Alert(
                above=500.0,
                change=1.0,
                unit=cdp.User(),
                max_alerts=MAX_ALERTS,
                epsilon=1.0,
                ledger=ledger,
                dataset="meters",
                name="alarm",
            )
        with (folder / "told.txt").open("a", encoding="utf-8", buffering=1) as file:
            while not alarm.halted:
                answer = alarm.step(10_000.0 if alarm.period % 5 == 4 else -10_000.0)
                if answer:
                    file.write(f"{answer.period}\n")
            file.write("halted\n")


if __name__ == "__main__":
    main()
