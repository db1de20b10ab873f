"""A process that releases several queries until it dies: ``python -m tests.dataset.joint.victim FOLDER POINT``.

It kills itself, with SIGKILL, when it reaches POINT. What it is given it writes to a file after it was told.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.dataset.joint.queries import households, load_of, month
from tests.killing import die_at

import chronodp as cdp
from chronodp.alerts import design_alert


def main() -> None:
    folder, point = Path(sys.argv[1]), sys.argv[2]
    load = load_of(month(cdp.User(), households(3, 1), days=1))
    alarm = design_alert(above=10.0, change=5.0, unit=cdp.User(), max_alerts=1, epsilon=1.0)
    plan = cdp.plan_together({"load": load, "peak": load.peak(every="1D"), "alarm": alarm}, epsilon=1.0)
    with cdp.Ledger(folder / "budget.db", reached=die_at(point)) as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=10.0)
        made = plan.release(ledger, dataset="meters", request="june", progress=lambda _: None)
    (folder / "told.txt").write_text(made.text, encoding="utf-8")


if __name__ == "__main__":
    main()
