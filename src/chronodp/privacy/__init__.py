"""Who is protected and at what cost: units, sensitivities, costs, guarantees, claims and certificates.

Frozen data and arithmetic only: nothing here draws randomness, reads a file or sees a person's record.
"""

from chronodp.privacy.blocks import Blocking as Blocking, block_extremes as block_extremes, block_totals as block_totals
from chronodp.privacy.calendar import LONGEST as LONGEST, Calendar
from chronodp.privacy.clock import (
    check_moment as check_moment,
    check_zone as check_zone,
    days_touched as days_touched,
    instant_of as instant_of,
    microseconds_of as microseconds_of,
    moment_at as moment_at,
)
from chronodp.privacy.costs import (
    ApproximateCost,
    AssumedCost,
    Assumption,
    BoundedRangeCost,
    Cost,
    FailureCost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SampledGaussianCost,
    SequenceCost,
    check_cost as check_cost,
)
from chronodp.privacy.documents import (
    LATER as LATER,
    canonical as canonical,
    document as document,
    dump,
    kinds_of as kinds_of,
    load,
    load_parts as load_parts,
    text_kind as text_kind,
    to_document as to_document,
)
from chronodp.privacy.exact import at_least as at_least, decimal_value as decimal_value
from chronodp.privacy.fields import settle as settle
from chronodp.privacy.grid import FARTHEST as FARTHEST, Grid, as_numbers as as_numbers, stored_quanta as stored_quanta
from chronodp.privacy.guarantees import Certificate, Certified as Certified, Claim, Guarantee
from chronodp.privacy.implication import price
from chronodp.privacy.parameters import (
    check_column as check_column,
    check_delta as check_delta,
    check_epsilon as check_epsilon,
    check_flag as check_flag,
    check_fraction as check_fraction,
    check_kind as check_kind,
    check_listed as check_listed,
    check_number as check_number,
    check_path as check_path,
    check_positive as check_positive,
    check_table as check_table,
    check_text as check_text,
    check_whole as check_whole,
    check_word as check_word,
)
from chronodp.privacy.periods import parse_every as parse_every, times_as_long as times_as_long, words_of as words_of
from chronodp.privacy.presence import Presence as Presence, most_stays as most_stays, presence_of as presence_of
from chronodp.privacy.printing import Shown as Shown, counted as counted, labelled as labelled
from chronodp.privacy.sensitivity import (
    Bounds,
    Contribution as Contribution,
    Sensitivity,
    check_clip as check_clip,
    exact_sensitivity as exact_sensitivity,
    most_change as most_change,
    of_scaled as of_scaled,
    per_period as per_period,
    periods_held as periods_held,
    running_total as running_total,
)
from chronodp.privacy.stretches import FIRST as FIRST, LAST as LAST
from chronodp.privacy.touched import Touched as Touched, touched_periods as touched_periods
from chronodp.privacy.unit_text import parse_record_unit as parse_record_unit, parse_unit as parse_unit
from chronodp.privacy.units import (
    Changes as Changes,
    Event,
    History,
    RecordUnit,
    Relation as Relation,
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
    "BoundedRangeCost",
    "Bounds",
    "Calendar",
    "Certificate",
    "Claim",
    "Cost",
    "Event",
    "FailureCost",
    "GaussianCost",
    "Grid",
    "Guarantee",
    "History",
    "LaplaceCost",
    "PureCost",
    "RandomizedResponseCost",
    "RecordUnit",
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
    "price",
]
