"""A budget: for whom, how much, by which rule, for how long, and what it accepts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

from chronodp.accounting import gaussian
from chronodp.errors import InvalidArgument
from chronodp.ledger.filters import Filter, Kind
from chronodp.privacy import (
    LATER,
    check_delta,
    check_epsilon,
    check_word,
    check_zone,
    counted,
    days_touched,
    document,
    microseconds_of,
    settle,
)
from chronodp.privacy.units import Unit, check_unit

__all__ = ["Budget", "Collusion", "Dates", "Part", "Renewal", "check_dates"]

Renewal: TypeAlias = Literal["1D", "1W", "1mo", "1Y"]
Collusion: TypeAlias = Literal["expected", "excluded"]
Dates: TypeAlias = tuple[dt.date, dt.date]
"""When the data of a charge begin and end: moments with an offset, or days on its clocks, the last excluded."""

_PERIODS_A_YEAR = {"1D": 366, "1W": 53, "1mo": 12, "1Y": 1}


@document("budget")
@dataclass(frozen=True, slots=True)
class Budget:
    """The terms under which a dataset's privacy is spent. They never change once opened.

    Attributes:
        unit: who is protected.
        epsilon: of the guarantee.
        delta: of the guarantee.
        rule: how costs add up; by default Gaussian if there is a delta, else pure.
        reserve: the part of delta for failures and costs known only as (epsilon, delta); all of it in a pure budget.
        renews: None for a budget for ever; else the calendar period after which it starts anew, for new data only.
        accepts: names of assumptions under which costs may be charged.
        collusion: for an analyst's part of a budget: whether analysts are expected to pool what they learn.
        timezone: whose days, weeks, months or years a budget that renews follows; UTC's if not said.
    """

    unit: Unit
    epsilon: float
    delta: float = 0.0
    rule: Kind | None = None
    reserve: float | None = None
    renews: Renewal | None = None
    accepts: tuple[str, ...] = ()
    collusion: Collusion = "expected"
    timezone: str | None = field(default=None, kw_only=True, metadata=LATER)

    def __post_init__(self) -> None:
        check_unit("unit", self.unit)
        settle(self, epsilon=check_epsilon(self.epsilon), delta=check_delta(self.delta))
        if self.rule is None:
            settle(self, rule="gaussian" if self.delta else "pure")
        check_word("rule", self.rule, ("pure", "gaussian", "renyi"))
        if self.reserve is None:
            settle(self, reserve=self.delta if self.rule == "pure" else 0.0)
        settle(self, reserve=check_delta(self.reserve, "reserve"))
        if self.renews is not None and (not isinstance(self.renews, str) or self.renews not in _PERIODS_A_YEAR):
            raise InvalidArgument("renews", self.renews, "None, '1D', '1W', '1mo' or '1Y'")
        if self.timezone is not None:
            check_zone(self.timezone)
            if self.renews is None:
                raise InvalidArgument("timezone", self.timezone, "left out: this budget does not renew")
        if self.collusion not in ("expected", "excluded"):
            raise InvalidArgument("collusion", self.collusion, "'expected' or 'excluded'")
        if not isinstance(self.accepts, tuple) or not all(isinstance(name, str) and name for name in self.accepts):
            raise InvalidArgument("accepts", self.accepts, "a tuple of names of assumptions")
        if not any(ceiling > 0 for ceiling in self.filter.ceilings[:-1]):
            raise InvalidArgument(
                "epsilon", self.epsilon, f"larger: by the {self.rule} rule nothing fits at this delta"
            )

    @property
    def filter(self) -> Filter:
        """The rule with its limits."""
        rule, reserve = self.rule, self.reserve
        if rule is None or reserve is None:
            raise AssertionError("set when the budget was made")
        return _filter(rule, self.epsilon, self.delta, reserve)

    def periods(self, dates: Dates | None) -> Iterator[str]:
        """Yield the label of every period that the data touches; one empty label if the budget does not renew."""
        if self.renews is None:
            yield ""
            return
        if dates is None:
            raise InvalidArgument(
                "dates", None, "when the data begin and when they end, as moments or days: this budget renews"
            )
        first, end = self._days(dates)
        if (end - first).days > 366 * 100:
            raise InvalidArgument("dates", f"{first} to {end}", "at most a hundred years")
        previous = None
        for offset in range((end - first).days):
            label = _label(self.renews, first + dt.timedelta(days=offset))
            if label != previous:
                yield label
                previous = label

    def _days(self, dates: Dates) -> Dates:
        """Return the days on the budget's own clocks that the data touch, whatever days they were elsewhere."""
        first, end = check_dates(dates)
        if isinstance(first, dt.datetime) and isinstance(end, dt.datetime):
            return days_touched(first, end, check_zone(self.zone))
        return first, end

    @property
    def zone(self) -> str:
        """Whose clocks a budget that renews follows."""
        return self.timezone or "UTC"

    @property
    def lifetime(self) -> str:
        """What the budget means over a person's life, in words."""
        if self.renews is None:
            return "This budget is for ever: what is spent never comes back."
        count = _PERIODS_A_YEAR[self.renews]
        year = f"({count * self.epsilon:g}, {count * self.delta:g})"
        if self.rule == "gaussian":
            mu = gaussian.mu_for(self.epsilon, self.delta - (self.reserve or 0.0)) * count**0.5
            year = f"({gaussian.epsilon_of(mu, self.delta):.3g}, {self.delta + count * (self.reserve or 0):g})"
        return (
            f"This budget starts anew every {self.renews} ({self.zone}), for data dated in the new period only. "
            f"Someone with data in every period is protected by {year} over a year of {counted(count, 'period')}, "
            "and by ever less over a lifetime."
        )

    def __str__(self) -> str:
        amount = f"({self.epsilon:g}, {self.delta:g})" if self.delta else f"{self.epsilon:g}"
        return f"{amount}-differentially private for {self.unit}, by the {self.rule} rule"


@dataclass(frozen=True, slots=True)
class Part:
    """What an analyst is given of a budget; the rest of its terms are the whole's."""

    epsilon: float
    delta: float = 0.0
    rule: Kind | None = None
    reserve: float | None = None
    collusion: Collusion = "expected"

    def of(self, whole: Budget) -> Budget:
        """Return its terms as a part of a budget."""
        amounts = (self.epsilon, self.delta, self.rule, self.reserve)
        return Budget(whole.unit, *amounts, whole.renews, whole.accepts, self.collusion, timezone=whole.timezone)


@lru_cache(maxsize=1024)  # whoever asks how a budget stands asks for it several times
def _filter(rule: Kind, epsilon: float, delta: float, reserve: float) -> Filter:
    return Filter(rule, epsilon, delta, reserve)


def _label(renews: Renewal, day: dt.date) -> str:
    if renews == "1D":
        return day.isoformat()
    if renews == "1W":
        year, week, _ = day.isocalendar()
        return f"{year}-W{week:02d}"
    return f"{day.year}-{day.month:02d}" if renews == "1mo" else f"{day.year}"


def check_dates(dates: object) -> Dates:
    """Return the dates of a charge: two days, or two moments with an offset, in order."""
    allowed = "a pair of datetime.date, or of datetime.datetime with an offset, the first before the second"
    if not isinstance(dates, tuple) or len(dates) != 2:
        raise InvalidArgument("dates", dates, allowed)
    moments = all(isinstance(day, dt.datetime) and day.tzinfo is not None for day in dates)
    days = all(isinstance(day, dt.date) and not isinstance(day, dt.datetime) for day in dates)
    first, end = dates
    if not (moments or days) or (microseconds_of(first) >= microseconds_of(end) if moments else first >= end):
        raise InvalidArgument("dates", " to ".join(map(str, dates)), allowed)
    return first, end
