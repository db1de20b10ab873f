"""Streams, alerts and series for ever of a dataset: what they released step by step, and what they were charged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from chronodp.ledger import Entry, Ledger, StoredStream
from chronodp.privacy import Cost, Unit, load, text_kind
from chronodp.series import Memory, StreamDesign, answer_steps

__all__ = ["PublishedStream", "read_streams"]

_NAMES = {
    "stream": "a stream",
    "windowed_stream": "a stream under a window's promise",
    "key_stream": "a stream that finds its keys",
    "alert": "an alert",
    "private_filter": "a private filter",
    "lifetime": "a series for ever",
    "fran_design": "a stream of coupled sequences",
}


@dataclass(frozen=True, eq=False)
class PublishedStream:
    """A stream's public side. Its steps are committed one by one and are not links of the chain: none is signed.

    Attributes:
        name: in the ledger.
        plan: as the ledger holds it.
        step: how many steps were released.
        finished: whether no further one will be.
        released: what each step released, as JSON.
        cost: that opening it was charged; None if another request paid for it.
        unit: for whom.
    """

    name: str
    plan: str = field(repr=False)
    step: int
    finished: bool
    released: tuple[str, ...] = field(repr=False)
    cost: Cost | None
    unit: Unit | None

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return _NAMES.get(text_kind(self.plan), "a mechanism with steps")

    @property
    def readable(self) -> bool:
        """Whether its plan says what its steps are; of others, such as rounds of a training, a dossier holds none."""
        return bool(text_kind(self.plan))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what `rows` yields."""
        if text_kind(self.plan) == "stream":
            return ("step", "key", "value", "lower", "upper")
        return ("step", "released")

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield (step, key, value, lower, upper), at 95 %, of a stream; of other kinds each step as it was stored."""
        if text_kind(self.plan) != "stream":
            yield from enumerate(self.released, start=1)
        elif self.released:
            design: StreamDesign = load(self.plan, StreamDesign)
            memory = Memory.start(design.workload, design.keys)
            steps = [json.loads(text) for text in self.released]
            values, halves, _ = answer_steps(design, memory, steps, begin=0, level=0.95)
            for step, (row, half) in enumerate(zip(values.tolist(), halves.tolist(), strict=True), start=1):
                for key, value in enumerate(row):
                    yield step, key, value, value - half, value + half


def read_streams(ledger: Ledger, dataset: str, charges: Sequence[Entry]) -> tuple[PublishedStream, ...]:
    """Return the streams of a dataset, by name, with what each was charged."""
    paid = {entry.purpose: entry for entry in charges if not entry.analyst}
    return tuple(_read(ledger, one, paid.get(one.name)) for one in ledger.stored.streams([dataset]))


def _read(ledger: Ledger, stream: StoredStream, charge: Entry | None) -> PublishedStream:
    released = tuple(ledger.stored.steps(stream.name))
    cost, unit = (None, None) if charge is None else (charge.cost, charge.unit)
    return PublishedStream(stream.name, stream.plan, len(released), stream.finished, released, cost, unit)
