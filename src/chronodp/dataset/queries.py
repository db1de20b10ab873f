"""What can be asked of a table of people's records, whoever holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from chronodp.dataset.query import Query, named_columns
from chronodp.dataset.record_source import RecordSource
from chronodp.engines import check_columns, check_where
from chronodp.engines.reading import Reading, check_reading
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Shown, counted
from chronodp.privacy.units import RecordUnit
from chronodp.series import Find, Measure, Questions, Table

__all__ = ["Queries"]

Planned_co = TypeVar("Planned_co", covariant=True)


class Queries(Shown, Questions[Query[Planned_co]], Generic[Planned_co]):
    """A public grid of periods, who is protected on it, and the questions that follow."""

    def __init__(
        self,
        calendar: Calendar,
        unit: RecordUnit,
        max_periods: int | Find | None,
        records: RecordSource[Planned_co],
        reading: Reading | None = None,
        *,
        where: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self.calendar, self.unit, self.max_periods = calendar, unit, max_periods
        declared = check_reading(reading)
        self.reading = None if declared == Reading() else declared  # the default is nothing to tell
        self._columns = check_columns(columns)
        self._where = check_where(where, self._columns)
        self._records = records
        if not unit.limited or max_periods is not None:  # else a question may bring its own bound on a whole series
            self.count()  # refuses a unit or limit that fits no question here

    def _limited(self, measure: Measure, periods: int | Find | None, finds: Mapping[str, Find]) -> Query[Planned_co]:
        if isinstance(periods, Find) and not self.unit.whole_person:
            try:
                self.unit.periods_touched(len(self.calendar), horizon=len(self.calendar), calendar=self.calendar)
            except InvalidArgument as refused:  # by its own reason, of what was written
                raise InvalidArgument("max_periods", "Find()", refused.allowed) from None
        # Of a single period there is nothing to choose: a limit need not be said.
        alone = periods is None and self.unit.whole_person and len(self.calendar) == 1 and measure.bounded_by_period
        table = Table(
            measure=measure,
            unit=self.unit,
            horizon=len(self.calendar),
            calendar=self.calendar,
            max_periods=len(self.calendar) if isinstance(periods, Find) or alone else periods,
            single_rows=self._records.user is None,
            reading=self.reading,
            where=self._where,
            columns=named_columns(self._columns, [measure.read_column]),
        )
        found = {"max_periods": periods} if isinstance(periods, Find) else {}
        return Query(table, self._records, self._columns).finding(**found, **finds)

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """What was declared. Nothing of it was read from the table."""
        user, who, most = self._records.user, self.unit.called or "person", self.max_periods
        counts = "as many periods as are found privately" if isinstance(most, Find) else counted(most or 0, "period")
        return [
            ("Whose", "each row stands for itself" if user is None else f"one {who} for each value of {user}"),
            ("Periods", str(self.calendar)),
            ("Protects", f"{self.unit}: {self.unit.protects}"),
            *([] if most is None else [("Counts", f"one {who} in at most {counts}")]),
            *([("Where", self._where)] if self._where else []),
            *([("Columns", "; ".join(map(str, self._columns)))] if self._columns else []),
            *([] if self.reading is None else [("Read", str(self.reading))]),
        ]
