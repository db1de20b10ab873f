"""Totals of a Spark frame: one SQL text, run by the frame's own session; only integers by cell come back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chronodp.engines.held_keys import HeldKeys, KeysQuestion
from chronodp.engines.lives import Booked, LifeQuestion, Tally
from chronodp.engines.look import look, unread_statement
from chronodp.engines.losses import LossesQuestion, losses_of_rows, losses_statement
from chronodp.engines.question import TALLIED, Progress, Question
from chronodp.engines.reading import Part, ReadingCheck, check_parts
from chronodp.engines.rows import lacking
from chronodp.engines.sizes import Sizes, SizesQuestion, counted_statement, sizes_statement
from chronodp.engines.sources import Source, SparkSource, find_source
from chronodp.engines.spark.frames import check_frame, key_frames, needed_columns, part_of
from chronodp.engines.spark.keys import held_keys_of_frame
from chronodp.engines.spark.lives import book_frame, columns_of
from chronodp.engines.statement import MissingQuestion, missing_statement, statement, tally_statement
from chronodp.engines.totals import BoundsReport, Totals
from chronodp.engines.unread import unread_text
from chronodp.errors import ChronodpError, InvalidArgument, UnreadableSource
from chronodp.owner import note_unread
from chronodp.privacy import check_flag

__all__ = ["Spark"]


@dataclass(frozen=True, slots=True)
class Spark:
    """Reads Spark frames, classic or over Connect, where they live. Executors need no Python; noise stays here.

    The query adds up a person's rows before they travel, reads the frame once and each of its cells once, and holds
    nothing that a task could compute otherwise when it runs again.

    Args:
        session: what knows the tables that are named; a frame brings its own.
        sparse: whether people mostly have one row in a cell. Rows then travel once, as they are, and not twice, added
            up: about a quarter less work. Leave it out where people have many rows in a cell, or one name has a large
            part of all rows: these would all go to one task. It changes no number.
    """

    session: Any = field(default=None, repr=False)
    sparse: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        check_flag("sparse", self.sparse)

    def find(self, data: object) -> Source:
        """Return the source that a frame, or the name of a table, stands for."""
        if isinstance(data, str) and self.session is not None:
            with _translated():
                return SparkSource(self.session.table(data))
        if isinstance(data, str):
            raise InvalidArgument("engine", "Spark without a session", "Spark(session) where data names a table")
        return find_source(data)

    def query(self, source: Source, question: Question, *, key: str) -> Any:
        """Return the frame of bounded totals by cell, not yet computed: to look at its plan."""
        frame, part = _checked(source, question)
        with _translated():
            return _ask(frame, statement(question, [part], key=key, dialect="spark", sparse=self.sparse), question)

    def totals(self, source: Source, question: Question, *, key: str, progress: Progress = lambda _: None) -> Totals:
        """Return the bounded totals; ``key`` decides which periods of people over the limit count."""
        answer = self.query(source, question, key=key)
        with _translated():
            rows = columns_of(answer)
        if any(column.null_count for column in rows.values()):
            raise UnreadableSource("a sum is beyond 64 bits: clip lower, or release fewer rows at a time")
        totals = Totals.of_cells(question, {name: column.to_numpy() for name, column in rows.items()})
        note_unread(lambda: _unread(source, question, counts=bool(totals.people.any())))
        progress(1.0)
        return totals

    def book(
        self, source: Source, asked: LifeQuestion, tally: Tally, *, key: str, progress: Progress = lambda _: None
    ) -> Booked:
        """Return the totals of people as far as their lives go, and what each one paid, which nobody may see.

        The driver holds everyone's entry. What is kept, by entries and without names, stands meanwhile in a table of
        the session's catalogue, whose name begins with ``chronodp_kept_`` and which goes at the end.
        """
        frame, part = _checked(source, asked.question)
        with _translated():
            booked = book_frame(
                frame.sparkSession,
                lambda text, beside: _ask(frame, text, asked.question, beside),
                part,
                asked,
                tally,
                key=key,
            )
        note_unread(lambda: _unread(source, asked.question, counts=True))  # all lives may be used up
        progress(1.0)
        return booked

    def sizes(self, source: Source, asked: SizesQuestion) -> Sizes:
        """Return counts over a public grid of sizes, which nobody may see."""
        frame, part = _checked(source, asked.question)
        sizes = Sizes.of_rows(asked, _rows(frame, sizes_statement(asked, [part], dialect="spark"), asked.question))

        def counts() -> bool:
            text = counted_statement(asked.question, [part], "spark")
            return sizes.voters > 0 or _row(frame, text, asked.question) > (0,)

        note_unread(lambda: _unread(source, asked.question, counts=counts()))
        return sizes

    def losses(self, source: Source, asked: LossesQuestion) -> tuple[int, ...]:
        """Return what each candidate for bounds would take away, which nobody may see."""
        frame, part = _checked(source, asked.question)
        return losses_of_rows(asked, _rows(frame, losses_statement(asked, [part], dialect="spark"), asked.question))

    def missing(self, source: Source, asked: MissingQuestion, *, key: str) -> tuple[int, ...]:
        """Return what bounds take away, capped, and how many reach beyond; nobody may see it."""
        frame, part = _checked(source, asked.question)
        return _row(frame, missing_statement(asked, [part], key=key, dialect="spark"), asked.question)

    def held_keys(self, source: Source, asked: KeysQuestion, *, key: str) -> HeldKeys:
        """Return who holds which key, which nobody may see; ``key`` decides which of people over the limit count.

        The driver holds every candidate; the frame is read anew for each sum of weights.
        """
        frame, part = _checked(source, asked.reading)

        def ask(text: str, beside: Mapping[str, Any]) -> list[tuple[Any, ...]]:
            with _translated():
                return [tuple(row) for row in _ask(frame, text, asked.question, beside).collect()]

        held = held_keys_of_frame(frame.sparkSession, ask, part, asked, key=key)
        note_unread(lambda: _unread(source, asked.question, counts=len(held.keys) > 0))
        return held

    def look(self, source: Source, question: Question) -> ReadingCheck:
        """Return how the frame is read and what is left out, for the owner only."""
        frame, part = _checked(source, question)
        return look(question, [part], lambda text: _row(frame, text, question), dialect="spark", broken={})

    def tally(
        self, source: Source, question: Question, *, key: str, progress: Progress = lambda _: None
    ) -> BoundsReport:
        """Return what the bounds take away, for the owner only."""
        frame, part = _checked(source, question)
        text = tally_statement(question, [part], key=key, dialect="spark", sparse=self.sparse)
        people, over, *sums = _row(frame, text, question)
        cells, cells_kept, before, clipped, kept = sums
        progress(1.0)
        weighed = question.rows is not None
        step = 1 / TALLIED if weighed else question.grid.step
        return BoundsReport(people, over, cells, cells_kept, before * step, clipped * step, kept * step, weighed)


def _checked(source: Source, question: Question) -> tuple[Any, Part]:
    """Return the columns of a frame that are wanted, with their types."""
    if not isinstance(source, SparkSource):
        raise InvalidArgument("data", source, "a Spark frame or the name of a table: other data is read by DuckDB")
    with _translated():
        part = part_of(source.frame, question)
        check_parts([part], question.wanted, question.reading)
        frame = needed_columns(source.frame, part)
        check_frame(frame)
        return frame, part


def _unread(source: Source, question: Question, *, counts: bool) -> str:
    """Return what the owner is told of rows that cannot be read: a look of its own, as nothing counts in passing."""
    frame, part = _checked(source, question)
    rows, *found = _row(frame, unread_statement(question, [part], "spark"), question)
    return unread_text(source, question, rows, dict(zip(lacking(question), found, strict=True)), counts=counts)


def _row(frame: Any, text: str, question: Question) -> tuple[int, ...]:
    """Return the one row of an answer, as whole numbers."""
    (row,) = _rows(frame, text, question)
    return row


def _rows(frame: Any, text: str, question: Question) -> list[tuple[int, ...]]:
    """Return an answer of whole numbers by row."""
    with _translated():
        return [tuple(int(number) for number in row) for row in _ask(frame, text, question).collect()]


def _ask(frame: Any, text: str, question: Question, beside: Mapping[str, Any] | None = None) -> Any:
    """Run a text about the table ``records``, many keys of the question, and others that have names of their own."""
    # Braces would be read as names of frames; the only such names are ours.
    escaped = text.replace("{", "{{").replace("}", "}}")
    frames = {"records": frame, **key_frames(frame.sparkSession, question, text), **(beside or {})}
    tables = "WITH " + ", ".join(f"{name} AS (SELECT * FROM {{{name}}})" for name in frames)
    query = f"{tables}, {escaped.removeprefix('WITH ')}" if text.startswith("WITH ") else f"{tables} {escaped}"
    return frame.sparkSession.sql(query, **frames)


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except ChronodpError:
        raise
    except Exception as error:
        # A frame is its owner's code, which may fail in any way and quote any value when it does.
        raise UnreadableSource(f"a Spark frame or table cannot be read ({type(error).__name__})") from None
