"""Prometheus metrics that hold no data: what the clock, the settings and the releases tell, and nothing else."""

from __future__ import annotations

import time
from typing import Any

from chronodp.errors import InvalidArgument
from chronodp.extras import check_extra
from chronodp.live.progress import Progress

__all__ = ["serve_metrics"]


def serve_metrics(progress: Progress, *, port: int, address: str = "127.0.0.1", owner: bool = False) -> Any:
    """Serve metrics at ``http://address:port/metrics`` and return what stops them, by ``shutdown()``.

    How many records came, were late or wait, and how much memory and time the process takes, depend on the data:
    whoever reads them learns what nobody paid for. They are left out; with ``owner`` the counts are added, for a port
    that only the data's owner can read.
    """
    check_extra("live", "prometheus_client")
    from prometheus_client import CollectorRegistry, Gauge, start_http_server

    registry = CollectorRegistry()  # of our own: the default one tells the process's memory and time

    def gauge(name: str, text: str, read: Any) -> None:
        Gauge(f"chronodp_live_{name}", text, registry=registry).set_function(read)

    started = time.monotonic()
    gauge("next_window", "Number of the next window to close.", lambda: progress.next_window)
    gauge("windows_closed", "Windows closed by this process.", lambda: progress.closed)
    gauge("releases", "Released rows of this process: one a window, and group.", lambda: progress.releases)
    gauge("alerts_told", "Alerts told by this process.", lambda: progress.alerts)
    gauge("budget_spent_share", "Share of the budget that is spent, 0 to 1.", lambda: progress.share)
    gauge("source_reachable", "Whether the source could be reached, 0 or 1.", lambda: float(progress.reachable))
    gauge("clock_doubted", "Whether the clock jumped and is not believed, 0 or 1.", lambda: bool(progress.doubted))
    gauge("up_seconds", "Seconds since this process began.", lambda: int(time.monotonic() - started))
    # Whole seconds: how long a batch takes depends on how much came.
    gauge(
        "last_poll_seconds", "Seconds since the source was last asked.", lambda: int(time.monotonic() - progress.polled)
    )
    if owner:
        figures = progress.owner
        for name in ("counted", "late", "future", "elsewhere", "malformed"):
            text = f"OWNER ONLY, depends on the data: records that are {name}."
            gauge(f"owner_records_{name}", text, lambda name=name: getattr(figures, name))
        gauge("owner_gaps", "OWNER ONLY, depends on the data: gaps that were noticed.", lambda: figures.missing)
        gauge("owner_waiting", "OWNER ONLY, depends on the data: messages that wait.", lambda: figures.waiting or 0)
    try:
        server, _ = start_http_server(port, addr=address, registry=registry)
    except OSError:
        raise InvalidArgument("port", port, f"a free port of {address}") from None
    return server
