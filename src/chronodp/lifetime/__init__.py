"""A person's whole life: one price, paid once, for a series that is published for ever."""

from chronodp.lifetime.design import LifetimeDesign as LifetimeDesign
from chronodp.lifetime.owner import LifetimeDiagnosis as LifetimeDiagnosis
from chronodp.lifetime.planner import LifetimePlan, make_lifetime_plan as make_lifetime_plan
from chronodp.lifetime.public import LifetimeStatus as LifetimeStatus, status_of as status_of
from chronodp.lifetime.series import LifetimeSeries as LifetimeSeries

__all__ = ["LifetimePlan"]
