"""Differential privacy for time series: a guarantee that is stated, paid for, durable and checkable.

>>> import chronodp as cdp
>>> day = cdp.privacy.RepeatedCost(cdp.privacy.GaussianCost(sensitivity=1.0, sigma=50.0), times=1440)
>>> round(cdp.accounting.gaussian.epsilon(day, delta=1e-5), 3)
3.19
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronodp import errors, privacy
from chronodp.extras import late as _late
from chronodp.privacy import Event, User, UserPeriod, Window

if TYPE_CHECKING:
    from chronodp import (
        accounting as accounting,
        alerts as alerts,
        audit as audit,
        correlated as correlated,
        dataset as dataset,
        dossier as dossier,
        engines as engines,
        federated as federated,
        ledger as ledger,
        lifetime as lifetime,
        live as live,
        local as local,
        postprocess as postprocess,
        randomness as randomness,
        report as report,
        schemas as schemas,
        selection as selection,
        series as series,
        service as service,
        spectrum as spectrum,
        state_space as state_space,
        temporal as temporal,
    )
    from chronodp.alerts import Alert
    from chronodp.dataset import Aggregate, Lifetime, TimeSeries, plan_together
    from chronodp.engines import Reading
    from chronodp.ledger import Ledger
    from chronodp.series import (
        Discover,
        EachPeriod,
        Ewm,
        Filter,
        Find,
        Hierarchy,
        Missing,
        Norm,
        Places,
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
    "Discover",
    "EachPeriod",
    "Event",
    "Ewm",
    "Filter",
    "Find",
    "Hierarchy",
    "Ledger",
    "Lifetime",
    "Missing",
    "Norm",
    "Places",
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
    "compare",
    "errors",
    "plan_together",
    "privacy",
    "solve",
]

# Rooms that need heavy libraries, and names from them, are imported when first used.
_ROOMS = (
    "accounting",
    "alerts",
    "audit",
    "correlated",
    "dataset",
    "dossier",
    "engines",
    "federated",
    "ledger",
    "lifetime",
    "live",
    "local",
    "postprocess",
    "randomness",
    "report",
    "schemas",
    "selection",
    "series",
    "service",
    "spectrum",
    "state_space",
    "temporal",
)
_NAMES = {
    "Aggregate": "dataset",
    "Alert": "alerts",
    "Client": "service",
    "Discover": "series",
    "EachPeriod": "series",
    "Ewm": "series",
    "Filter": "series",
    "Find": "series",
    "Hierarchy": "series",
    "Ledger": "ledger",
    "Lifetime": "dataset",
    "Missing": "series",
    "Norm": "series",
    "Places": "series",
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


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:
    __getattr__ = _late(__name__, {**dict.fromkeys(_ROOMS, ""), **_NAMES})
