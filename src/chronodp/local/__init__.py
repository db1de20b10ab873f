"""Devices that perturb before they report, and the collector that estimates.

A mechanism says how one value is answered, a protocol how a device answers over time; both make a `LocalPlan`, which
compiles to tables of whole numbers. `device` is the file that runs on devices; `Collector` counts what they send, and
`estimate` reads frequencies and means from the counts.
"""

from chronodp.local.collector import Collector
from chronodp.local.device import (
    Device,
    Refused as Refused,
    answer as answer,
    begin as begin,
    start as start,
    to_bytes as to_bytes,
    to_json as to_json,
)
from chronodp.local.estimates import Estimates, best_window, estimate as estimate
from chronodp.local.fleet import simulate
from chronodp.local.hashing import LocalHashing
from chronodp.local.longitudinal import (
    Fresh,
    Lifetime,
    Memoised,
    Slots,
    WindowAsked as WindowAsked,
    WindowBudget,
    WindowPopulation,
)
from chronodp.local.mechanism import LocalMechanism as LocalMechanism
from chronodp.local.numbers import Hybrid, LaplaceNumber, OneBit, Piecewise
from chronodp.local.plan import LocalPlan
from chronodp.local.probabilities import WHOLE as WHOLE
from chronodp.local.recommend import recommend
from chronodp.local.report_counts import ReportCounts as ReportCounts
from chronodp.local.response import RandomizedResponse
from chronodp.local.simplex import project_rows as project_rows
from chronodp.local.unary import OptimizedUnary, SymmetricUnary

__all__ = [
    "Collector",
    "Device",
    "Estimates",
    "Fresh",
    "Hybrid",
    "LaplaceNumber",
    "Lifetime",
    "LocalHashing",
    "LocalPlan",
    "Memoised",
    "OneBit",
    "OptimizedUnary",
    "Piecewise",
    "RandomizedResponse",
    "Slots",
    "SymmetricUnary",
    "WindowBudget",
    "WindowPopulation",
    "best_window",
    "recommend",
    "simulate",
]
