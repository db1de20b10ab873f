"""What a ledger has stored: releases and the steps of streams, read again and never drawn again."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from chronodp.ledger.affected import Affected, find_affected
from chronodp.ledger.certificates import SignedLink
from chronodp.ledger.choices import kept_choices
from chronodp.ledger.numbers import Written
from chronodp.ledger.releases import mark_stored, read_parts
from chronodp.ledger.store import Row, Store
from chronodp.ledger.watch import Watch, stream_counter

__all__ = ["Stored", "StoredRelease", "StoredStream"]

_RELEASE = (
    "SELECT l.number, r.request, r.release, l.body, l.signature FROM requests r "
    "JOIN links l ON l.dataset = r.dataset AND l.number = r.link WHERE r.dataset = ? "
)


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """A release by its number in the dataset's chain."""

    number: int
    request: str
    text: str = field(repr=False)
    signed: SignedLink
    parts: tuple[bytes, ...] = field(default=(), repr=False)
    """Of numbers that are too many for its text, packed; not read where releases are listed."""

    @property
    def written(self) -> Written:
        """The release with all of its numbers."""
        return Written(self.text, self.parts)


@dataclass(frozen=True, slots=True)
class StoredStream:
    """A stream's public side: its name, whose budget paid, its plan as JSON, and how far it has come."""

    name: str
    dataset: str
    plan: str
    step: int
    finished: bool


class Stored:
    """Reads what is stored. Nothing here is secret beyond what was released, and nothing is spent.

    What is handed out is marked first: whoever stored it may have died before.
    """

    def __init__(self, store: Store, watch: Watch) -> None:
        self._store, self._watch = store, watch

    def releases(self, dataset: str, *, before: int | None = None, limit: int = 100) -> list[StoredRelease]:
        """Return the newest releases of a dataset, newest first; those numbered below ``before`` if given."""
        rows = self._run(
            f"{_RELEASE} AND l.number < ? ORDER BY l.number DESC LIMIT ?",
            (dataset, 2**62 if before is None else before, limit),
        )
        return self._marked(dataset, rows)

    def release(self, dataset: str, number: int) -> StoredRelease | None:
        """Return a release by its number."""
        return self._whole(dataset, self._run(f"{_RELEASE} AND l.number = ?", (dataset, number)))

    def release_of(self, dataset: str, request: str) -> StoredRelease | None:
        """Return the release of a request, if there is one."""
        return self._whole(dataset, self._run(f"{_RELEASE} AND r.request = ?", (dataset, request)))

    def was_debited(self, dataset: str, request: str) -> bool:
        """Return whether a request was debited, released or not."""
        return bool(self._run("SELECT 1 FROM requests WHERE dataset = ? AND request = ?", (dataset, request)))

    def may_go_on(self, dataset: str, request: str) -> bool:
        """Return whether a request with choices before its release was debited, and nothing of it is being drawn.

        The same plan under the same request then goes on with the choices it has.
        """
        with self._store.snapshot() as transaction:
            sql = "SELECT 1 FROM requests WHERE dataset = ? AND request = ? AND release IS NULL"
            open_ones = transaction.run(sql, (dataset, request))
            return bool(open_ones) and kept_choices(transaction, dataset, request) is not None

    def affected(self) -> list[Affected]:
        """Return the releases that a mistake of the version which made them may have touched."""
        return find_affected(self._store)

    def streams(self) -> list[StoredStream]:
        """Return every stream and alert."""
        rows = self._run("SELECT name, dataset, fingerprint, step, finished FROM streams ORDER BY name")
        return [StoredStream(row[0], row[1], row[2], int(row[3]), bool(row[4])) for row in rows]

    def steps(self, name: str, *, after: int = 0, until: int = 2**62) -> list[str]:
        """Return what a stream released after so many steps, one text a step; with ``until``, up to that commit."""
        rows = self._run(
            "SELECT step, released FROM steps WHERE stream = ? AND step > ? AND step <= ? ORDER BY step",
            (name, after, until),
        )
        found: list[str] = []
        self._watch.saw({stream_counter(name): int(row[0]) for row in rows[-1:]}, sync=True)
        for row in rows:
            values = json.loads(row[1])
            first = int(row[0]) - len(values)  # one row holds all steps of one transaction
            found += values[max(0, after - first) :]
        return found

    def _run(self, sql: str, parameters: tuple[str | int, ...] = ()) -> list[Row]:
        with self._store.snapshot() as transaction:
            return transaction.run(sql, parameters)

    def _whole(self, dataset: str, rows: list[Row]) -> StoredRelease | None:
        """Return the release in a row with the numbers beside its text."""
        for found in self._marked(dataset, rows):
            with self._store.snapshot() as transaction:
                return replace(found, parts=read_parts(transaction, dataset, found.request))
        return None

    def _marked(self, dataset: str, rows: list[Row]) -> list[StoredRelease]:
        found = [StoredRelease(int(row[0]), row[1], row[2], SignedLink(row[3], row[4])) for row in rows]
        if found:
            mark_stored(self._store, self._watch, dataset, max(one.number for one in found))
        return found
