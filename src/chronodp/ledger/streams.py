"""Streams: each step's state and released values in one transaction; only the newest state can go on.

The paragraph on a stream's step under "Crashes" of ``docs/explanation/proofs/ledger.md``, and *Durability* of
``docs/explanation/proofs/streams.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chronodp.errors import InvalidArgument, StreamConflict, UnknownStream
from chronodp.ledger.budget import Dates
from chronodp.ledger.debits import Spend, debit
from chronodp.ledger.keys import Keys, row_context, state_context
from chronodp.ledger.names import check_name
from chronodp.ledger.opening import Opened
from chronodp.ledger.store import Transaction
from chronodp.ledger.watch import account_counters, charge_counters, stream_counter
from chronodp.privacy import Cost, Unit, check_text

__all__ = ["LedgerStreams", "Opening", "StreamState", "check_step", "write_step", "write_stream"]


@dataclass(frozen=True, slots=True)
class Opening:
    """A stream that is to be opened: its name, a text that identifies its plan, and its first state, a secret."""

    name: str
    plan: str
    state: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_text("plan", self.plan, private=True)
        _check_state(self.state)


@dataclass(frozen=True, slots=True)
class StreamState:
    """Where a stream stands: how many steps are released, and the secret it needs to go on."""

    name: str
    dataset: str
    step: int
    state: bytes
    finished: bool

    def __repr__(self) -> str:
        return f"StreamState({self.name!r}, step={self.step}, finished={self.finished})"


class LedgerStreams:
    """What a `Ledger` does for mechanisms with steps."""

    _opened: Opened

    def open_stream(
        self,
        dataset: str,
        name: str,
        *,
        cost: Cost,
        unit: Unit,
        plan: str,
        state: bytes,
        analyst: str = "",
        dates: Dates | None = None,
    ) -> StreamState:
        """Debit a stream's whole cost and seal its first state, in one transaction."""
        opening = Opening(name, plan, state)
        spend = Spend(dataset, cost, unit, analyst, dates, name)
        opened = self._opened
        watch, reached = opened.watch, opened.reached
        with opened.store.transaction() as transaction:
            write_stream(transaction, opened.own_keys, dataset, opening)
            charged = watch.check_ahead(charge_counters(debit(transaction, spend, opened.terms)))
            rooms = watch.reserve(charged)
            reached("stream written")
        reached("stream committed")
        watch.saw(charged, sync=True, rooms=rooms)  # if that fails all the same, whoever resumes it marks it first
        reached("stream marked")
        return StreamState(name, dataset, 0, state, finished=False)

    def advance_stream(
        self,
        before: StreamState,
        *,
        values: list[str],
        state: bytes,
        finished: bool = False,
        rows: Sequence[bytes] = (),
    ) -> StreamState:
        """Commit the next steps of a stream: their released values, the new state and new rows, all or nothing.

        What is released may be announced once this returns. ``rows`` are sealed beside the state, each by itself: what
        grows is written once, not anew with every step.
        """
        check_step(values, state, rows)
        return self._advance_stream(before, values=values, state=state, finished=finished, rows=rows)

    def _advance_stream(
        self, before: StreamState, *, values: list[str], state: bytes, finished: bool, rows: Sequence[bytes]
    ) -> StreamState:
        """Commit steps whose values are known to be texts, and state and rows bytes: a durable stream has made them."""
        if not values:
            return before
        opened = self._opened
        reached = opened.reached
        with opened.store.transaction() as transaction:
            after, stands = write_step(
                opened, transaction, before, values=values, state=state, finished=finished, rows=rows
            )
            reached("step written")
        reached("step committed")
        opened.watch.saw(stands)  # before anyone is told: what was announced was marked
        reached("step marked")
        return after

    def resume_stream(self, name: str, *, plan: str | None = None) -> StreamState:
        """Return the newest state of a stream, unless the ledger is older than what was announced."""
        check_name("name", name)
        opened = self._opened
        with opened.store.snapshot() as transaction:
            rows = transaction.run(
                "SELECT dataset, fingerprint, step, state, finished FROM streams WHERE name = ?", (name,)
            )
            if not rows:
                known = transaction.run("SELECT name FROM streams ORDER BY name LIMIT 50")
                names = ", ".join(row[0] for row in known) or "none yet"
                raise UnknownStream(f"no stream {name!r}; known: {names}")
            charged = account_counters(transaction, rows[0][0])
        dataset, fingerprint, step, sealed, finished = rows[0]
        if plan is not None and plan != fingerprint:
            raise StreamConflict(f"stream {name!r} was opened with another plan")
        opened.watch.check_step(name, int(step), charged)
        state = opened.own_keys.unseal(sealed, state_context(name, int(step)))
        return StreamState(name, dataset, int(step), state, bool(finished))

    def stream_rows(self, stream: StreamState) -> list[bytes]:
        """Return what a stream keeps beside its state: secrets, in the order they were written, up to its step."""
        opened, name = self._opened, stream.name
        with opened.store.snapshot() as transaction:
            rows = transaction.run(
                "SELECT step, number, sealed FROM stream_rows WHERE stream = ? AND step <= ? ORDER BY step, number",
                (name, stream.step),
            )
        keys = opened.own_keys
        return [keys.unseal(sealed, row_context(name, int(step), int(number))) for step, number, sealed in rows]


def write_stream(transaction: Transaction, keys: Keys, dataset: str, opening: Opening) -> None:
    """Seal a stream's first state; whoever calls debits what it costs in the same transaction."""
    taken = transaction.run(
        "INSERT INTO streams (name, dataset, fingerprint, step, state, finished) VALUES (?, ?, ?, 0, ?, 0) "
        "ON CONFLICT DO NOTHING RETURNING name",
        (opening.name, dataset, opening.plan, keys.seal(opening.state, state_context(opening.name, 0))),
    )
    if not taken:
        raise StreamConflict(f"a stream {opening.name!r} exists: resume it, or choose another name")


def check_step(values: list[str], state: bytes, rows: Sequence[bytes] = ()) -> None:
    """Refuse values, a state and rows that cannot be written, before a transaction begins."""
    _check_state(state)
    for row in rows:
        _check_state(row)
    for value in values:
        check_text("values", value, private=True)


def write_step(
    opened: Opened,
    transaction: Transaction,
    before: StreamState,
    *,
    values: list[str],
    state: bytes,
    finished: bool,
    rows: Sequence[bytes] = (),
) -> tuple[StreamState, Mapping[str, int]]:
    """Write the next steps of a stream that stands where it did; return where it stands then, and what to mark."""
    keys, step = opened.own_keys, before.step + len(values)
    moved = transaction.run(
        "UPDATE streams SET step = ?, state = ?, finished = ? WHERE name = ? AND step = ? AND finished = 0 "
        "RETURNING step",
        (step, keys.seal(state, state_context(before.name, step)), int(finished), before.name, before.step),
    )
    if not moved:
        raise StreamConflict(
            f"stream {before.name!r} is finished or has gone on past step {before.step} elsewhere: "
            "resume its newest state"
        )
    transaction.run(
        "INSERT INTO steps (stream, step, released) VALUES (?, ?, ?)", (before.name, step, json.dumps(values))
    )
    for number, row in enumerate(rows):
        transaction.run(
            "INSERT INTO stream_rows (stream, step, number, sealed) VALUES (?, ?, ?, ?)",
            (before.name, step, number, keys.seal(row, row_context(before.name, step, number))),
        )
    stands = opened.watch.check_ahead({stream_counter(before.name): step})
    return StreamState(before.name, before.dataset, step, state, finished), stands


def _check_state(state: object) -> None:
    if not isinstance(state, bytes):
        raise InvalidArgument("state", state, "bytes", private=True)
