"""The default engine: DuckDB scans the source, a packed sort bounds what people contribute.

Step 6 of "What is computed" in ``docs/explanation/proofs/bounding.md``: exact sums of 64-bit integers, in whatever
order stretches are done.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.attach import attached
from chronodp.engines.choice import Seeds
from chronodp.engines.embedded_keys import Limits, gather_held_keys
from chronodp.engines.held_keys import HeldKeys, KeysQuestion
from chronodp.engines.kernel import Bounded, bound
from chronodp.engines.lives import Booked, LifeQuestion, Payers, Tally
from chronodp.engines.lives_kernel import Kept, keep
from chronodp.engines.look import look
from chronodp.engines.losses import LossesQuestion, losses_of_rows, losses_statement
from chronodp.engines.partitions import Partitions, ahead
from chronodp.engines.people_index import Entries, PeopleIndex
from chronodp.engines.question import TALLIED, Progress, Question
from chronodp.engines.reading import ReadingCheck
from chronodp.engines.rows import KEPT, rows_select, rows_text
from chronodp.engines.session import Session
from chronodp.engines.sizes import Sizes, SizesQuestion, counted_statement, sizes_statement
from chronodp.engines.sources import Source, find_source
from chronodp.engines.statement import MissingQuestion, missing_statement, statement, tally_statement
from chronodp.engines.totals import BoundsReport, Totals
from chronodp.owner import note_unread
from chronodp.privacy import check_whole

__all__ = ["DuckDB"]

Result = TypeVar("Result")
Known = TypeVar("Known")

_BATCH = 2**20

_sizes_text, _losses_text = (lru_cache(KEPT)(text) for text in (sizes_statement, losses_statement))


@dataclass(frozen=True, slots=True)
class DuckDB:
    """Reads files and tables on this machine, also such as are larger than its memory.

    Args:
        memory: bytes to use before working on disk.
        threads: how many; by default one for each processor.
        folder: where temporary files go if memory does not last.

    >>> import pyarrow
    >>> from chronodp.engines import Question, find_source
    >>> from chronodp.privacy import Calendar, Grid
    >>> table = pyarrow.table({"day": ["2026-01-01", "2026-01-02", "2026-01-02"], "who": ["a", "a", "b"]})
    >>> days = table.set_column(0, "day", table["day"].cast(pyarrow.date32()))
    >>> visits = Question(Calendar("1D", "2026-01-01", "2026-01-03"), "day", "who", None, Grid(1.0), (0, 1))
    >>> DuckDB().totals(find_source(days), visits, key="").sums.tolist()
    [1, 2]
    """

    memory: int = 4 * 2**30
    threads: int | None = None
    folder: str | None = None

    def __post_init__(self) -> None:
        check_whole("memory", self.memory, least=2**26)
        if self.threads is not None:
            check_whole("threads", self.threads)

    def find(self, data: object) -> Source:
        """Return the source that a path, a glob, a list of paths, a table or a relation stands for."""
        return find_source(data)

    def totals(self, source: Source, question: Question, *, key: str, progress: Progress = lambda _: None) -> Totals:
        """Return the bounded totals; ``key`` decides which periods of people over the limit count."""
        progress = _in_tenths(progress)

        def ask(session: Session) -> Totals:
            if _by_sql(question):
                return Totals.of_cells(question, session.columns(statement(question, session.parts, key=key)))
            answer = Totals.none(question)
            for part in self._parts(session, question, key, progress):
                if part.stays is not None:
                    for begun_or_ended, cells in zip((answer.sums, answer.people), part.stays, strict=True):
                        np.add.at(begun_or_ended, cells, 1)
                    continue
                np.add.at(answer.sums, part.cells, part.totals)
                np.add.at(answer.people, part.cells, 1 if part.rows is None else question.weights(part.rows))
                if question.squares is not None:
                    np.add.at(answer.squares, part.cells, question.square(part.totals))
            return answer if question.window is None else Totals.of_stays(question, answer.sums, answer.people)

        shared = 1 if _by_sql(question) else 2
        answer = self._noted(source, question, ask, lambda totals, _: bool(totals.people.any()), shared=shared)
        progress(1.0)
        return answer

    def book(
        self, source: Source, asked: LifeQuestion, tally: Tally, *, key: str, progress: Progress = lambda _: None
    ) -> Booked:
        """Return the totals of people as far as their lives go, and what each one paid, which nobody may see.

        In memory stays what each one pays: 24 bytes.
        """
        question, progress = asked.question, _in_tenths(progress)

        def ask(session: Session) -> Booked:
            answer, paid = Totals.none(question), Payers()
            for part, entries in self._lives(session, asked, tally, key, progress):
                np.add.at(answer.sums, part.cells, part.totals)
                np.add.at(answer.people, part.cells, 1 if part.rows is None else question.weights(part.rows))
                if question.squares is not None:
                    np.add.at(answer.squares, part.cells, question.square(part.totals))
                paid.add(*entries, part.spent)
            return paid.booked(answer)

        answer = self._noted(source, question, ask, lambda *_: True)  # all lives may be used up
        progress(1.0)
        return answer

    def sizes(self, source: Source, asked: SizesQuestion) -> Sizes:
        """Return counts over a public grid of sizes, which nobody may see."""
        return self._noted(
            source,
            asked.question,
            lambda session: Sizes.of_rows(asked, session.rows(_sizes_text(asked, session.parts))),
            lambda sizes, session: (
                sizes.voters > 0 or session.row(counted_statement(asked.question, session.parts, "duckdb")) > (0,)
            ),
        )

    def losses(self, source: Source, asked: LossesQuestion) -> tuple[int, ...]:
        """Return what each candidate for bounds would take away, which nobody may see."""
        return self._answered(
            source,
            asked.question,
            lambda session: losses_of_rows(asked, session.rows(_losses_text(asked, session.parts))),
        )

    def missing(self, source: Source, asked: MissingQuestion, *, key: str) -> tuple[int, ...]:
        """Return what bounds take away, capped, and how many reach beyond; nobody may see it."""
        return self._answered(
            source, asked.question, lambda session: session.row(missing_statement(asked, session.parts, key=key))
        )

    def held_keys(self, source: Source, asked: KeysQuestion, *, key: str) -> HeldKeys:
        """Return who holds which key, which nobody may see; ``key`` decides which of people over the limit count.

        In memory stay the candidates and, of everyone, the keys that count: 4 to 24 bytes for each.
        """
        limits = Limits(self.memory // 2, self.threads or os.cpu_count() or 1, self.folder)
        return self._noted(
            source,
            asked.reading,
            lambda session: gather_held_keys(session, asked, key=key, limits=limits),
            lambda held, _: len(held.keys) > 0,
        )

    def look(self, source: Source, question: Question) -> ReadingCheck:
        """Return how the source is read and what is left out, for the owner only."""
        return self._answered(
            source, question, lambda session: look(question, session.parts, session.row, broken=session.broken_lines())
        )

    def tally(
        self, source: Source, question: Question, *, key: str, progress: Progress = lambda _: None
    ) -> BoundsReport:
        """Return what the bounds take away, for the owner only."""
        progress = _in_tenths(progress)
        weighed = question.rows is not None
        step = 1 / TALLIED if weighed else question.grid.step
        if question.user is None:
            rows, before, clipped = self._answered(source, question, lambda session: _tally_rows(session, question))
            progress(1.0)
            return BoundsReport(rows, 0, rows, rows, before * step, clipped * step, clipped * step, weighed)
        if question.norm is not None:
            people, over, cells, kept_cells, before, clipped, kept = self._answered(
                source, question, lambda session: session.row(tally_statement(question, session.parts, key=key))
            )
            progress(1.0)
            return BoundsReport(people, over, cells, kept_cells, before * step, clipped * step, kept * step)
        parts = self._answered(source, question, lambda session: list(self._parts(session, question, key, progress)))
        progress(1.0)
        return BoundsReport(
            people=sum(part.people for part in parts),
            people_over=sum(part.people_over for part in parts),
            cells=sum(part.everything for part in parts),
            cells_kept=sum(len(part.cells) for part in parts),
            before=sum(part.before for part in parts) * step,
            clipped=sum(part.clipped for part in parts) * step,
            kept=sum(part.kept(question) for part in parts) * step,
            weighed=weighed,
        )

    def _noted(
        self,
        source: Source,
        question: Question,
        ask: Callable[[Session], Result],
        counts: Callable[[Result, Session], bool],
        *,
        shared: int = 2,
    ) -> Result:
        """Return what is asked, with a note for the owner of what was left unread; ``counts``: whether any row does."""

        def noting(session: Session) -> Result:
            answer = ask(session)
            note_unread(lambda: session.unread(question, partial(counts, answer)))
            return answer

        return self._answered(source, question, noting, shared=shared)

    def _answered(
        self, source: Source, question: Question, ask: Callable[[Session], Result], *, shared: int = 2
    ) -> Result:
        """Return what is asked of a session that has the memory, ``shared`` with the rows of people beside it."""
        limits: dict[str, Any] = {"memory": self.memory // shared, "threads": self.threads, "folder": self.folder}
        with attached(source, question.wanted, question.reading, **limits) as session:
            session.add_keys(question.groupings)
            return ask(session)

    def _parts(self, session: Session, question: Question, key: str, progress: Progress) -> Iterator[Bounded]:
        """Yield bounded totals, one stretch of people at a time."""
        return self._stretches(
            session,
            question,
            lambda crowd: crowd.seeds(key if question.chooses else None),
            lambda words, steps, cell_bits, seeds: bound(words, steps, cell_bits, question, seeds),
            progress,
        )

    def _lives(
        self, session: Session, asked: LifeQuestion, tally: Tally, key: str, progress: Progress
    ) -> Iterator[tuple[Kept, Entries]]:
        """Yield what counts, one stretch of people at a time, and everyone's entries."""

        def beside(crowd: PeopleIndex) -> Iterator[tuple[Seeds, Entries]]:
            return crowd.seeds_and_entries(key if asked.chooses else None, asked.salt)

        def work(
            words: NDArray[np.uint64], steps: NDArray[np.int32], cell_bits: int, known: tuple[Seeds, Entries]
        ) -> tuple[Kept, Entries]:
            seeds, entries = known
            return keep(words, steps, cell_bits, asked, seeds, asked.room(tally, *entries)), entries

        return self._stretches(session, asked.question, beside, work, progress)

    def _stretches(
        self,
        session: Session,
        question: Question,
        beside: Callable[[PeopleIndex], Iterator[Known]],
        work: Callable[[NDArray[np.uint64], NDArray[np.int32], int, Known], Result],
        progress: Progress,
    ) -> Iterator[Result]:
        """Yield what is made of the rows of each stretch of people, and of what is known of these people beside."""
        cell_bits = max(1, (question.cells - 1).bit_length())
        crowd = PeopleIndex.gather(session, question, cell_bits=cell_bits)
        count = len(crowd.begins)
        progress(0.1)
        with Partitions((np.uint64, np.int32), memory=self.memory // 2, folder=self.folder) as store:
            _collect(session, question, crowd, cell_bits, store, progress)

            def taken(stretch_and_known: tuple[int, Known]) -> Result:
                stretch, known = stretch_and_known
                words, steps = store.take(stretch)
                words -= np.uint64(int(crowd.begins[stretch]) << cell_bits)
                return work(words, steps, cell_bits, known)

            workers = self.threads or os.cpu_count() or 1
            for number, part in enumerate(ahead(enumerate(beside(crowd)), taken, workers)):
                progress(0.6 + 0.4 * (number + 1) / count)
                yield part


def _by_sql(question: Question) -> bool:
    """Whether DuckDB bounds people by itself, on all cores: where nothing is chosen of what they have."""
    if question.user is None or question.norm is not None:
        return True
    return not question.chooses and question.window is None and question.weighed_bins == 1


def _in_tenths(progress: Progress) -> Progress:
    """Return what tells each tenth once, whatever is done at once: what is told hangs on no row, only when it is."""
    told = 0

    def tell(done: float) -> None:
        nonlocal told
        while told < math.floor(10 * done):
            told += 1
            progress(told / 10)

    return tell


def _tally_rows(session: Session, question: Question) -> tuple[int, ...]:
    """Return how many rows count, and the sums of their steps before and after clipping."""
    selected = rows_select(question, session.parts).subquery("selected", copy=False).sql("duckdb", copy=False)
    if question.rows is not None:  # each with its whole weight
        return session.row(f"SELECT count(*), {TALLIED} * count(*), {TALLIED} * count(*) FROM {selected}")
    low, high = question.clip
    clipped = f"greatest(least(steps, {high}), {low})"
    return session.row(f"SELECT count(*), coalesce(sum(steps), 0), coalesce(sum({clipped}), 0) FROM {selected}")


def _collect(
    session: Session, question: Question, crowd: PeopleIndex, cell_bits: int, store: Partitions, progress: Progress
) -> None:
    """Read the rows, each as a word of its person and its cell, into their stretches."""
    cell = f"(period * {question.places} + place)::UBIGINT"
    rows = rows_text(question, session.parts)
    query = f"SELECT (code::UBIGINT << {cell_bits}) | {cell}, steps FROM {rows} JOIN names ON person = written"
    bits, done = np.uint64(cell_bits), 0
    for words, steps in session.numbers(query, _BATCH, rows=crowd.rows):
        where = crowd.stretches_of((words >> bits).astype(np.int64))
        store.add(where, words, steps)
        done += len(words)
        progress(0.1 + 0.5 * done / crowd.rows)
