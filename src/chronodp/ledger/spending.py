"""A budget over time: how much of it was used at the end of each day, read backwards from how it stands now.

Sums are counted down from the account's own, so the last day agrees with the status whatever was booked
besides the charges, and no more than the newest days have to be read.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from itertools import groupby

from chronodp.errors import InvalidArgument
from chronodp.ledger.accounts import find_known, newest_period, spent_in
from chronodp.ledger.budget import Budget
from chronodp.ledger.filters import CAP, Amounts
from chronodp.ledger.store import Transaction

__all__ = ["Spending", "SpentDay", "read_spending"]

_DAY = 86_400_000_000  # microseconds
_DAYS = 366  # with a charge
_CHARGES = 20_000  # that are read at most


@dataclass(frozen=True, slots=True)
class SpentDay:
    """A day with a charge, in UTC.

    Attributes:
        day: which.
        share: how much of the budget was used at its end, from 0 to 1.
        charges: how many were granted on it.
    """

    day: dt.date
    share: float
    charges: int


@dataclass(frozen=True, slots=True)
class Spending:
    """A budget over time.

    Attributes:
        budget: its terms.
        period: of a budget that renews; empty otherwise.
        opening: how much was used before the first of the days, from 0 to 1.
        share: how much is used now.
        days: those with a charge, oldest first; of very many the newest.
    """

    budget: Budget
    period: str
    opening: float
    share: float
    days: tuple[SpentDay, ...]


def read_spending(transaction: Transaction, dataset: str, analyst: str, period: str) -> Spending:
    """Return how a budget was spent over time; of one that renews, in a period or the newest."""
    budget = find_known(transaction, dataset, analyst).meant
    if period and budget.renews is None:
        raise InvalidArgument("period", period, "left out: this budget does not renew")
    if budget.renews is not None:
        period = period or newest_period(transaction, dataset, analyst)
    spent, _ = spent_in(transaction, budget, dataset, analyst, period)
    now = _share(budget, spent, spent)
    newest: list[SpentDay] = []
    left = spent
    for day, groups in groupby(_groups(transaction, dataset, analyst, period), key=lambda group: group[0]):
        alike = list(groups)
        charges = sum(count for _, _, count in alike)
        newest.append(SpentDay(_date(day), _share(budget, left, spent), charges))
        left = _without(left, [(amounts, count) for _, amounts, count in alike])
    return Spending(budget, period, _share(budget, left, spent), now, tuple(reversed(newest)))


def _groups(transaction: Transaction, dataset: str, analyst: str, period: str) -> list[tuple[int, Amounts, int]]:
    """Return (day since 1970, amounts, how many charges), newest day first, of whole days."""
    newest = (
        "SELECT made, amounts FROM charges WHERE dataset = ? AND analyst = ? AND period = ? "
        f"ORDER BY number DESC LIMIT {_CHARGES}"
    )
    rows = transaction.run(
        f"SELECT made / {_DAY} AS day, amounts, COUNT(*) FROM ({newest}) AS newest "
        f"GROUP BY made / {_DAY}, amounts ORDER BY day DESC",
        (dataset, analyst, period),
    )
    found = [(int(day), tuple(json.loads(amounts)), int(count)) for day, amounts, count in rows]
    days = list(dict.fromkeys(day for day, _, _ in found))
    if sum(count for _, _, count in found) == _CHARGES and len(days) > 1:
        days.pop()  # perhaps not all of it was read
    first = days[:_DAYS][-1] if days else 0
    return [group for group in found if group[0] >= first]


def _share(budget: Budget, spent: Amounts, finally_spent: Amounts) -> float:
    """Return the share by the sum with most left, of those that can still be spent from; as `Status` has it."""
    native = list(zip(spent[:-1], finally_spent[:-1], budget.filter.ceilings[:-1], strict=True))
    sums = [one for one in native if one[2] > 0 and one[1] < CAP] or [one for one in native if one[2] > 0]
    return min(1.0, *(max(0, before) / most for before, _, most in sums))


def _without(spent: Amounts, charges: list[tuple[Amounts, int]]) -> Amounts:
    return tuple(
        total - sum(count * amounts[place] for amounts, count in charges if place < len(amounts))
        for place, total in enumerate(spent)
    )


def _date(day: int) -> dt.date:
    return dt.date(1970, 1, 1) + dt.timedelta(days=day)
