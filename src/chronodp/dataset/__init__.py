"""The front door: a table of records, a question, a plan, a release."""

from chronodp.dataset.aggregate import Aggregate
from chronodp.dataset.asked import BOUNDS as BOUNDS, FindBounds as FindBounds, ask_question as ask_question
from chronodp.dataset.joint import PlanTogether, ReleaseTogether, Shareable, plan_together
from chronodp.dataset.lifetime import Lifetime
from chronodp.dataset.queries import Queries as Queries
from chronodp.dataset.query import Query
from chronodp.dataset.records import Records as Records
from chronodp.dataset.time_series import GridSeries as GridSeries, TimeSeries

__all__ = [
    "Aggregate",
    "Lifetime",
    "PlanTogether",
    "Query",
    "ReleaseTogether",
    "Shareable",
    "TimeSeries",
    "plan_together",
]
