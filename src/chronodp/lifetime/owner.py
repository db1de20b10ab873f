"""What is told of a series: to anybody its terms and issues; to its owner alone how much of their lives people used."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from chronodp.ledger import Ledger, check_ledger
from chronodp.lifetime.design import LifetimeDesign
from chronodp.lifetime.entries import Words
from chronodp.lifetime.memory import Memory, Step
from chronodp.lifetime.tally import LifeTally
from chronodp.lifetime.words import cliff
from chronodp.privacy import Guarantee, labelled
from chronodp.series import full_periods

__all__ = ["LifetimeDiagnosis", "LifetimeStatus", "lives_of", "read_status"]


@dataclass(frozen=True, slots=True)
class LifetimeStatus:
    """What anybody may know of a series.

    Attributes:
        name: of the series.
        dataset: whose budget paid.
        design: its terms.
        requests: of its issues, in their order.
        seeded: whether any draw could be repeated, which voids the guarantee.
    """

    name: str
    dataset: str
    design: LifetimeDesign
    requests: tuple[str, ...]
    seeded: bool

    @property
    def issues(self) -> int:
        """How many issues there were."""
        return len(self.requests)

    def __str__(self) -> str:
        base, every = self.design.base, self.design.calendar.every
        last = f", the last {self.requests[-1]!r}" if self.requests else ""
        rows = [
            ("Series", f"{self.name} of {self.dataset}: {base.table.released}"),
            ("Issues", f"{self.issues:,}{last}"),
            ("Price", f"{Guarantee(base.table.claimed, base.epsilon, base.delta)}, the same for ever"),
            ("Life", f"{full_periods(every, self.design.max_periods)} of one {base.table.unit.called or 'person'}"),
            ("Cliff", cliff(self.design)),
        ]
        warning = "SEEDED RUN, FOR TESTS ONLY: whoever knows the seed can remove the noise.\n" if self.seeded else ""
        return warning + labelled(rows)


@dataclass(frozen=True, slots=True)
class LifetimeDiagnosis:
    """How much of their lives people have used. FOR THE OWNER ONLY: the figures are not private.

    Attributes:
        people: who has used anything.
        used_up: of them, those without room for one more full period.
        used: the mean part of a life that they have used.
        present: people in the table that was looked at; None if none was.
        counting: of those, people with room for one more full period.
    """

    people: int
    used_up: int
    used: float
    present: int | None = None
    counting: int | None = None

    @classmethod
    def of(cls, spent: Words, present: Words | None, *, life: int, full: int) -> Self:
        """Return the figures of what everybody has used, and of what those in a table have."""
        beyond = life - full
        mean = float(np.mean(spent / life)) if len(spent) else 0.0
        if present is None:
            return cls(len(spent), int((spent > beyond).sum()), mean)
        return cls(len(spent), int((spent > beyond).sum()), mean, len(present), int((present <= beyond).sum()))

    def __str__(self) -> str:
        rows = [
            ("People", f"{self.people:,} have used something of their lives, on average {self.used:.1%}"),
            ("Used up", f"{self.used_up:,} have no room for one more full period"),
        ]
        if self.present is not None:
            rows.append(("Present", f"{self.counting:,} of {self.present:,} in this table have"))
        return "FOR THE OWNER ONLY: these figures are not private, and nothing may be chosen by them.\n" + labelled(
            rows
        )


def read_status(ledger: Ledger, name: str) -> LifetimeStatus:
    """Return what anybody may know of a series, from the ledger alone: nothing of it hangs on the tally."""
    check_ledger(ledger)
    stored = ledger.resume_stream(name)
    memory = Memory.from_bytes(stored.state, name)
    steps = [Step.from_text(text) for text in ledger.released_steps(name)]
    requests = tuple(step.request for step in steps if step.request is not None)
    return LifetimeStatus(name, stored.dataset, memory.design, requests, memory.seeded)


def lives_of(tally: LifeTally, old: tuple[int, int], new: tuple[int, int], *, squared: bool) -> float:
    """Return how many lives two ids of one person have used together: what they added lies in the same cells at worst.

    Prices of Gaussian noise are squares, so it is (√a + √b)²; those of Laplace noise add.
    """
    high, low = (np.array(words, np.uint64) for words in zip(old, new, strict=True))
    first, second = (float(used) / tally.life for used in tally.used(high, low))
    return (math.sqrt(first) + math.sqrt(second)) ** 2 if squared else first + second
