"""The one durable stream: opened, resumed, locked, stepped and read back alike, whatever a mechanism computes.

A mechanism with steps derives from `DurableStream` and adds what is its own: the codec of its state, the state before
its first step, how a step is computed, and the words of its promise.

*Durability* of ``docs/explanation/proofs/streams.md``: values, noise and the new state are one transaction, announced
after it.
"""

from __future__ import annotations

import json
import struct
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self, TypeVar

from chronodp.errors import StreamConflict, UnknownDocument
from chronodp.ledger.codec import Snapshot, StateCodec
from chronodp.ledger.ledger import Ledger, check_ledger
from chronodp.ledger.streams import Opening, StreamState
from chronodp.privacy import Cost, Shown, Unit, check_kind, dump
from chronodp.randomness import Entropy, check_entropy

__all__ = ["DurableStream"]

Design = TypeVar("Design")
State = TypeVar("State")


class DurableStream(Shown, ABC, Generic[Design, State]):
    """A mechanism with steps whose state lives in the ledger.

    It pays for all of its steps at once, when it opens. A step takes the lock, computes from ``_state`` with draws of
    ``_entropy``, and commits. What is committed may be returned, and nothing else: a step is never drawn twice. Only
    the newest state goes on: of two writers, be they processes, forked children or copies, the second is refused, and
    its draws are never returned.
    """

    codec: ClassVar[StateCodec[Any, Any]]
    """How its state is sealed."""
    takes: ClassVar[tuple[str, Any, str]]
    """The argument that holds its design, the class of it, and what to say where something else is given."""

    _entropy: Entropy
    _lock: threading.Lock
    _ledger: Ledger
    _stored: StreamState
    _snapshot: Snapshot[Design, State]
    _head: bytes

    @classmethod
    def open(
        cls,
        design: Design,
        *,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> Self:
        """Return a stream of a design that was made before: what all steps cost is paid here."""
        stream = cls.__new__(cls)
        stream._open(design, ledger, dataset, name, analyst, entropy)
        return stream

    @classmethod
    def resume(cls, ledger: Ledger, name: str, *, entropy: Entropy | None = None) -> Self:
        """Return a stream where it stands, after a restart or a crash; streams of another kind are refused."""
        check_ledger(ledger)
        bits = check_entropy(entropy)
        stored = ledger.resume_stream(name)
        try:
            snapshot: Snapshot[Design, State] = cls.codec.decode(stored.state)
        except (ValueError, TypeError, LookupError, struct.error):  # without its cause, which could show what is sealed
            raise UnknownDocument(f"stream {name!r} is of another kind than the one that is resumed") from None
        stream = cls.__new__(cls)
        stream._hold(ledger, stored, replace(snapshot, seeded=snapshot.seeded or bits.seeded), bits)
        return stream

    @classmethod
    def opening(cls, design: Design, name: str, *, entropy: Entropy) -> Opening:
        """Return a stream for someone else to open in a transaction of theirs, which debits its cost with others."""
        argument, kind, allowed = cls.takes
        snapshot = cls._first(check_kind(argument, design, kind, allowed), check_entropy(entropy))
        return Opening(name, snapshot.plan, cls.codec.encode(snapshot))

    @property
    def name(self) -> str:
        """The stream's name."""
        return self._stored.name

    @property
    def design(self) -> Design:
        """Everything public about it."""
        return self._snapshot.design

    @property
    def period(self) -> int:
        """The number of the next step, from 0."""
        return self._stored.step

    @property
    def finished(self) -> bool:
        """Whether the last step is on disk."""
        return self._stored.finished

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """What is public of it: a mechanism says more of what it answers."""
        unit = self._price(self.design)[1]
        return [
            *self._answers,
            ("Protects", f"{unit}: {unit.protects}"),
            ("Price", f"{self._promise}; paid when it was opened, for all steps"),
            *([("Seeded", "for tests only: whoever knows the seed can remove the noise")] if self._seeded else []),
        ]

    @property
    def _answers(self) -> list[tuple[str, str]]:
        return [("Stream", repr(self))]

    @property
    def _promise(self) -> str:
        return str(self._price(self.design)[0])

    # What a mechanism adds.

    @classmethod
    @abstractmethod
    def _start(cls, design: Design, entropy: Entropy) -> State:
        """Return the state before the first step."""

    @classmethod
    def _price(cls, design: Any) -> tuple[Cost, Unit]:
        """Return what all steps together cost, and for whom."""
        return design.cost, design.unit

    @classmethod
    def _plan(cls, design: Design) -> str:
        """Return the JSON that identifies the stream."""
        return dump(design)

    def _prepare(self) -> None:
        """Make what is kept in memory alone, after opening and after resuming."""

    # What a mechanism uses.

    @property
    def _state(self) -> State:
        """What the mechanism remembers after the last step on disk. Secret."""
        return self._snapshot.state

    @property
    def _seeded(self) -> bool:
        """Whether any draw could be repeated."""
        return self._snapshot.seeded

    def _open(
        self, design: Design, ledger: Ledger, dataset: str, name: str, analyst: str, entropy: Entropy | None
    ) -> None:
        """Debit what all steps together cost and seal what the stream must know, in one transaction."""
        argument, kind, allowed = self.takes
        check_kind(argument, design, kind, allowed)
        check_ledger(ledger)
        bits = check_entropy(entropy)
        # Secrets of the first state exist before the debit, but nothing shows them: one transaction debits and seals.
        snapshot = self._first(design, bits)
        cost, unit = self._price(design)
        stored = ledger.open_stream(
            dataset, name, cost=cost, unit=unit, plan=snapshot.plan, state=self.codec.encode(snapshot), analyst=analyst
        )
        self._hold(ledger, stored, snapshot, bits)

    def _commit(
        self, state: State, values: Sequence[object], *, finished: bool = False, rows: Sequence[bytes] = ()
    ) -> None:
        """Commit the values of the next steps, and the state after them; once this returns they may be returned.

        ``rows`` are written beside the state, once: `_rows` returns all of them.
        """
        snapshot = replace(self._snapshot, state=state)
        self._stored = self._ledger._advance_stream(
            self._stored,
            values=[json.dumps(value) for value in values],
            state=self._head + self.codec.body(snapshot),
            finished=finished,
            rows=rows,
        )
        self._snapshot = snapshot

    def _rows(self) -> list[bytes]:
        """Return what was written beside the state so far. Secret."""
        return self._ledger.stream_rows(self._stored)

    def _committed(self) -> list[Any]:
        """Return the values of all steps so far, read back from the ledger; nothing is spent."""
        # What lies beyond was not confirmed to us: a witness may not have seen it, and it could be drawn again.
        return [json.loads(text) for text in self._ledger.stored.steps(self.name, until=self._stored.step)]

    def _check_next(self, first: int | None, count: int, *, length: int, left_out: str) -> None:
        """Refuse steps that were released before, that leave some out, or that go past the last.

        Args:
            first: the number that the caller gives to the next step; None if it gives none.
            count: how many steps are to come.
            length: how many there may be in all.
            left_out: what to do about steps for which nothing came.
        """
        step = self._stored.step
        if first is not None and first != step:
            why = "was released before" if first < step else f"would leave steps out: {left_out}"
            raise StreamConflict(f"stream {self.name!r} goes on with step {step}; step {first} {why}")
        left = length - step
        if count > left:
            raise StreamConflict(f"stream {self.name!r} ends after {length:,} steps: {left:,} are left")

    @classmethod
    def _first(cls, design: Design, entropy: Entropy) -> Snapshot[Design, State]:
        return Snapshot(cls._plan(design), design, cls._start(design, entropy), entropy.seeded)

    def _hold(self, ledger: Ledger, stored: StreamState, snapshot: Snapshot[Design, State], entropy: Entropy) -> None:
        self._ledger, self._stored, self._snapshot = ledger, stored, snapshot
        self._entropy, self._lock, self._head = entropy, threading.Lock(), self.codec.head(snapshot)
        self._prepare()
