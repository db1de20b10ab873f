"""The front door: a table of records, a question, a plan, a release."""

from chronodp.dataset.aggregate import Aggregate
from chronodp.dataset.query import Askable as Askable, Query
from chronodp.dataset.records import Records as Records
from chronodp.dataset.time_series import TimeSeries
from chronodp.dataset.together import PlanTogether, ReleaseTogether, Shareable, plan_together

__all__ = [
    "Aggregate",
    "PlanTogether",
    "Query",
    "ReleaseTogether",
    "Shareable",
    "TimeSeries",
    "plan_together",
]
