"""What every engine can be asked."""

from __future__ import annotations

from typing import Protocol

from chronodp.engines.held_keys import HeldKeys, KeysQuestion
from chronodp.engines.lives import Booked, LifeQuestion, Tally
from chronodp.engines.losses import LossesQuestion
from chronodp.engines.question import Progress, Question
from chronodp.engines.reading import ReadingCheck
from chronodp.engines.sizes import Sizes, SizesQuestion
from chronodp.engines.sources import Source
from chronodp.engines.statement import MissingQuestion
from chronodp.engines.totals import BoundsReport, Totals

__all__ = ["Engine"]


class Engine(Protocol):
    """Reads a source and answers a question."""

    def find(self, data: object) -> Source:
        """Return the source that a user's words stand for."""
        ...

    def totals(self, source: Source, question: Question, *, key: str, progress: Progress = ...) -> Totals:
        """Return the bounded totals; ``key`` decides which periods of people over the limit count."""
        ...

    def book(self, source: Source, asked: LifeQuestion, tally: Tally, *, key: str, progress: Progress = ...) -> Booked:
        """Return the totals of people as far as their lives go, and what each one paid, which nobody may see.

        Both are of the same kept cells. ``key`` decides which periods count where a life does not last for all.
        """
        ...

    def sizes(self, source: Source, asked: SizesQuestion) -> Sizes:
        """Return counts over a public grid of sizes, which nobody may see."""
        ...

    def losses(self, source: Source, asked: LossesQuestion) -> tuple[int, ...]:
        """Return what each candidate for bounds would take away, which nobody may see."""
        ...

    def missing(self, source: Source, asked: MissingQuestion, *, key: str) -> tuple[int, ...]:
        """Return what bounds take away, capped, and how many reach beyond; nobody may see it."""
        ...

    def held_keys(self, source: Source, asked: KeysQuestion, *, key: str) -> HeldKeys:
        """Return who holds which key, which nobody may see; ``key`` decides which of people over the limit count."""
        ...

    def look(self, source: Source, question: Question) -> ReadingCheck:
        """Return how the source is read and what is left out, for the owner only."""
        ...

    def tally(self, source: Source, question: Question, *, key: str, progress: Progress = ...) -> BoundsReport:
        """Return what the bounds take away, for the owner only."""
        ...
