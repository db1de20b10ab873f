"""The front door: a table of records, a question, a plan, a release."""

from chronodp.dataset.aggregate import Aggregate
from chronodp.dataset.query import Askable, Holder, Query
from chronodp.dataset.records import Records
from chronodp.dataset.time_series import TimeSeries
from chronodp.dataset.together import PlanTogether, ReleaseTogether, plan_together

__all__ = [
    "Aggregate",
    "Askable",
    "Holder",
    "PlanTogether",
    "Query",
    "Records",
    "ReleaseTogether",
    "TimeSeries",
    "plan_together",
]
