"""Bounds found by a private step: a scale by votes, then all bounds together by the error they would leave."""

from chronodp.series.finding.describe import describe_find as describe_find
from chronodp.series.finding.design import (
    FindDesign as FindDesign,
    checked_design as checked_design,
    design_find as design_find,
    parts_of as parts_of,
)
from chronodp.series.finding.edges import Typical as Typical, edges_shape as edges_shape
from chronodp.series.finding.joint import Joint as Joint, bounded_table as bounded_table
from chronodp.series.finding.plan import (
    FindingOrigin as FindingOrigin,
    FindPlan as FindPlan,
    choices_of as choices_of,
    found_by as found_by,
    identity_of as identity_of,
    make_find_plan as make_find_plan,
)
from chronodp.series.finding.scale import Scale as Scale, median_utilities as median_utilities

__all__: list[str] = []
