"""Who a ledger is: an id and a public key in its database, which must be those of the keys file at hand.

*Identity* under "A ledger that knows itself" of ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chronodp.errors import KeysMismatch
from chronodp.ledger.accounts import now
from chronodp.ledger.keyfile import KeyFile, create_keys, read_keys
from chronodp.ledger.restoration import read_restoration
from chronodp.ledger.store import Store, Transaction
from chronodp.ledger.watch import seen_generation

__all__ = ["Identity", "adopt", "check_beside", "establish", "read_identity"]

_MEND = "give keys= (on the command line --keys) the file that was made with this ledger"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a ledger is.

    Attributes:
        ledger: its id.
        public_key: that its certificates are verified with.
        generation: 1, and one more each time it was restored from a backup.
        restored: what certificates say about that; empty if it never was.
    """

    ledger: str
    public_key: str
    generation: int
    restored: str


def read_identity(transaction: Transaction) -> Identity | None:
    """Return who a ledger is, None if nobody has said so yet."""
    rows = transaction.run("SELECT ledger, public_key, generation FROM identity")
    return Identity(rows[0][0], rows[0][1], int(rows[0][2]), read_restoration(transaction)) if rows else None


def check_beside(database: Path, keys: Path) -> None:
    """Refuse to make a ledger beside keys that have served one: its database was lost or moved."""
    found = read_keys(keys)  # before the database is looked for: whoever makes both makes the keys' marks last
    if found is not None and found.used and not (database.exists() and database.stat().st_size):
        raise KeysMismatch(_lost(database.name, keys))


def establish(
    store: Store, keys: Path | None, reached: Callable[[str], None]
) -> tuple[Identity | None, KeyFile | None]:
    """Return who a ledger is and its keys file, both made for a new ledger; refuse keys that are not its own.

    A ledger in a server that is opened without a keys file has no keys here, and no identity until it has some.
    """
    with store.snapshot() as transaction:
        identity = read_identity(transaction)
    if keys is None:
        return identity, None
    if identity is None:
        with store.transaction() as transaction:
            transaction.alone()
            identity = read_identity(transaction) or _introduce(transaction, keys, reached)
            reached("identity written")
        reached("identity committed")
    file = read_keys(keys)
    if file is None:
        raise KeysMismatch(f"there are no keys at {keys.name}, and this ledger has some: {_MEND}")
    if file.keys.public != identity.public_key or file.ledger != identity.ledger:
        raise KeysMismatch(f"the keys in {keys.name} are those of another ledger: {_MEND}")
    return identity, file


def adopt(store: Store, keys: Path | None, reached: Callable[[str], None]) -> tuple[Identity | None, KeyFile | None]:
    """Do as `establish`, but let a backup from before its ledger had keys have the identity that these keys know."""
    file = None if keys is None else read_keys(keys)
    if file is not None and file.used:
        with store.transaction() as transaction:
            transaction.alone()
            if read_identity(transaction) is None:
                _check_unsigned(transaction)
                _write(transaction, Identity(file.ledger, file.keys.public, seen_generation(file.marks), ""))
    return establish(store, keys, reached)


def _introduce(transaction: Transaction, path: Path, reached: Callable[[str], None]) -> Identity:
    """Give a ledger its identity. The keys are on disk before it is committed."""
    _check_unsigned(transaction)
    # A file that was never used is that of a process that died right here.
    file = read_keys(path) or create_keys(path, os.urandom(16).hex())
    if file.used and not transaction.run("SELECT 1 FROM budgets LIMIT 1"):
        raise KeysMismatch(_lost("the ledger", path))
    if file.used:
        raise KeysMismatch(
            f"the keys in {path.name} serve a ledger, and this one has no keys yet: it is another, or a backup of that "
            "ledger from before it had them. Put that ledger here, or `chronodp budget restore`; give another ledger "
            "keys of its own"
        )
    reached("keys written")
    identity = Identity(file.ledger, file.keys.public, 1, "")
    _write(transaction, identity)
    return identity


def _write(transaction: Transaction, identity: Identity) -> None:
    transaction.run(
        "INSERT INTO identity (ledger, public_key, generation, made) VALUES (?, ?, ?, ?)",
        (identity.ledger, identity.public_key, identity.generation, now()),
    )


def _check_unsigned(transaction: Transaction) -> None:
    """Refuse a database that holds what was signed or sealed, and not whose it is: something took that away."""
    if any(transaction.run(f"SELECT 1 FROM {table} LIMIT 1") for table in ("links", "streams")):
        raise KeysMismatch("this ledger holds what was signed, and not by whom: it is damaged. Put a copy back")


def _lost(what: str, keys: Path) -> str:
    return (
        f"{keys.name} holds the keys of a ledger, and {what} is not there or is empty: it was moved or lost. Put it "
        "back, or restore a backup; for a new ledger choose another name, or move these keys away"
    )
