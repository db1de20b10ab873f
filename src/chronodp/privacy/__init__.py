"""Who is protected and at what cost: units, sensitivities, costs, guarantees, claims and certificates.

Frozen data and arithmetic only: nothing here draws randomness, reads a file or sees a person's record.
"""

from chronodp.privacy.calendar import Calendar
from chronodp.privacy.costs import (
    ApproximateCost,
    AssumedCost,
    Assumption,
    Cost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SampledGaussianCost,
    SequenceCost,
)
from chronodp.privacy.documents import dump, load
from chronodp.privacy.grid import Grid
from chronodp.privacy.guarantees import Certificate, Certified, Claim, Guarantee
from chronodp.privacy.implication import price
from chronodp.privacy.sensitivity import Bounds, Contribution, Sensitivity, per_period, running_total
from chronodp.privacy.units import (
    Changes,
    Event,
    History,
    RecordUnit,
    Relation,
    Report,
    Swap,
    Unit,
    User,
    UserPeriod,
    Window,
)

__all__ = [
    "ApproximateCost",
    "AssumedCost",
    "Assumption",
    "Bounds",
    "Calendar",
    "Certificate",
    "Certified",
    "Changes",
    "Claim",
    "Contribution",
    "Cost",
    "Event",
    "GaussianCost",
    "Grid",
    "Guarantee",
    "History",
    "LaplaceCost",
    "PureCost",
    "RandomizedResponseCost",
    "RecordUnit",
    "Relation",
    "RepeatedCost",
    "Report",
    "SampledGaussianCost",
    "Sensitivity",
    "SequenceCost",
    "Swap",
    "Unit",
    "User",
    "UserPeriod",
    "Window",
    "dump",
    "load",
    "per_period",
    "price",
    "running_total",
]
