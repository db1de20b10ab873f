"""Differential privacy for time series: a guarantee that is stated, paid for, durable and checkable.

>>> import chronodp as cdp
>>> day = cdp.privacy.RepeatedCost(cdp.privacy.GaussianCost(sensitivity=1.0, sigma=50.0), times=1440)
>>> round(cdp.accounting.gaussian.epsilon(day, delta=1e-5), 3)
3.19
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from chronodp import errors, privacy, randomness
from chronodp.privacy import Event, User, UserPeriod, Window

if TYPE_CHECKING:
    from chronodp import (
        accounting,
        alerts,
        audit,
        correlated,
        dataset,
        engines,
        federated,
        ledger,
        live,
        local,
        postprocess,
        report,
        selection,
        series,
        service,
        spectrum,
        state_space,
        temporal,
    )
    from chronodp.alerts import Alert
    from chronodp.dataset import Aggregate, TimeSeries, plan_together
    from chronodp.engines import Reading
    from chronodp.ledger import Ledger
    from chronodp.series import (
        EachPeriod,
        Ewm,
        Filter,
        Hierarchy,
        Plan,
        Release,
        Rolling,
        RunningTotal,
        Stream,
        compare,
        solve,
    )
    from chronodp.service import Client

__version__ = "0.1.0"

__all__ = [
    "Aggregate",
    "Alert",
    "Client",
    "EachPeriod",
    "Event",
    "Ewm",
    "Filter",
    "Hierarchy",
    "Ledger",
    "Plan",
    "Reading",
    "Release",
    "Rolling",
    "RunningTotal",
    "Stream",
    "TimeSeries",
    "User",
    "UserPeriod",
    "Window",
    "__version__",
    "accounting",
    "alerts",
    "audit",
    "compare",
    "correlated",
    "dataset",
    "engines",
    "errors",
    "federated",
    "ledger",
    "live",
    "local",
    "plan_together",
    "postprocess",
    "privacy",
    "randomness",
    "report",
    "selection",
    "series",
    "service",
    "solve",
    "spectrum",
    "state_space",
    "temporal",
]

# Rooms that need heavy libraries, and names from them, are imported when first used.
_LATE = dict.fromkeys(
    (
        "accounting",
        "alerts",
        "audit",
        "correlated",
        "dataset",
        "engines",
        "federated",
        "ledger",
        "live",
        "local",
        "postprocess",
        "report",
        "selection",
        "series",
        "service",
        "spectrum",
        "state_space",
        "temporal",
    ),
    "",
) | {
    "Aggregate": "dataset",
    "Alert": "alerts",
    "Client": "service",
    "EachPeriod": "series",
    "Ewm": "series",
    "Filter": "series",
    "Hierarchy": "series",
    "Ledger": "ledger",
    "Plan": "series",
    "Reading": "engines",
    "Release": "series",
    "Rolling": "series",
    "RunningTotal": "series",
    "Stream": "series",
    "TimeSeries": "dataset",
    "compare": "series",
    "plan_together": "dataset",
    "solve": "series",
}


def __getattr__(name: str) -> object:
    if name not in _LATE:
        raise AttributeError(f"module 'chronodp' has no attribute {name!r}")
    module = importlib.import_module(f"chronodp.{_LATE[name] or name}")
    return getattr(module, name) if _LATE[name] else module
