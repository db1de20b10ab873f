"""A plan of every mechanism, a fleet's values, and what is collected under a plan."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.local import (
    Collector,
    Fresh,
    Hybrid,
    LaplaceNumber,
    LocalHashing,
    LocalPlan,
    OneBit,
    OptimizedUnary,
    Piecewise,
    RandomizedResponse,
    ReportCounts,
)

PLANS = [
    LocalPlan("response", RandomizedResponse(1.0, 5), Fresh(3)),
    LocalPlan("unary", OptimizedUnary(1.0, 5), Fresh(3)),
    LocalPlan("hashing", LocalHashing(1.0, 5), Fresh(3)),
    LocalPlan("bit", OneBit(1.0, (0.0, 4.0)), Fresh(3)),
    LocalPlan("pieces", Piecewise(1.0, (0.0, 4.0)), Fresh(3)),
    LocalPlan("hybrid", Hybrid(1.0, (0.0, 4.0)), Fresh(3)),
    LocalPlan("noise", LaplaceNumber(1.0, (0.0, 4.0)), Fresh(3)),
]


def fleet(devices: int, slots: int = 3) -> NDArray[np.int64]:
    return np.arange(devices * slots).reshape(devices, slots) % 5


def collected(plan: LocalPlan, records: NDArray[Any], **options: Any) -> ReportCounts:
    collector = Collector(plan, **options)
    collector.add(records)
    return collector.tally
