"""A lifetime in its plainest form: months of people in groups, each of whom counts in two months ever.

It goes by the real ledger and the real tally; a loop over names stands for the engine. What is released shows the exact
sums, so that a run that was disturbed can be compared with one that was not.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from chronodp import User
from chronodp.engines import entry_of
from chronodp.errors import InvalidArgument, StreamConflict
from chronodp.ledger import FileWitness, Fulfilled, Ledger, StreamState
from chronodp.lifetime.entries import Entries
from chronodp.lifetime.events import forget, pack_event, same
from chronodp.lifetime.segments import BEGINNING
from chronodp.lifetime.tally import LifeTally
from chronodp.privacy import Certificate
from chronodp.randomness import secure
from tests.ledger.examples import CERTIFICATE, COST

NAME = "load"
GOLDEN = Path(__file__).parents[1] / "golden" / "lifetime" / "durability.json"
EXAMPLE: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
MONTHS: list[list[tuple[str, str]]] = [[(one[0], one[1]) for one in month] for month in EXAMPLE["months"]]
LIFE: int = EXAMPLE["K"]
Reached = Callable[[str], None]
Result: TypeAlias = tuple[list[dict[str, int]], dict[str, int], int]


def nowhere(point: str) -> None:
    """Go on."""


class Life:
    """A series in a folder with its ledger; opened if it was not."""

    def __init__(self, address: str, folder: Path, *, witness: bool = False, reached: Reached = nowhere) -> None:
        elsewhere = FileWitness(folder / "elsewhere") if witness else None
        self.ledger = Ledger(address, keys=folder / "keys", witness=elsewhere, reached=reached)
        self.tally = LifeTally(folder / "tally", self.ledger.keys, "meters", NAME, LIFE, reached=reached)
        self.salt = self.ledger.keys.derive("lifetime", "meters", NAME).hex()[:32]

    def __enter__(self) -> Life:
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.close_connection()

    def open(self) -> None:
        """Pay, unless that was done before; of several jobs one does."""
        self.ledger.open("meters", unit=User(), epsilon=1.0)
        while self.ledger.stored.stream(NAME) is None:
            with suppress(StreamConflict, InvalidArgument):  # another job is making the folder, or has paid
                self.tally.make()
                self.ledger.open_stream("meters", NAME, cost=COST, unit=User(), plan="life", state=BEGINNING)

    def stands(self) -> StreamState:
        """Verify the tally against the ledger."""
        seen = self.tally.seen()
        stream = self.ledger.resume_stream(NAME)
        self.tally.verify(stream.step, stream.state, seen=seen)
        return stream

    def issue(self, number: int) -> Fulfilled:
        """Release a month, or return what was released."""
        while True:
            stored = self.ledger.stored_issue("meters", f"month {number}", f"plan of {number}")
            if stored is not None:
                self.tally.announce(self.ledger.resume_stream(NAME).step)
                return stored
            with suppress(StreamConflict):
                stream = self.stands()
                sums, entries = self.book(MONTHS[number])
                head = self.tally.write(stream.step + 1, entries)
                after, made = self.ledger.issue(
                    stream,
                    request=f"month {number}",
                    plan=f"plan of {number}",
                    cost=COST,
                    unit=User(),
                    state=head,
                    value=f"month {number}",
                    produce=lambda sums=sums: produced(sums),  # type: ignore[misc]
                )
                self.tally.announce(after.step)
                return made

    def event(self, name: str, take: Callable[[LifeTally], Entries]) -> None:
        """Commit a step without a release, unless that was done before."""
        while True:
            with suppress(StreamConflict):
                stream = self.stands()
                if name in self.ledger.stored.steps(NAME, until=stream.step):
                    return
                entries = take(self.tally)
                head, copy = self.tally.write(stream.step + 1, entries), pack_event(stream.step + 1, entries)
                after = self.ledger.advance_stream(stream, values=[name], state=head, rows=[copy])
                self.tally.announce(after.step)

    def compact(self) -> None:
        """Merge files; where another job went on meanwhile, from where it stands then."""
        while True:
            with suppress(StreamConflict):
                self.stands()
                self.tally.compact()
                return

    def work(self, *, events: bool) -> None:
        """Release all months, with files merged in between; with ``events``, someone is forgotten and two are one."""
        self.open()
        for number in range(len(MONTHS)):
            self.issue(number)
            if number in (1, 3):
                self.compact()
            if events and number == 0:
                self.event("forgotten", lambda tally: forget(tally, self.entry("p9")))
                self.event("the same", lambda tally: same(tally, self.entry("p1"), self.entry("p0"), squared=True))

    def book(self, rows: list[tuple[str, str]]) -> tuple[Counter[str], Entries]:
        """Let everyone count who has room, and say what they pay: both from the same people."""
        entries = {person: self.entry(person) for person, _ in rows}
        high, low = (np.array([entries[person][place] for person, _ in rows], np.uint64) for place in (0, 1))
        kept = [row for row, used in zip(rows, self.tally.used(high, low).tolist(), strict=True) if used < LIFE]
        return Counter(group for _, group in kept), Entries.of((*entries[person], 1) for person, _ in kept)

    def entry(self, person: str) -> tuple[int, int]:
        return entry_of(self.salt, person)

    def result(self) -> Result:
        """Return the exact sums of all months, what everyone has used, and how many steps there were."""
        stream = self.stands()
        stored = [self.ledger.stored.release_of("meters", f"month {number}") for number in range(len(MONTHS))]
        people = sorted({person for month in MONTHS for person, _ in month})
        high, low = (np.array([self.entry(one)[place] for one in people], np.uint64) for place in (0, 1))
        used = dict(zip(people, self.tally.used(high, low).tolist(), strict=True))
        return [json.loads(one.text)["sums"] for one in stored if one is not None], used, stream.step


def produced(sums: Counter[str]) -> tuple[str, Certificate]:
    """Return a release that shows its sums, and noise by which two draws differ."""
    drawn = int(secure().laplace(2.0**20, 1)[0])
    return json.dumps({"sums": {group: sums[group] for group in ("a", "b")}, "noise": drawn}), CERTIFICATE
