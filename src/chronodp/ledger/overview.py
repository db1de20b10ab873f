"""Every open budget of a ledger at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from chronodp.display import shown, shown_html
from chronodp.ledger.budgets import list_budgets, read_status
from chronodp.ledger.status import Status
from chronodp.ledger.store import Transaction

__all__ = ["budgets_html", "line_of", "read_open"]

_MOST = 20


def read_open(transaction: Transaction) -> list[Status]:
    """Return how every open budget stands, analysts' parts left out; of very many the first by name."""
    names = [dataset for dataset, analyst, _ in list_budgets(transaction, closed=False) if not analyst]
    return [read_status(transaction, name, "", "") for name in names[:_MOST]]


def line_of(status: Status) -> str:
    """Return a budget in one line: what is spent, what is left, how long it lasts."""
    told = "; ".join(map(str, status.told))
    return f"{_name(status)}: {told}. {status.outlook.words}"


def budgets_html(found: Sequence[Status], *, title: str) -> str:
    """Return budgets for a notebook, each with its bar."""
    if not found:
        return f"<div><p><b>{shown_html(title)}</b></p><p>No budget is open.</p></div>"
    parts = (
        f"<li><b>{shown_html(_name(one))}</b>{one.bar()}{'; '.join(shown_html(part) for part in one.told)}. "
        f"{shown_html(one.outlook.words)}</li>"
        for one in found
    )
    more = f"<p>The first {_MOST} by name.</p>" if len(found) == _MOST else ""
    return f"<div><p><b>{shown_html(title)}</b></p><ul>{''.join(parts)}</ul>{more}</div>"


def _name(status: Status) -> str:
    return shown(status.dataset + (f" in {status.period}" if status.period else ""))
