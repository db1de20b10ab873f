"""From an address to a ledger that is known to be the right one, whole, and not behind what was seen of it.

*Identity* and *Marks* under "A ledger that knows itself" in ``docs/explanation/proofs/ledger.md``: nothing is spent
before both were looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from chronodp.errors import InvalidArgument, KeysMismatch, LedgerUnavailable
from chronodp.ledger.address import find_file, open_store
from chronodp.ledger.debits import Terms
from chronodp.ledger.identity import Identity, check_beside, establish
from chronodp.ledger.keyfile import KeyFile
from chronodp.ledger.keys import Keys
from chronodp.ledger.store import Store
from chronodp.ledger.unfinished import Unfinished
from chronodp.ledger.watch import Reached, Watch
from chronodp.ledger.witness import Witness

__all__ = ["Opened", "keys_beside", "open_checked", "open_unchecked"]


@dataclass(frozen=True)
class Opened:
    """What an open ledger is made of.

    Attributes:
        store: the database.
        keys: the owner's; None for a ledger in a server that was opened without them.
        identity: who it is; None if it never had keys.
        watch: what was seen of it.
        reached: called with the name of each gap that a crash could fall into.
        terms: of budgets, as far as they were read.
        unfinished: what this process has to finish, since the database went away under it.
    """

    store: Store
    keys: Keys | None
    identity: Identity | None
    watch: Watch
    reached: Reached
    terms: Terms = field(default_factory=dict, repr=False)
    unfinished: Unfinished = field(default_factory=Unfinished, repr=False)

    @cached_property
    def own_keys(self) -> Keys:
        """The owner's keys; an error if there are none at hand."""
        if self.keys is None:
            if self.identity is not None:
                raise KeysMismatch("this ledger has keys, and was opened without: Ledger(..., keys='their file')")
            raise LedgerUnavailable("a PostgreSQL ledger signs and seals only with Ledger(..., keys='a file of yours')")
        return self.keys

    @property
    def public_key(self) -> str:
        """The public half, which the database knows too."""
        return self.own_keys.public if self.identity is None else self.identity.public_key

    @property
    def restored(self) -> str:
        """What certificates say of a ledger that was restored; empty if it never was."""
        return "" if self.identity is None else self.identity.restored

    def check_marking(self) -> None:
        """Refuse to spend from a ledger that has keys without them: nobody would remember."""
        if self.identity is not None:
            _ = self.own_keys


Identify: TypeAlias = Callable[[Store, Path | None, Reached], tuple[Identity | None, KeyFile | None]]


def open_checked(
    address: str | Path, *, keys: str | Path | None, witness: Witness | None, timeout: float, reached: Reached
) -> Opened:
    """Return a ledger; refuse one with other keys, and one that is behind what was seen of it."""
    opened = open_unchecked(address, keys=keys, witness=witness, timeout=timeout, identify=establish, reached=reached)
    try:
        opened.watch.check_witness()
        opened.watch.check(opened.store)
    except BaseException:
        opened.store.close()
        raise
    reached("opening marked")
    return opened


def open_unchecked(
    address: str | Path,
    *,
    keys: str | Path | None,
    witness: Witness | None,
    timeout: float,
    identify: Identify,
    reached: Reached,
) -> Opened:
    """Return a ledger with its own keys, whether it was set back or not: for whoever restores it."""
    if not isinstance(address, str | Path) or not str(address):
        raise InvalidArgument("address", address, "a file's path or postgresql://...")
    database = find_file(str(address))
    place = keys_beside(database, keys)
    for path in (database, place):
        if path is not None and not path.parent.is_dir():
            raise LedgerUnavailable(f"the folder of {path.name} does not exist")
    if database is not None and place is not None:
        check_beside(database, place)
    store = open_store(str(address), timeout=timeout)
    try:
        identity, file = identify(store, place, reached)
    except BaseException:
        store.close()
        raise
    watch = Watch(None if file is None else file.marks, witness, 1 if identity is None else identity.generation)
    return Opened(store, None if file is None else file.keys, identity, watch, reached)


def keys_beside(database: Path | None, keys: str | Path | None) -> Path | None:
    """Return where a ledger's keys are: the file that was named, or the one beside where the database really is."""
    if keys:
        return Path(os.path.realpath(keys))  # a file that is written anew must not take a link's place
    return None if database is None else database.with_name(f"{database.name}.keys")
