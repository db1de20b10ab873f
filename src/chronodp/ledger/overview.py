"""Every open budget of a ledger at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from chronodp.display import shown, shown_html
from chronodp.ledger.status import Status

__all__ = ["MOST_SHOWN", "budgets_html", "line_of"]

MOST_SHOWN = 20


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
    more = f"<p>The first {MOST_SHOWN} by name.</p>" if len(found) == MOST_SHOWN else ""
    return f"<div><p><b>{shown_html(title)}</b></p><ul>{''.join(parts)}</ul>{more}</div>"


def _name(status: Status) -> str:
    return shown(status.dataset + (f" in {status.period}" if status.period else ""))
