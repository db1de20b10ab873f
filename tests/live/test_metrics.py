"""Metrics hold nothing that depends on the data."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path

import pytest

from chronodp import Event
from chronodp.live import Limits, Progress, Windows
from chronodp.live.metrics import serve_metrics
from tests.live.brokers import free_port
from tests.live.examples import Bench, at, write

COUNTS = Limits(Event(), Windows("1s", "2026-01-01", count=100), at_most=9)


def scrape(progress: Progress, *, owner: bool = False) -> dict[str, float]:
    port = free_port()
    server = serve_metrics(progress, port=port, owner=owner)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
    finally:
        server.shutdown()
        server.server_close()
    return {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", text, re.MULTILINE)}


@pytest.mark.slow
@pytest.mark.parametrize("records", [0, 1, 700])
def test_other_records_make_no_other_metrics(tmp_path: Path, records: int) -> None:
    bench = Bench(tmp_path, COUNTS)
    write(
        bench.path,
        *[{"at": at(COUNTS, number % 90), "who": f"p{number}"} for number in range(records)],
        *["?"] * records,
    )
    live = bench.run_to(3)
    shown = scrape(live.progress)
    timely = {name: value for name, value in shown.items() if not name.endswith("_seconds")}
    assert timely == {
        "chronodp_live_next_window": 3,
        "chronodp_live_windows_closed": 3,
        "chronodp_live_releases": 3,
        "chronodp_live_alerts_told": 0,
        "chronodp_live_budget_spent_share": pytest.approx(0.001),
        "chronodp_live_source_reachable": 1,
        "chronodp_live_clock_doubted": 0,
    }
    assert all(value == int(value) for name, value in shown.items() if name.endswith("_seconds"))
    for_owner = scrape(live.progress, owner=True)
    assert for_owner["chronodp_live_owner_records_malformed"] == records
