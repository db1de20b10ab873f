"""An engine in plain Python: lists of records as data, answered by the reference."""

from __future__ import annotations

from typing import Any

from chronodp.engines import (
    BoundsReport,
    LossesQuestion,
    MissingQuestion,
    Progress,
    Question,
    ReadingCheck,
    Sizes,
    SizesQuestion,
    Source,
    Totals,
    reference_losses,
    reference_missing,
    reference_sizes,
    reference_totals,
)

__all__ = ["Plain"]


class Plain:
    """Answers about records in memory, for tables of a few rows."""

    def find(self, data: object) -> Source:
        found: Any = data
        return found  # type: ignore[no-any-return]

    def totals(self, source: Any, question: Question, *, key: str, progress: Progress = lambda _: None) -> Totals:
        progress(1.0)
        return reference_totals(source, question, key=key)

    def sizes(self, source: Any, asked: SizesQuestion) -> Sizes:
        return reference_sizes(source, asked)

    def losses(self, source: Any, asked: LossesQuestion) -> tuple[int, ...]:
        return reference_losses(source, asked)

    def missing(self, source: Any, asked: MissingQuestion, *, key: str) -> tuple[int, ...]:
        return reference_missing(source, asked, key=key)

    def look(self, source: Any, question: Question) -> ReadingCheck:
        raise NotImplementedError

    def tally(self, source: Any, question: Question, *, key: str, progress: Progress = lambda _: None) -> BoundsReport:
        raise NotImplementedError
