"""From an address to a store that is ready."""

from __future__ import annotations

import os
import re
from pathlib import Path

from chronodp.errors import InvalidArgument
from chronodp.ledger.store import Store
from chronodp.ledger.tables import make_tables

__all__ = ["find_file", "open_store"]


def find_file(address: str) -> Path | None:
    """Return where a ledger in a file really is, whatever links lead there; None if it is in a server."""
    allowed = "a file's path or postgresql://...: a ledger must last"
    if "\x00" in address or not address.isprintable():
        raise InvalidArgument("address", "one with letters that cannot be shown", allowed)
    if re.match(r"postgres(ql)?://", address):
        return None
    if re.match(r"\w\w+:/", address) or "://" in address or address == ":memory:":
        # What comes after the colon may hold a password.
        raise InvalidArgument("address", address.partition(":")[0] or ":memory:", allowed)
    return Path(os.path.realpath(address))


def open_store(address: str, *, timeout: float) -> Store:
    """Return the store at a path or at a ``postgresql://`` address, its tables made if it is new."""
    path = find_file(address)
    if path is None:
        from chronodp.ledger.postgres import PostgresStore

        store: Store = PostgresStore(address, timeout=timeout)
    else:
        from chronodp.ledger.sqlite import SQLiteStore

        store = SQLiteStore(path, timeout=timeout)
    try:
        make_tables(store)
    except BaseException:
        store.close()
        raise
    return store
