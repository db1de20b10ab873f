"""Keys found by a private step: those that enough people hold, then the series of each."""

from chronodp.series.discovery.describe import describe_discover as describe_discover
from chronodp.series.discovery.design import DELTA as DELTA, DiscoverDesign as DiscoverDesign
from chronodp.series.discovery.plan import (
    DiscoverPlan as DiscoverPlan,
    KeysOrigin as KeysOrigin,
    find_keys as find_keys,
    finding_entropy as finding_entropy,
    make_discover_plan as make_discover_plan,
    published_counts as published_counts,
)

__all__: list[str] = []
