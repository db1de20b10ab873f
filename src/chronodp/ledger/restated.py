"""Budgets that 0.1.0 charged: what their units meant follows from the grids of what they released.

0.1.0 added up windows of minutes and of days, and days of different zones, as if they were one, and took the month of a
charge from days on the data's own clocks. Where all charges of a dataset meant the same, that is what its budget means.
Where they did not, each is priced anew for the reading under which most is spent, a charge is added to every period of
renewal that was missed, and a note tells the owner. Nothing that was charged is ever taken back.

"Budgets that 0.1.0 charged" in ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from chronodp.accounting import enlarge
from chronodp.errors import ChronodpError
from chronodp.ledger.accounts import now, read_terms
from chronodp.ledger.budget import Budget
from chronodp.ledger.filters import CAP, Amounts
from chronodp.ledger.grids import grids_of
from chronodp.ledger.meanings import UNREAD
from chronodp.ledger.migrations import SPENT
from chronodp.ledger.store import Store, Transaction
from chronodp.privacy import Calendar, Cost, Unit, dump, load, price

__all__ = ["restate"]


@dataclass(frozen=True, slots=True)
class _Charged:
    """A charge as 0.1.0 left it, and the grids of what it paid for; none if that is not known."""

    analyst: str
    period: str
    number: int
    cost: str
    unit: Unit
    amounts: Amounts
    purpose: str
    made: int
    grids: tuple[Calendar, ...]

    @property
    def meant(self) -> tuple[Unit, ...]:
        """What its unit meant; several where one price paid for several grids."""
        return tuple(self.unit.on(grid) for grid in self.grids) or (self.unit,)


def restate(store: Store) -> None:
    """Settle, once, what the budgets mean that were charged before meanings were kept."""
    with store.snapshot() as transaction:
        waiting = [row[0] for row in transaction.run("SELECT dataset FROM meanings WHERE made = ?", (UNREAD,))]
    for dataset in waiting:
        with store.transaction() as transaction:
            transaction.alone()
            # Taken out first: of two processes at once one finds the row, and the other none.
            if transaction.run(
                "DELETE FROM meanings WHERE dataset = ? AND made = ? RETURNING dataset", (dataset, UNREAD)
            ):
                _restate(transaction, dataset)


def _restate(transaction: Transaction, dataset: str) -> None:
    rows = transaction.run("SELECT analyst, terms FROM budgets WHERE dataset = ?", (dataset,))
    budgets = {analyst: read_terms(terms) for analyst, terms in rows}
    whole = budgets[""]
    if whole.unit.said and whole.renews is None:
        return
    charges = list(_charges(transaction, dataset))
    unit, unit_note, priced = _read_unit(budgets, charges)
    zone, zone_note, priced = _read_zone(budgets, priced)
    changed = [after for before, after in zip(charges, priced, strict=False) if after != before]
    for charge in changed:
        _write_amounts(transaction, dataset, charge)
    for charge in priced[len(charges) :]:
        _write_missed(transaction, dataset, charge)
        changed.append(charge)
    for analyst, period in {(charge.analyst, charge.period) for charge in changed}:
        _add_up(transaction, dataset, analyst, period)
    if unit is not None or zone:
        transaction.run(
            "INSERT INTO meanings (dataset, unit, timezone, note, made) VALUES (?, ?, ?, ?, ?)",
            (dataset, dump(unit or whole.unit), zone, " ".join(filter(None, (unit_note, zone_note))), now()),
        )


def _read_unit(budgets: dict[str, Budget], charges: list[_Charged]) -> tuple[Unit | None, str, list[_Charged]]:
    """Return what the budget's unit means, a note, and the charges at their price for it."""
    opened = budgets[""].unit
    shown = {reading: unit for charge in charges for unit in charge.meant if (reading := opened.meant_by(unit))}
    if len(shown) < 2:
        return next(iter(shown), None), "", charges
    words = " and for ".join(sorted(_told(unit) for unit in shown.values()))
    told = f"0.1.0 added up charges for {words} as if they were one."
    readings = {reading: [_priced(budgets, charge, reading) for charge in charges] for reading in shown}
    dearest = max(readings, key=lambda reading: sum(charge.amounts[0] for charge in readings[reading]))
    if not all(reading.said for reading in readings):
        mend = "What that amounts to cannot be known: nothing more can be spent here. Open another budget."
        return dearest, f"{told} {mend}", readings[dearest]
    mend = f"They are restated for {dearest}. Open a budget of its own for each length of periods and each zone."
    return dearest, f"{told} {mend}", readings[dearest]


def _told(unit: Unit) -> str:
    return str(unit) if unit.said else f"{unit} (of a length or zone not stated)"


def _priced(budgets: dict[str, Budget], charge: _Charged, reading: Unit) -> _Charged:
    """Return a charge at its price for a reading of the budget's unit, never at less than was charged."""
    filled = tuple(CAP for _ in charge.amounts[:-1])
    most = charge.amounts
    for unit in charge.meant:
        try:
            steps = price(unit, reading)
            cost: Cost = load(charge.cost, Cost)
            rule = budgets[charge.analyst].filter
            found = (*filled, 0) if steps is None else rule.amounts(cost if steps == 1 else enlarge(cost, steps))
        except ChronodpError:  # so many steps promise nothing
            found = (*filled, 0)
        most = tuple(max(one, other) for one, other in zip(most, found, strict=True))
    return replace(charge, amounts=most)


def _read_zone(budgets: dict[str, Budget], charges: list[_Charged]) -> tuple[str, str, list[_Charged]]:
    """Return whose months a budget that renews follows, a note, and the charges with those that were missed."""
    renews = budgets[""].renews
    zones = {grid.timezone for charge in charges for grid in charge.grids}
    if renews is None or not zones or (len(zones) == 1 and all(charge.grids for charge in charges)):
        return (next(iter(zones)) if renews is not None and zones else ""), "", charges
    paid = {(charge.analyst, charge.purpose, charge.period) for charge in charges}
    missed: dict[tuple[str, str, str], _Charged] = {}
    for charge in charges:
        for period in _touched(budgets[charge.analyst], charge):
            key = (charge.analyst, charge.purpose, period)
            if key not in paid:
                missed.setdefault(key, replace(charge, period=period))
    where = sorted({period for _, _, period in missed})
    known = " and ".join(sorted(zones)) + (
        "" if all(charge.grids for charge in charges) else " and of clocks not known"
    )
    note = f"0.1.0 took periods of renewal from days of {known}. They are now UTC's"
    return (
        "UTC",
        note + (f", and charges were added in {', '.join(where)}." if where else "."),
        [*charges, *missed.values()],
    )


def _touched(budget: Budget, charge: _Charged) -> Iterator[str]:
    """Yield every period of renewal, on UTC's clocks, that the data of a charge may have touched."""
    in_utc = replace(budget, timezone="UTC")
    for grid in charge.grids:
        yield from in_utc.periods(grid.span)
    if not charge.grids:
        # Days of some zone: what lies within a period there reaches less than a day beyond it in UTC.
        first, end = _days_of(charge.period)
        yield from in_utc.periods((first - dt.timedelta(days=1), end + dt.timedelta(days=1)))


def _days_of(period: str) -> tuple[dt.date, dt.date]:
    """Return the first day of a period of renewal, and the first day after it."""
    year = int(period[:4])
    if "W" in period:
        monday = dt.date.fromisocalendar(year, int(period[6:]), 1)
        return monday, monday + dt.timedelta(days=7)
    if len(period) == 10:
        day = dt.date.fromisoformat(period)
        return day, day + dt.timedelta(days=1)
    if len(period) == 7:
        month = int(period[5:])
        return dt.date(year, month, 1), dt.date(year + month // 12, month % 12 + 1, 1)
    return dt.date(year, 1, 1), dt.date(year + 1, 1, 1)


def _charges(transaction: Transaction, dataset: str) -> Iterator[_Charged]:
    texts: dict[str, str | None] = dict(
        transaction.run("SELECT request, release FROM requests WHERE dataset = ?", (dataset,))
    )
    rows = transaction.run(
        "SELECT analyst, period, number, cost, unit, amounts, purpose, made FROM charges WHERE dataset = ? "
        "ORDER BY made, analyst, period, number",
        (dataset,),
    )
    for analyst, period, number, cost, unit, amounts, purpose, made in rows:
        read: Unit = load(unit, Unit)
        grids = grids_of(texts.get(purpose))
        yield _Charged(analyst, period, int(number), cost, read, tuple(json.loads(amounts)), purpose, int(made), grids)


def _write_amounts(transaction: Transaction, dataset: str, charge: _Charged) -> None:
    transaction.run(
        "UPDATE charges SET amounts = ? WHERE dataset = ? AND analyst = ? AND period = ? AND number = ?",
        (json.dumps(charge.amounts), dataset, charge.analyst, charge.period, charge.number),
    )


def _write_missed(transaction: Transaction, dataset: str, charge: _Charged) -> None:
    key = (dataset, charge.analyst, charge.period)
    transaction.run("INSERT INTO accounts (dataset, analyst, period) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", key)
    ((number,),) = transaction.run(
        "UPDATE accounts SET charges = charges + 1 WHERE dataset = ? AND analyst = ? AND period = ? RETURNING charges",
        key,
    )
    transaction.run(
        "INSERT INTO charges (dataset, analyst, period, number, cost, unit, amounts, purpose, made) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*key, int(number), charge.cost, dump(charge.unit), json.dumps(charge.amounts), charge.purpose, charge.made),
    )


def _add_up(transaction: Transaction, dataset: str, analyst: str, period: str) -> None:
    """Write an account's sums anew from its charges."""
    key = (dataset, analyst, period)
    rows = transaction.run("SELECT amounts FROM charges WHERE dataset = ? AND analyst = ? AND period = ?", key)
    each = [json.loads(row[0]) for row in rows]
    sums = [min(CAP, sum(part)) for part in zip(*each, strict=True)]
    columns = (*SPENT[: len(sums) - 1], "reserved")
    changes = ", ".join(f"{column} = ?" for column in columns)
    transaction.run(f"UPDATE accounts SET {changes} WHERE dataset = ? AND analyst = ? AND period = ?", (*sums, *key))
