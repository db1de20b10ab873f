"""The page of a release: seconds and megabytes, beside plotly's own file of the same figure."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import chronodp as cdp
from benchmarks.harness import TURNS, Topic, duel, show

PERIODS = (744, 8_760, 100_000)


def measure() -> Topic:
    topic = Topic(
        "Pages of a release, one core",
        "python -m benchmarks.report",
        ("periods", "seconds", "MB", "plotly alone, seconds", "MB ", "ratio"),
    )
    with tempfile.TemporaryDirectory() as folder, cdp.Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("load", unit=cdp.Event(), epsilon=len(PERIODS))
        page, bare = Path(folder) / "page.html", Path(folder) / "bare.html"
        for periods in PERIODS:
            totals = cdp.Aggregate(np.full(periods, 500.0), change=1.0, unit=cdp.Event())
            release = totals.plan(epsilon=1.0).release(ledger, dataset="load", request=f"{periods}")

            def ours(made: cdp.Release = release) -> object:
                return made.report(page)

            def theirs(made: cdp.Release = release) -> object:
                return made.plot().write_html(bare)

            fast, plain, ratio = duel(ours, theirs, 1, rounds=3)
            sizes = [path.stat().st_size / 1e6 for path in (page, bare)]
            topic.rows.append((periods, 1 / fast, sizes[0], 1 / plain, sizes[1], 1 / ratio))
    topic.notes = [
        TURNS,
        "from the stored release to a file that is on disk; both carry plotly's script and open without a network",
        "chronodp's page has the certificate, the promise in words, and the table beside the chart",
    ]
    return topic


if __name__ == "__main__":
    show(measure)
