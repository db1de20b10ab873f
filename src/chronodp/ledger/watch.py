"""Whether a ledger is behind what was seen of it: its own counters against the marks in its keys file and elsewhere.

Everything that is acknowledged raises a counter that the database keeps anyway: charges of an account, releases of a
dataset, steps of a stream, a budget that is closed. The number is marked after the commit and before the caller goes
on, so a database that lost what was acknowledged holds a lower number than its mark. A crash between the two leaves the
database ahead of the mark, which is no fault: nobody was told. The argument: *Marks* and *Order* under "A ledger that
knows itself" in ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from chronodp.errors import LedgerSetBack, StreamConflict
from chronodp.ledger.debits import Charge
from chronodp.ledger.marks import MarkFile, Room
from chronodp.ledger.store import Store, Transaction
from chronodp.ledger.witness import FileWitness, Witness

__all__ = [
    "Reached",
    "Rooms",
    "Watch",
    "account_counters",
    "charge_counter",
    "charge_counters",
    "closing_counter",
    "counters",
    "release_counter",
    "stream_counter",
    "unheard",
]

_GENERATION = '["generation"]'
_KEPT = '["witness"]'  # 1 in a keys file whose ledger keeps a witness: of the ledger in every generation
_SHOWN = 3  # differences that a message tells

Reached: TypeAlias = Callable[[str], None]
"""Called with the name of each gap that a crash could fall into: something is written, committed, marked."""

Rooms: TypeAlias = tuple[Room | None, Room | None]
"""What was set aside for marks: in the keys file, and in a witness's."""


def unheard(gap: str) -> None:
    """Go on: nobody wants to crash here."""
    del gap


class Watch:
    """What was seen of one ledger. Safe in threads.

    Args:
        marks: in its keys file; None for a ledger in a server that was opened without keys.
        witness: kept elsewhere, if there is one.
        generation: counts how often the ledger was restored from a backup, from 1; each counts anew.
    """

    def __init__(self, marks: MarkFile | None, witness: Witness | None, generation: int) -> None:
        self._marks, self._elsewhere = marks, witness
        self._file = witness.marks if isinstance(witness, FileWitness) else None
        self._witness = None if isinstance(witness, FileWitness) else witness
        self._generation = generation
        self._known: dict[str, int] = {}

    def at(self, generation: int) -> Watch:
        """Return the same, of another generation."""
        return Watch(self._marks, self._elsewhere, generation)

    def newest_generation(self) -> int:
        """Return the newest generation that was seen or stands in the database."""
        return max(self._generation, self.seen().get(_GENERATION, 0), self._witnessed(_GENERATION))

    def check_witness(self) -> None:
        """Refuse a witness that knows nothing where the keys know that one was kept."""
        if self._elsewhere is None or self._marks is None or not self._marks.read().get(_KEPT):
            return
        # After the keys, which are told of a witness once it holds marks: the generation among them.
        if not (self._witnessed(_GENERATION) if self._file is None else self._file.read()):
            raise LedgerSetBack(
                f"{'the witness' if self._file is None else self._file.name} holds no marks, and this ledger has a "
                "witness that does: put that in its place. If it is lost, nobody can tell whether ledger and keys were "
                "set back together: `chronodp budget restore --witness` takes a new one and books what is unknown as "
                "spent; with --complete you declare that nothing is. Nothing is spent before"
            )

    def check(self, store: Store) -> None:
        """Refuse a ledger that is behind what was seen of it; then mark what nobody had come to mark.

        From then on its keys know that a witness is kept, if one was given.
        """
        for file in (self._marks, self._file):
            if file is not None:
                file.check_writable()
        seen = self.seen()  # before the database is read: others go on, and mark only what they have committed
        with store.snapshot() as transaction:
            found = counters(transaction)
        for name in found if self._witness is not None else ():
            seen[name] = max(seen.get(name, 0), self._witnessed(name))
        if seen.get(_GENERATION, 0) > found.get(_GENERATION, 0):
            raise LedgerSetBack(
                "this is a copy from before the ledger was restored from a backup, and what it knows was booked as "
                "unknown: put the restored ledger in its place. Nothing is spent from this one"
            )
        behind = {name: number for name, number in seen.items() if number > found.get(name, 0)}
        if behind:
            raise LedgerSetBack(_described(behind, found))
        self._known = seen
        self._tell_witness(found)
        self.saw(found, sync=True)
        if self._elsewhere is not None and self._marks is not None and not self._marks.read().get(_KEPT):
            self._marks.add({_KEPT: 1}, sync=True)

    def seen(self) -> dict[str, int]:
        """Return the highest number of every counter in the keys file and in a witness file."""
        highest: dict[str, int] = {}
        for file in (self._marks, self._file):
            for scoped, number in (file.read() if file is not None else {}).items():
                name = self._unscoped(scoped)
                if name is not None:
                    highest[name] = max(number, highest.get(name, 0))
        return highest

    def check_ahead(self, numbers: Mapping[str, int]) -> Mapping[str, int]:
        """Return counters as a transaction has raised them, before it commits, if nobody has seen them so high before.

        The transaction holds their rows: whatever was seen of them was committed before, so a number that was seen
        already shows that the database was set back while this process had it open.
        """
        for name, number in numbers.items():
            newest = self._newest(name)
            if number <= newest:  # equal as well: this transaction has raised it, so it was one less before
                raise LedgerSetBack(_described({name: newest}, {name: number - 1}))
        return numbers

    def reserve(self, *lines: Mapping[str, int]) -> Rooms:
        """Set room aside for marks, each mapping for one call of `saw`: before what they count is committed.

        Where that fails nothing was spent, since whoever calls rolls back.
        """
        scoped = lines if self._generation == 1 else [self._all_scoped(line) for line in lines]
        marks, file = self._marks, self._file
        return None if marks is None else marks.reserve(*scoped), None if file is None else file.reserve(*scoped)

    def try_adding(self) -> None:
        """Refuse files that no mark could be added to now. Adds blanks to them, which say nothing."""
        for file in (self._marks, self._file):
            if file is not None:
                file.try_adding()

    def has_seen(self, name: str, number: int) -> bool:
        """Return whether a counter is marked so high."""
        return number <= self._known.get(name, 0)

    def check_step(self, stream: str, step: int, charged: Mapping[str, int]) -> None:
        """Refuse to go on with a stream from an older step than was announced; mark the step it stands at.

        With it what was charged: whoever opened the stream may have died, or failed, before that was marked.
        """
        name = stream_counter(stream)
        elsewhere = self._file.read().get(self._scoped(name), 0) if self._file is not None else self._witnessed(name)
        newest = max(self._known.get(name, 0), elsewhere)
        if newest > step:
            raise StreamConflict(
                f"stream {stream!r} stands at step {step} in this ledger but {newest} was announced: the ledger was "
                "set back, and going on would release steps twice"
            )
        self.saw({**charged, name: step}, sync=True)

    def saw(self, numbers: Mapping[str, int], *, sync: bool = False, rooms: Rooms = (None, None)) -> None:
        """Remember counters that were committed, before anyone is told of what they count; in room set aside, if any.

        Counters that cannot be marked are not known either: whoever comes next tries again.
        """
        known = self._known
        new = {name: number for name, number in numbers.items() if number > known.get(name, 0)}
        if not new:
            return
        scoped = new if self._generation == 1 else self._all_scoped(new)
        if self._marks is not None:
            self._marks.add(scoped, sync=sync, room=rooms[0])
        if self._file is not None:
            self._file.add(scoped, sync=True, room=rooms[1])
        if self._witness is not None:
            for name, number in scoped.items():
                self._witness.saw(name, number)
        for name, number in new.items():
            known[name] = max(number, known.get(name, 0))

    def close(self) -> None:
        """Sync what is not yet synced."""
        for file in (self._marks, self._file):
            if file is not None:
                file.close()

    def _tell_witness(self, found: Mapping[str, int]) -> None:
        """Mark with a witness what it lacks: it is new, or the ledger was used without it."""
        scoped = self._all_scoped(found)
        if self._file is not None:
            held = self._file.read()
            lacking = {name: number for name, number in scoped.items() if number > held.get(name, 0)}
            if lacking:
                self._file.add(lacking, sync=True)
        elif self._witness is not None:
            for name, number in scoped.items():
                if number > self._witness.newest(name):
                    self._witness.saw(name, number)

    def _newest(self, name: str) -> int:
        known = self._known.get(name, 0)
        return known if self._witness is None or known else self._witnessed(name)

    def _witnessed(self, name: str) -> int:
        return 0 if self._witness is None else self._witness.newest(self._scoped(name))

    def _scoped(self, name: str) -> str:
        """Return the name under which a counter is marked: in a first generation its own."""
        if self._generation == 1 or name == _GENERATION:
            return name
        return _json("generation", self._generation, name)

    def _all_scoped(self, numbers: Mapping[str, int]) -> dict[str, int]:
        return {self._scoped(name): number for name, number in numbers.items()}

    def _unscoped(self, scoped: str) -> str | None:
        """Return the counter that a mark is of, None if it is of another generation."""
        if scoped == _KEPT:
            return None
        parts = json.loads(scoped) if scoped.startswith('["generation", ') else None
        if parts is None:
            return scoped if self._generation == 1 or scoped == _GENERATION else None
        return str(parts[2]) if parts[1] == self._generation else None


def seen_generation(marks: MarkFile) -> int:
    """Return the generation that a ledger was last seen in."""
    return max(1, marks.read().get(_GENERATION, 1))


def counters(transaction: Transaction) -> dict[str, int]:
    """Return every counter of a ledger as it stands."""
    found = {
        charge_counter(row[0], row[1], row[2]): int(row[3])
        for row in transaction.run("SELECT dataset, analyst, period, charges FROM accounts WHERE charges > 0")
    }
    chains = transaction.run("SELECT dataset, number FROM chains WHERE number > 0")
    found |= {release_counter(row[0]): int(row[1]) for row in chains}
    found |= {stream_counter(row[0]): int(row[1]) for row in transaction.run("SELECT name, step FROM streams")}
    closed = transaction.run("SELECT dataset, analyst FROM budgets WHERE closed IS NOT NULL")
    found |= {closing_counter(row[0], row[1]): 1 for row in closed}
    for row in transaction.run("SELECT generation FROM identity"):
        found[_GENERATION] = int(row[0])
    return found


def account_counters(transaction: Transaction, *datasets: str) -> dict[str, int]:
    """Return how many charges the accounts of some datasets hold."""
    rows = transaction.run(
        "SELECT dataset, analyst, period, charges FROM accounts "
        f"WHERE dataset IN ({', '.join('?' * len(datasets))}) AND charges > 0",
        datasets,
    )
    return {charge_counter(row[0], row[1], row[2]): int(row[3]) for row in rows}


def charge_counters(charges: Iterable[Charge]) -> dict[str, int]:
    """Return how many charges the accounts of some new charges hold."""
    return {charge_counter(one.dataset, one.analyst, one.period): one.number for one in charges}


@lru_cache(maxsize=4096)
def charge_counter(dataset: str, analyst: str, period: str) -> str:
    """Return the name of the counter of an account's charges."""
    return _json("charges", dataset, analyst, period)


def release_counter(dataset: str) -> str:
    """Return the name of the counter of a dataset's releases."""
    return _json("releases", dataset)


def closing_counter(dataset: str, analyst: str) -> str:
    """Return the name of the counter that is 1 for a closed budget."""
    return _json("closed", dataset, analyst)


@lru_cache(maxsize=4096)
def stream_counter(name: str) -> str:
    """Return the name of the counter of a stream's steps."""
    return _json("steps", name)


def _json(*parts: str | int) -> str:
    return json.dumps(parts, ensure_ascii=False)


def _described(behind: Mapping[str, int], found: Mapping[str, int]) -> str:
    shown = [_difference(name, found.get(name, 0), number) for name, number in sorted(behind.items())[:_SHOWN]]
    more = f", and {len(behind) - _SHOWN} counters more" if len(behind) > _SHOWN else ""
    return (
        f"the ledger was set back: {'; '.join(shown)}{more}. Nothing is spent from it. Put the newest copy back; one "
        "of a SQLite file in use needs its -wal beside it. If there is none, `chronodp budget restore` books what is "
        "unknown"
    )


def _difference(name: str, found: int, seen: int) -> str:
    kind, *of = json.loads(name) if name.startswith("[") else ("numbers", name)  # else of what is no ledger's
    whose = " of ".join(repr(part) for part in reversed(of) if part)
    if kind == "closed":
        return f"the budget {whose} was closed and is open in it"
    return f"it holds {found} {kind} of {whose} and {seen} were made"
