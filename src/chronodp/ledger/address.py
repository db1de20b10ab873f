"""From an address to a store that is ready."""

from __future__ import annotations

import re
from pathlib import Path

from chronodp.errors import InvalidArgument
from chronodp.ledger.migrations import migrate
from chronodp.ledger.store import Store

__all__ = ["open_store"]


def open_store(address: str, *, timeout: float) -> Store:
    """Return the store at a path or at a ``postgresql://`` address, its tables brought up to date."""
    allowed = "a file's path or postgresql://...: a ledger must last"
    if "\x00" in address or not address.isprintable():
        raise InvalidArgument("address", "one with letters that cannot be shown", allowed)
    if re.match(r"postgres(ql)?://", address):
        from chronodp.ledger.postgres import PostgresStore

        store: Store = PostgresStore(address, timeout=timeout)
    elif re.match(r"\w\w+:/", address) or "://" in address or address == ":memory:":
        # What comes after the colon may hold a password.
        raise InvalidArgument("address", address.partition(":")[0] or ":memory:", allowed)
    else:
        from chronodp.ledger.sqlite import SQLiteStore

        store = SQLiteStore(Path(address), timeout=timeout)
    try:
        migrate(store)
    except BaseException:
        store.close()
        raise
    return store
