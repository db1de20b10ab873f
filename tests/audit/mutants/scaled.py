"""Mutants of whole series that are scaled: a factor that does not see all of a person, or sees it wrongly."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chronodp.audit.numerical import Linear
from chronodp.engines import Progress, Question, Record, Reference, Totals
from tests.audit.cases.scaled import DELTA, FIRST, NEIGHBOURS, Scaled
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

Seen = Callable[[Record, Record], bool]
"""Whether the factor of one cell sees another of the same person."""


class _WronglyScaled(Reference):
    """An engine that scales each cell by the norm of those cells of its person that it sees."""

    def __init__(self, sees: Seen, *, short: float = 1.0) -> None:
        self._sees, self._short = sees, short

    def totals(self, source: Any, question: Question, *, key: str, progress: Progress = lambda _: None) -> Totals:
        """Return totals of cells scaled so; each person has one row in a cell here."""
        most = (question.norm or 0) * question.grid.step
        scaled = [replace(one, number=self._scale(one, list(source), most)) for one in source]
        return super().totals(scaled, replace(question, norm=None), key=key, progress=progress)

    def _scale(self, one: Record, everyone: list[Record], most: float) -> float:
        seen = (other.number or 0.0 for other in everyone if other.person == one.person and self._sees(one, other))
        length = math.hypot(*seen) * self._short
        return (one.number or 0.0) * min(1.0, most / length if length else 1.0)


_MISTAKES: dict[str, Reference] = {
    # A place at a time: a person in two places has the norm twice, √2 in all.
    "whole series scaled group by group, charged once": _WronglyScaled(lambda one, other: one.keys == other.keys),
    # Who has little on the first day keeps all of the others.
    "whole series scaled by its first period": _WronglyScaled(lambda _, other: other.instant == FIRST),
    # A norm that noise made a tenth too short: the factor is that much too large.
    "whole series scaled by a noisy norm": _WronglyScaled(lambda _, __: True, short=0.9),
}

MUTANTS: tuple[Mutant, ...] = tuple(
    Mutant(
        name=name,
        claim=Scaled().claim,
        epsilon=1.0,
        delta=DELTA,
        sound=Scaled(),
        broken=Scaled(engine),
        neighbours=NEIGHBOURS,
        checks=(Linear(),),
    )
    for name, engine in _MISTAKES.items()
)
