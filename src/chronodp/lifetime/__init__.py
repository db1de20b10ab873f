"""A person's whole life: one price, paid once, for a series that is published for ever."""

from chronodp.lifetime.design import LifetimeDesign as LifetimeDesign
from chronodp.lifetime.folder import check_folder as check_folder
from chronodp.lifetime.owner import LifetimeDiagnosis as LifetimeDiagnosis
from chronodp.lifetime.planner import LifetimePlan, make_lifetime_plan as make_lifetime_plan
from chronodp.lifetime.public import LifetimeStatus as LifetimeStatus, mark_told as mark_told, status_of as status_of
from chronodp.lifetime.series import LifetimeSeries as LifetimeSeries
from chronodp.lifetime.shaped import shaped_design as shaped_design, shaped_prices as shaped_prices
from chronodp.lifetime.words import describe_lifetime as describe_lifetime

__all__ = ["LifetimePlan"]
