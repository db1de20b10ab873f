"""What a ledger that was restored from a backup says about itself, in every later certificate."""

from __future__ import annotations

import datetime as dt

from chronodp.ledger.store import Transaction

__all__ = ["describe_restoration", "read_restoration"]


def read_restoration(transaction: Transaction) -> str:
    """Return the words for a ledger's restorations; empty if there was none."""
    rows = transaction.run("SELECT made, known_until, complete FROM restorations ORDER BY generation")
    return "; ".join(describe_restoration(int(row[0]), int(row[1]), complete=bool(row[2])) for row in rows)


def describe_restoration(made: int, known_until: int, *, complete: bool) -> str:
    """Return the words for one restoration, from times in microseconds since 1970."""
    between = f"what was released between {_when(known_until)} and then"
    known = (
        f"{between} is known by the owner's declaration"
        if complete
        else f"{between} is not known to this ledger, and was booked as all that was left"
    )
    return f"restored from a backup on {_when(made)}; {known}"


def _when(moment: int) -> str:
    return dt.datetime.fromtimestamp(moment / 1e6, dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
