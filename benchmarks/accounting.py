"""Seconds to price many releases, here and by dp-accounting."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import dp_accounting
from dp_accounting import rdp

from benchmarks.harness import Topic, show
from chronodp.accounting import gaussian, optimal, pld, renyi
from chronodp.privacy import Cost, GaussianCost, LaplaceCost, PureCost, RepeatedCost

DELTA = 1e-6


def measure() -> Topic:
    topic = Topic(
        "Accounting and import, seconds",
        "python -m benchmarks.accounting",
        ("work", "by", "seconds", "epsilon"),
    )
    different: list[Cost] = [GaussianCost(sensitivity=1.0, sigma=300.0 + index / 1000) for index in range(100_000)]
    day = RepeatedCost(LaplaceCost(sensitivity=1.0, scale=20.0), 1440)
    tosses = RepeatedCost(PureCost(0.001), 100_000)
    for work, by, run in (
        ("100,000 different Gaussian costs", "exact GDP", lambda: gaussian.epsilon(different, DELTA)),
        ("100,000 different Gaussian costs", "Rényi", lambda: renyi.epsilon(different, DELTA)),
        ("2,000 different Gaussian costs", "dp-accounting Rényi", lambda: _peer_renyi(different[:2000])),
        ("1,440 Laplace releases", "Rényi", lambda: renyi.epsilon(day, DELTA)),
        ("1,440 Laplace releases", "PLD (dp-accounting)", lambda: pld.epsilon(day, DELTA)),
        ("100,000 releases of epsilon 0.001", "optimal", lambda: optimal.epsilon(tosses, DELTA)),
    ):
        seconds, epsilon = _timed(run)
        topic.rows.append((work, by, seconds, epsilon))
    topic.rows.append(("import chronodp", "best of five processes", _import_seconds(), ""))
    topic.notes = ["seconds are of the processor; the best of three"]
    return topic


def _timed(run: Callable[[], float]) -> tuple[float, float]:
    best, value = float("inf"), 0.0
    for _ in range(3):
        start = time.process_time()
        value = run()
        best = min(best, time.process_time() - start)
    return best, value


def _peer_renyi(costs: list[Cost]) -> float:
    accountant = rdp.RdpAccountant()
    for cost in costs:
        if isinstance(cost, GaussianCost):
            accountant.compose(dp_accounting.GaussianDpEvent(cost.sigma / cost.sensitivity))
    return float(accountant.get_epsilon(DELTA))


def _import_seconds() -> float:
    code = "import time; start = time.process_time(); import chronodp; print(time.process_time() - start)"
    return min(float(subprocess.check_output([sys.executable, "-c", code], text=True)) for _ in range(5))


if __name__ == "__main__":
    show(measure)
