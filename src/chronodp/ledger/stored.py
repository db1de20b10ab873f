"""What a ledger has stored: releases and the steps of streams, read again and never drawn again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from chronodp.ledger.askers import asked_by
from chronodp.ledger.certificates import SignedLink
from chronodp.ledger.choices import kept_choices
from chronodp.ledger.claims import ClaimCount, list_claims
from chronodp.ledger.numbers import Written
from chronodp.ledger.releases import mark_stored, read_parts
from chronodp.ledger.store import Row, Store
from chronodp.ledger.watch import Watch, stream_counter

__all__ = ["ListedRelease", "Place", "Stored", "StoredRelease", "StoredStream"]

Place: TypeAlias = tuple[int, str, int]
"""Where a release stands among those of many datasets: when it was paid, its dataset and its number there."""

_RELEASE = (
    "SELECT l.number, r.request, r.release, l.body, l.signature FROM requests r "
    "JOIN links l ON l.dataset = r.dataset AND l.number = r.link WHERE r.dataset = ? "
)
_LISTED = (
    "SELECT r.dataset, r.link, r.request, r.made, r.kind, l.body, l.signature "
    "FROM requests r JOIN links l ON l.dataset = r.dataset AND l.number = r.link "
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
class ListedRelease:
    """A release in a list, without its text, which may be long.

    Attributes:
        dataset: whose budget paid.
        number: in the dataset's chain.
        request: under which it was asked for.
        made: when it was paid, in microseconds since 1970.
        kind: of its text; empty if that says none.
        signed: its link.
    """

    dataset: str
    number: int
    request: str
    made: int
    kind: str
    signed: SignedLink

    @property
    def place(self) -> Place:
        """Where it stands among those of many datasets."""
        return self.made, self.dataset, self.number


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
            f"{_RELEASE} AND r.link < ? ORDER BY r.link DESC LIMIT ?",
            (dataset, 2**62 if before is None else before, limit),
        )
        return self._marked(dataset, rows)

    def listed(
        self, dataset: str, *, by: str | None = None, before: int | None = None, limit: int = 100
    ) -> list[ListedRelease]:
        """Return the newest releases of a dataset, newest first; of one asker, such as ``ana/``, if given."""
        whose, given = asked_by("r.request", by)
        rows = self._run(
            f"{_LISTED} WHERE r.dataset = ? AND {whose} AND r.link IS NOT NULL AND r.link < ? "
            "ORDER BY r.link DESC LIMIT ?",
            (dataset, *given, 2**62 if before is None else before, limit),
        )
        return self._listed(rows)

    def listed_among(
        self, datasets: Sequence[str], *, by: str | None = None, before: Place | None = None, limit: int = 100
    ) -> list[ListedRelease]:
        """Return the newest releases of many datasets, in the order in which they were paid, newest first."""
        if not datasets:
            return []
        # Not a plain column: the list of datasets is no way in, since rows are wanted in the order of the other index.
        among = f"r.dataset || '' IN ({', '.join('?' * len(datasets))})"
        whose, given = asked_by("r.request", by)
        older, place = ("", ()) if before is None else ("AND (r.made, r.dataset, r.link) < (?, ?, ?) ", before)
        rows = self._run(
            f"{_LISTED} WHERE r.link IS NOT NULL AND {among} AND {whose} {older}"
            "ORDER BY r.made DESC, r.dataset DESC, r.link DESC LIMIT ?",
            (*datasets, *given, *place, limit),
        )
        return self._listed(rows)

    def numbers_of(self, requests: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """Return the numbers of what was released under requests, each named with its dataset."""
        if not requests:
            return {}
        pairs = ", ".join(["(?, ?)"] * len(requests))
        rows = self._run(
            f"SELECT r.dataset, r.request, r.link FROM (VALUES {pairs}) AS v "
            "JOIN requests r ON r.dataset = v.column1 AND r.request = v.column2",
            tuple(part for pair in requests for part in pair),
        )
        rows = [row for row in rows if row[2] is not None]
        self._mark((row[0], int(row[2])) for row in rows)
        return {(row[0], row[1]): int(row[2]) for row in rows}

    def claims(
        self,
        *,
        whole: Sequence[str],
        own: Sequence[str] = (),
        by: str = "",
        before: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> list[ClaimCount]:
        """Return what releases claim, most first: of all releases of some datasets, and of one asker's in others."""
        with self._store.snapshot() as transaction:
            return list_claims(transaction, whole=whole, own=own, asker=by, before=before, limit=limit)

    def release(self, dataset: str, number: int) -> StoredRelease | None:
        """Return a release by its number."""
        return self._whole(dataset, self._run(f"{_RELEASE} AND r.link = ?", (dataset, number)))

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

    def streams(self, datasets: Sequence[str] | None = None) -> list[StoredStream]:
        """Return every stream and alert, or those of some datasets, by name."""
        if datasets is not None and not datasets:
            return []
        among = "" if datasets is None else f"WHERE dataset IN ({', '.join('?' * len(datasets))}) "
        return self._streams(f"{among}ORDER BY name", tuple(datasets or ()))

    def stream(self, name: str) -> StoredStream | None:
        """Return a stream by its name, if there is one."""
        return next(iter(self._streams("WHERE name = ?", (name,))), None)

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

    def _streams(self, wanted: str, parameters: tuple[str, ...]) -> list[StoredStream]:
        rows = self._run(f"SELECT name, dataset, fingerprint, step, finished FROM streams {wanted}", parameters)
        return [StoredStream(row[0], row[1], row[2], int(row[3]), bool(row[4])) for row in rows]

    def _listed(self, rows: list[Row]) -> list[ListedRelease]:
        self._mark((row[0], int(row[1])) for row in rows)
        return [
            ListedRelease(
                dataset=row[0],
                number=int(row[1]),
                request=row[2],
                made=int(row[3]),
                kind=row[4],
                signed=SignedLink(row[5], row[6]),
            )
            for row in rows
        ]

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
        self._mark((dataset, one.number) for one in found)
        return found

    def _mark(self, numbers: Iterable[tuple[str, int]]) -> None:
        """Mark releases, by dataset and number, that are to be handed out or named."""
        newest: dict[str, int] = {}
        for dataset, number in numbers:
            newest[dataset] = max(number, newest.get(dataset, 0))
        mark_stored(self._store, self._watch, newest)
