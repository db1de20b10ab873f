"""Figures for Prometheus: calls, jobs and budgets. None is read from data, and none tells how long reading took."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest

from chronodp.service.curator import Curator

__all__ = ["Metrics"]


class Metrics:
    """The figures of one worker; jobs and budgets are everyone's."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._calls = Counter(
            "chronodp_calls", "Calls answered by this worker.", ("method", "status"), registry=self._registry
        )
        self._jobs = Gauge("chronodp_jobs", "Jobs by state.", ("state",), registry=self._registry)
        self._budgets = Gauge(
            "chronodp_budget_share", "How much of a budget is used, 0 to 1.", ("dataset",), registry=self._registry
        )
        self._writable = Gauge("chronodp_writable", "1 if the ledger can be written.", registry=self._registry)

    def count(self, method: str, status: int) -> None:
        """Count an answered call."""
        known = method if method in ("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS") else "other"
        self._calls.labels(known, str(status)).inc()

    def text(self, curator: Curator, *, writable: bool) -> bytes:
        """Return the figures as Prometheus reads them."""
        self._writable.set(float(writable))
        for state, count in curator.jobs.counts().items():
            self._jobs.labels(state).set(count)
        shares = curator.ledger.shares()
        self._budgets.clear()  # one that was closed since has no share
        for name in curator.policy.datasets:
            if name in shares:
                self._budgets.labels(name).set(shares[name])
        return bytes(generate_latest(self._registry))
