"""A stream under way: opened or resumed, locked, stepped and read back in one way, whatever it computes."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Generic, Self, TypeVar

from chronodp.errors import StreamConflict, UnknownDocument
from chronodp.ledger.debits import Spend
from chronodp.ledger.ledger import Ledger, check_ledger
from chronodp.ledger.packing import Form, Standing
from chronodp.ledger.streams import StreamState
from chronodp.randomness import Entropy, check_entropy

__all__ = ["Running"]

Design = TypeVar("Design")
Memory = TypeVar("Memory")


class Running(Generic[Design, Memory]):
    """One writer's hold on a stream in the ledger.

    A step takes the lock, computes from ``memory`` with draws of ``entropy``, and calls `advance`. What `advance` has
    committed may be told, and nothing else. Only the newest state goes on: of two writers, be they processes, forked
    children or copies, the second is refused, and its draws are never told.

    Attributes:
        lock: held by whoever steps.
        entropy: of all draws.
    """

    lock: threading.Lock
    entropy: Entropy

    def __init__(
        self,
        form: Form[Design, Memory],
        ledger: Ledger,
        stored: StreamState,
        standing: Standing[Design, Memory],
        entropy: Entropy,
    ) -> None:
        self._form, self._ledger, self._stored, self._standing = form, ledger, stored, standing
        self.entropy, self.lock = entropy, threading.Lock()

    @classmethod
    def open(
        cls,
        form: Form[Design, Memory],
        name: str,
        standing: Standing[Design, Memory],
        spend: Spend,
        *,
        ledger: Ledger,
        entropy: Entropy,
    ) -> Self:
        """Debit what all steps together cost and seal what the stream must know, in one transaction."""
        check_ledger(ledger)
        stored = ledger.open_stream(
            spend.dataset,
            name,
            cost=spend.cost,
            unit=spend.unit,
            plan=standing.plan,
            state=form.seal(standing),
            analyst=spend.analyst,
            dates=spend.dates,
        )
        return cls(form, ledger, stored, standing, entropy)

    @classmethod
    def resume(cls, form: Form[Design, Memory], ledger: Ledger, name: str, *, entropy: Entropy | None) -> Self:
        """Return a stream where it stands, after a restart or a crash; refuse streams of another kind."""
        check_ledger(ledger)
        bits = check_entropy(entropy)
        stored = ledger.resume_stream(name)
        try:
            standing = form.unseal(stored.state)
        except (ValueError, TypeError, LookupError, struct.error):  # without its cause, which could show what is sealed
            raise UnknownDocument(f"stream {name!r} is of another kind than the one that is resumed") from None
        return cls(form, ledger, stored, replace(standing, seeded=standing.seeded or bits.seeded), bits)

    @property
    def name(self) -> str:
        """The stream's name."""
        return self._stored.name

    @property
    def step(self) -> int:
        """How many steps are on disk: the number of the next one, from 0."""
        return self._stored.step

    @property
    def finished(self) -> bool:
        """Whether the last step is on disk."""
        return self._stored.finished

    @property
    def design(self) -> Design:
        """Everything public about it."""
        return self._standing.design

    @property
    def memory(self) -> Memory:
        """What the mechanism remembers after the last step on disk. Secret."""
        return self._standing.memory

    @property
    def seeded(self) -> bool:
        """Whether any draw could be repeated."""
        return self._standing.seeded

    def advance(self, memory: Memory, values: Sequence[object], *, finished: bool = False) -> None:
        """Commit the values of the next steps, and the memory after them; once this returns they may be told."""
        standing = replace(self._standing, memory=memory)
        self._stored = self._ledger.advance_stream(
            self._stored,
            values=[json.dumps(value) for value in values],
            state=self._form.seal(standing),
            finished=finished,
        )
        self._standing = standing

    def released(self) -> list[Any]:
        """Return the values of all steps so far, read back from the ledger; nothing is spent."""
        # What lies beyond was not returned by `advance`: a witness may not have seen it, and it could be drawn again.
        return [json.loads(text) for text in self._ledger.stored.steps(self.name, until=self.step)]

    def check_next(self, first: int | None, count: int, *, length: int, left_out: str) -> None:
        """Refuse steps that were released before, that leave some out, or that go past the last.

        Args:
            first: the number that the caller gives to the next step; None if it gives none.
            count: how many steps are to come.
            length: how many there may be in all.
            left_out: what to do about steps for which nothing came.
        """
        if first is not None and first != self.step:
            why = "was released before" if first < self.step else f"would leave steps out: {left_out}"
            raise StreamConflict(f"stream {self.name!r} goes on with step {self.step}; step {first} {why}")
        left = length - self.step
        if count > left:
            raise StreamConflict(f"stream {self.name!r} ends after {length:,} steps: {left:,} are left")

    def __repr__(self) -> str:
        return f"Running({self._stored})"
