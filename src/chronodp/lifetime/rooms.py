"""Tallies as an issue sees them: as they stand, with first issues staggered, or with corrections that were bought.

Each changes what one person has used by that person's own entry and nothing else. "Which periods count" and
"Corrections, late rows, leaving, names" of ``docs/explanation/proofs/lifetime.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from chronodp.engines import Booked
from chronodp.lifetime.entries import Digests, Entries, Words, merge, nobody, used_by
from chronodp.lifetime.tally import LifeTally

__all__ = ["AsItStands", "Corrected", "Room", "Staggered", "Watched"]


class Room(Protocol):
    """A tally, and what of the prices of an issue is booked in it."""

    def used(self, high: Digests, low: Digests) -> Words:
        """Return the shares that each entry has used."""
        ...

    def paid(self, booked: Booked) -> Entries:
        """Return what is added to the tally."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class AsItStands:
    """An issue like most: people pay what they pay."""

    tally: LifeTally = field(repr=False)

    def used(self, high: Digests, low: Digests) -> Words:
        """Return the shares that each entry has used."""
        return self.tally.used(high, low)

    def paid(self, booked: Booked) -> Entries:
        """Return what is added to the tally."""
        return Entries(booked.high, booked.low, booked.spent)


@dataclass(frozen=True, slots=True, eq=False)
class Staggered:
    """The first issue, where everybody in it begins with a part of their life used, by their own entry.

    Attributes:
        tally: as it stands.
        periods: of a life.
        full: what one full period takes.
    """

    tally: LifeTally = field(repr=False)
    periods: int
    full: int

    def used(self, high: Digests, low: Digests) -> Words:
        """Return the shares that each entry has used; at least one full period is left to those who are new."""
        return np.maximum(self.tally.used(high, low), self._start(low))

    def paid(self, booked: Booked) -> Entries:
        """Return what is added to the tally: with what they paid, the part that they began with."""
        before = self.tally.used(booked.high, booked.low)
        start = np.maximum(self._start(booked.low) - before, 0)
        return Entries(booked.high, booked.low, booked.spent + start)

    def _start(self, low: Digests) -> Words:
        # An entry is a keyed digest, so its last bits are as good as drawn; a multiple of a period, 0 to all but one.
        return (low % np.uint64(self.periods)).astype(np.int64) * np.int64(self.full)


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """An issue that corrects another: whoever bought periods there has them here for nothing.

    Attributes:
        tally: as it stands.
        bought: what was paid for the issue and for its corrections before.
        ended: who was forgotten since, or goes by another name.
    """

    tally: LifeTally = field(repr=False)
    bought: Entries = field(repr=False)
    ended: Entries = field(repr=False, default_factory=nobody)

    @classmethod
    def of(cls, tally: LifeTally, steps: Sequence[int], events: Sequence[int] = ()) -> Corrected:
        """Return the tally as a correction sees it, given the steps of what it corrects, and those of all events."""
        bought, ended = nobody(), nobody()
        for step in steps:
            bought = merge(bought, tally.entries_of(step), tally.life)
        for step in events:
            taken = tally.entries_of(step)
            whole = taken.spent == tally.life
            ended = merge(ended, Entries(taken.high[whole], taken.low[whole], taken.spent[whole]), tally.life)
        return cls(tally, bought, ended)

    def used(self, high: Digests, low: Digests) -> Words:
        """Return the shares that each entry has used for anything else."""
        elsewhere = self.tally.used(high, low) - used_by(self.bought, high, low)
        # Not even what was bought is left to a name that was joined with another: both in one cell would add up.
        used: Words = np.maximum(elsewhere, used_by(self.ended, high, low))
        return used

    def paid(self, booked: Booked) -> Entries:
        """Return what is added to the tally: what goes beyond what was bought before."""
        more = booked.spent - used_by(self.bought, booked.high, booked.low)
        some = more > 0
        return Entries(booked.high[some], booked.low[some], more[some])


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
