"""What people have put into open windows, cut into shares by person: each share is the state of one task of Spark.

What a window totals is a sum over people, and all that is chosen for a person is chosen from their own records. So
shares need nothing of each other, and their sum is what one process would have found. They are counted and closed by
the same `Tally`: "More than one machine" in ``docs/explanation/proofs/live.md``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from chronodp.live.contribution import Limits
from chronodp.live.hash_table import Hashes, Numbers, as_hashes
from chronodp.live.key_limits import KeyLimits
from chronodp.live.records import Batch, Fields, Reader
from chronodp.live.window_keys import KeysClosing, WindowKeys
from chronodp.live.window_totals import Closing, Part, Tally, WindowTotals

__all__ = ["Arrival", "Figures", "Share", "Terms", "Tick", "Yield", "advance", "join", "make_tally", "read_arrivals"]

Figures = NDArray[np.int64]
"""How many records counted, were late, dated ahead, of no group on the list or after the end, and unreadable."""

_COUNTED, _LATE, _AHEAD, _ELSEWHERE, _MALFORMED = range(5)
_HASH = 16


@dataclass(frozen=True)
class Terms:
    """What every task is told.

    Args:
        limits: who is protected, the windows, and how far one person reaches.
        fields: which fields of a record say what.
        key: of the hash that takes the place of people's names.
        shares: how many shares people are cut into.
    """

    limits: Limits | KeyLimits
    fields: Fields
    key: bytes = field(repr=False)
    shares: int


@dataclass(frozen=True, slots=True)
class Tick:
    """What a look at the public clock says: how many windows are due, and how many are by a clock that is doubted."""

    due: int = 0
    doubted: int = 0


@dataclass(frozen=True, slots=True)
class Arrival:
    """What came for one share and window in one piece of a batch. Where nothing counts, ``content`` is empty."""

    share: int
    window: int
    content: bytes
    records: Figures


@dataclass(frozen=True, slots=True)
class Share:
    """What is kept of a share of people between batches: a secret.

    Attributes:
        tick: the last look at the clock; the windows due by it are closed.
        held: what came for windows that are open.
        used: in how many closed windows people have counted.
    """

    tick: Tick = Tick()
    held: dict[int, bytes] = field(default_factory=dict)
    used: dict[bytes, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Yield:
    """What a share puts into a closed window.

    Attributes:
        window: its number.
        content: totals of the groups, or pairs of people and keys.
        people: a digest of who counts in it.
    """

    window: int
    content: bytes
    people: bytes


def make_tally(limits: Limits | KeyLimits, key: bytes) -> Tally:
    """Return what counts under these limits."""
    return WindowKeys(limits, key) if isinstance(limits, KeyLimits) else WindowTotals(limits, key)


def read_arrivals(terms: Terms, messages: Iterable[bytes]) -> Iterator[Arrival]:
    """Read messages by the rule of every live stream, and add up what they hold, by share and window."""
    limits = terms.limits
    longest = limits.longest if isinstance(limits, KeyLimits) else None
    batch = Reader(terms.fields, groups=limits.groups, longest=longest).read(messages)
    if batch.malformed:
        yield Arrival(0, -1, b"", _figures(_MALFORMED, batch.malformed))
    shares = _shares(terms, batch)
    for share in np.unique(shares).tolist():
        yield from _of_share(terms, share, _some(batch, np.flatnonzero(shares == share)))


def _of_share(terms: Terms, share: int, batch: Batch) -> Iterator[Arrival]:
    """Yield what a batch holds for one share; whether its windows are open is asked where that is known."""
    windows = terms.limits.windows
    _, parts = make_tally(terms.limits, terms.key).add(batch, first=0, last=windows.length - 1)
    contents = {part.window: part.content for part in parts}
    number = windows.number(batch.times)
    number[(number < 0) & (batch.times >= windows.begins(0))] = windows.length  # after the last one
    listed = batch.places >= 0
    for window in np.unique(number).tolist():
        here = number == window
        counts = _figures(_COUNTED, int(np.count_nonzero(here & listed)))
        counts[_ELSEWHERE] = np.count_nonzero(here & ~listed)
        yield Arrival(share, window, contents.get(window, b""), counts)


def _shares(terms: Terms, batch: Batch) -> NDArray[np.int64]:
    """Return each record's share: by person or, where nobody is named, by id; the rest is one sum."""

    def of(names: Iterable[str]) -> NDArray[np.int64]:
        hashes = (_hash(terms.key, b"share", name.encode("utf-8", "surrogatepass")) for name in names)
        return np.array([int.from_bytes(one, "little") % terms.shares for one in hashes], dtype=np.int64)

    if batch.names:
        return of(batch.names)[batch.people]
    return np.zeros(len(batch), np.int64) if batch.ids is None else of(batch.ids)


def _some(batch: Batch, at: NDArray[np.intp]) -> Batch:
    """Return some records of a batch, and the people that these name."""
    named, people = np.unique(batch.people[at], return_inverse=True)
    return replace(
        batch,
        times=batch.times[at],
        people=people,
        names=[batch.names[place] for place in named.tolist()] if batch.names else [],
        places=batch.places[at],
        values=None if batch.values is None else batch.values[at],
        ids=None if batch.ids is None else [batch.ids[place] for place in at.tolist()],
        malformed=0,
    )


def advance(
    terms: Terms, share: Share, *, tick: Tick | None, arrivals: Iterable[Arrival]
) -> tuple[Share, list[Yield], Figures]:
    """Take what came in a batch, and close what is due by its look at the clock; no look says what the last one did.

    Steps 2 to 5 of "What is computed" in ``docs/explanation/proofs/live.md``, for the people of one share.
    """
    windows, first = terms.limits.windows, share.tick.due
    now = share.tick if tick is None else Tick(max(first, tick.due), tick.doubted)  # what was closed stays closed
    last = windows.last_open(max(first, now.due - 1, now.doubted - 1))
    held, figures = dict(share.held), np.zeros(5, np.int64)
    pieces: dict[int, list[bytes]] = {}
    for one in arrivals:
        if first <= one.window <= last:
            pieces.setdefault(one.window, []).append(one.content)
            figures += one.records
        else:
            figures[_MALFORMED] += one.records[_MALFORMED]
            figures[_fate(one.window, first, windows.length)] += one.records[: _ELSEWHERE + 1].sum()
    for window, contents in pieces.items():
        held[window] = b"".join([held.get(window, b""), *contents])
    yields, used = _close(terms, held, now.due, share.used)
    return Share(now, {window: held[window] for window in held if window >= now.due}, used), yields, figures


def _close(
    terms: Terms, held: dict[int, bytes], due: int, used: dict[bytes, int]
) -> tuple[list[Yield], dict[bytes, int]]:
    """Return what windows before ``due`` total, and in how many windows people have counted then."""
    closed = sorted(window for window in held if window < due and held[window])
    if not closed:
        return [], used
    counted, yields = dict(used), []

    def before(people: Hashes) -> Numbers:
        return np.array([counted.get(person, 0) for person in people.tolist()], dtype=np.int64)

    tally = make_tally(terms.limits, terms.key)
    for window in closed:
        tally.restore(Part(window, held[window]))
        closing = tally.closing(window, before)
        people = sorted(closing.people.tolist())
        for person in people:
            counted[person] = counted.get(person, 0) + 1
        yields.append(Yield(window, _content(closing), _hash(terms.key, b"counted", b"".join(people))))
        tally.forget(window + 1)
    return yields, counted


def join(limits: Limits | KeyLimits, begin: int, end: int, yields: Iterable[Yield]) -> list[Closing | KeysClosing]:
    """Return what windows from ``begin`` to ``end`` hold over all shares."""
    found: dict[int, list[bytes]] = {}
    for one in yields:
        if begin <= one.window < end:
            found.setdefault(one.window, []).append(one.content)
    if isinstance(limits, KeyLimits):
        return [KeysClosing(window, _pairs(found.get(window, ()))) for window in range(begin, end)]
    nothing = np.zeros(limits.columns, np.int64)
    return [
        Closing(
            window, sum((np.frombuffer(one, "<i8") for one in found.get(window, ())), start=nothing), as_hashes(b"")
        )
        for window in range(begin, end)
    ]


def _content(closing: Closing | KeysClosing) -> bytes:
    """Return what a share puts into a window, as bytes that do not depend on the order in which it came."""
    if isinstance(closing, KeysClosing):
        return json.dumps(closing.pairs).encode()
    return closing.totals.astype("<i8").tobytes()


def _pairs(contents: Iterable[bytes]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((person, key) for content in contents for person, key in json.loads(content)))


def _hash(key: bytes, purpose: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(content, key=key, digest_size=_HASH, person=purpose.ljust(16)).digest()


def _figures(place: int, count: int) -> Figures:
    figures = np.zeros(5, np.int64)
    figures[place] = count
    return figures


def _fate(window: int, first: int, length: int) -> int:
    if window >= length:
        return _ELSEWHERE
    return _LATE if window < first else _AHEAD
