"""Every open budget of a ledger at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from chronodp.display import shown, shown_html
from chronodp.errors import LedgerUnavailable
from chronodp.ledger.budgets import list_budgets, read_status
from chronodp.ledger.status import Status
from chronodp.ledger.store import Store

__all__ = ["budgets_html", "budgets_text"]

_MOST = 20


def budgets_text(store: Store, *, title: str) -> str:
    """Return every open budget in a line: what is spent, what is left, how long it lasts.

    Where the ledger cannot be read now it says why: to print something never fails.
    """
    try:
        return "\n".join([title, *map(_line, _read(store))])
    except LedgerUnavailable as error:
        return f"{title}\n{error}"


def budgets_html(store: Store, *, title: str) -> str:
    """Return the same for a notebook, each budget with its bar."""
    try:
        found = _read(store)
    except LedgerUnavailable as error:
        return f"<div><p><b>{shown_html(title)}</b></p><p>{shown_html(str(error))}</p></div>"
    if not found:
        return f"<div><p><b>{shown_html(title)}</b></p><p>No budget is open.</p></div>"
    parts = (
        f"<li><b>{shown_html(_name(one))}</b>{one.bar()}{'; '.join(shown_html(part) for part in one.told)}. "
        f"{shown_html(one.outlook.words)}</li>"
        for one in found
    )
    more = f"<p>The first {_MOST} by name.</p>" if len(found) == _MOST else ""
    return f"<div><p><b>{shown_html(title)}</b></p><ul>{''.join(parts)}</ul>{more}</div>"


def _read(store: Store) -> Sequence[Status]:
    """Return how every open budget stands, analysts' parts left out; of very many the first by name."""
    with store.snapshot() as transaction:
        names = [dataset for dataset, analyst, _ in list_budgets(transaction, closed=False) if not analyst]
        return [read_status(transaction, name, "", "") for name in names[:_MOST]]


def _line(status: Status) -> str:
    told = "; ".join(map(str, status.told))
    return f"{_name(status)}: {told}. {status.outlook.words}"


def _name(status: Status) -> str:
    return shown(status.dataset + (f" in {status.period}" if status.period else ""))
