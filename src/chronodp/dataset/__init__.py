"""The front door: a table of records, a question, a plan, a release."""

from chronodp.dataset.aggregate import Aggregate
from chronodp.dataset.records import Records
from chronodp.dataset.time_series import Query, TimeSeries

__all__ = ["Aggregate", "Query", "Records", "TimeSeries"]
