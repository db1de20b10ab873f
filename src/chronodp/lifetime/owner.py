"""What the owner alone is told of a series: how much of their lives people have used."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from chronodp.lifetime.entries import Digests, Words
from chronodp.lifetime.tally import LifeTally
from chronodp.privacy import labelled

__all__ = ["LifetimeDiagnosis", "Watched", "lives_of"]


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


@dataclass(slots=True, eq=False)
class Watched:
    """A tally that counts whom it was asked about, for the owner alone."""

    tally: LifeTally = field(repr=False)
    asked: list[tuple[Digests, Digests]] = field(default_factory=list, repr=False)

    def used(self, high: Digests, low: Digests) -> Words:
        """Return the shares that each entry has used."""
        self.asked.append((high, low))
        return self.tally.used(high, low)

    def people(self) -> Words:
        """Return what each one asked about has used, each once."""
        both = [np.stack(pair, axis=1) for pair in self.asked]
        once = np.unique(np.concatenate(both or [np.zeros((0, 2), np.uint64)]), axis=0)
        return self.tally.used(once[:, 0].copy(), once[:, 1].copy())


def lives_of(tally: LifeTally, old: tuple[int, int], new: tuple[int, int], *, squared: bool) -> float:
    """Return how many lives two ids of one person have used together: what they added lies in the same cells at worst.

    Prices of Gaussian noise are squares, so it is (√a + √b)²; those of Laplace noise add.
    """
    high, low = (np.array(words, np.uint64) for words in zip(old, new, strict=True))
    first, second = (float(used) / tally.life for used in tally.used(high, low))
    return (math.sqrt(first) + math.sqrt(second)) ** 2 if squared else first + second
