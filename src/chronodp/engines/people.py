"""The rows of people, a person's side by side: DuckDB brings them together, and hands some people over at a time.

All rows of a person come at once, so steps 3 to 5 of "What is computed" in ``docs/explanation/proofs/bounding.md``
treat each person by themselves. A person's place among those who come with them is a number in place of a name; it
orders nothing that the proof rests on.

DuckDB reads, names and groups with all threads; what a list holds stays in memory there. So people of a large table are
taken in stretches, cut by a keyed hash of their names: one pass writes the rows of each stretch to files, and each
stretch is grouped by itself.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from chronodp.engines.entries import words_of
from chronodp.engines.lives import Digests
from chronodp.engines.question import Progress
from chronodp.engines.reading import Term
from chronodp.engines.session import Session

__all__ = ["Crowd", "ahead", "crowds"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_ROWS = 2**19  # of the people who are handed over together: threads wait for each other between calls
_PEOPLE = 2**11  # whom DuckDB hands over at a time: as many as it computes at a time
_BYTES = 32  # of a row in a list: the word, room to grow, and the copy that is handed over


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """The rows of some people, numbered from 0.

    Attributes:
        begins: where the rows of each person begin, and the end.
        rows: what a row says, in 63 bits.
        digests: of each person, as first and last 64 bits: one array for each digest that was asked for.
    """

    begins: NDArray[np.int64]
    rows: NDArray[np.uint64]
    digests: tuple[Digests, ...]

    def __len__(self) -> int:
        return len(self.begins) - 1

    def numbered(self, bits: int) -> NDArray[np.uint64]:
        """Return the number of the person of each row, above so many bits that are 0."""
        return np.repeat(np.arange(len(self), dtype=np.uint64) << np.uint64(bits), np.diff(self.begins))

    def cut(self, most: int) -> Iterator[Crowd]:
        """Yield the same people in pieces of at most so many, and of about `_ROWS` rows; who has more comes alone."""
        first = 0
        while first < len(self):
            full = int(np.searchsorted(self.begins, self.begins[first] + _ROWS, side="right")) - 1
            last = min(max(first + 1, full), first + most)
            begin, end = self.begins[first], self.begins[last]
            digests = tuple(digest[first:last] for digest in self.digests)
            yield Crowd(self.begins[first : last + 1] - begin, self.rows[begin:end], digests)
            first = last

    @classmethod
    def together(cls, crowds: Sequence[Crowd]) -> Crowd:
        """Return the people of several as one crowd."""
        if len(crowds) == 1:
            return crowds[0]
        lengths = np.concatenate([np.diff(crowd.begins) for crowd in crowds])
        digests = tuple(np.concatenate(found) for found in zip(*(crowd.digests for crowd in crowds), strict=True))
        begins = np.concatenate(([0], np.cumsum(lengths)))
        return cls(begins, np.concatenate([crowd.rows for crowd in crowds]), digests)


def crowds(
    session: Session,
    rows: str,
    digests: Sequence[Term],
    *,
    key: str,
    memory: int,
    folder: str | None,
    most: int = _ROWS,
    progress: Progress = lambda _: None,
) -> Iterator[Crowd]:
    """Yield everyone's rows.

    Args:
        session: about the source.
        rows: a text to select from, with the columns ``person`` and ``row_``, of 63 bits.
        digests: terms over ``person``, each of hexadecimal digits.
        key: decides which people are taken together, where not all can be.
        memory: bytes that lists of rows may take.
        folder: where temporary files go.
        most: how many people may come together.
        progress: told how far DuckDB is.
    """
    named = [term.as_(f"digest_{number}", copy=False).sql("duckdb") for number, term in enumerate(digests)]
    columns = ", ".join([*named, "rows_"])
    stretches = max(1, -(-session.most_rows(memory // _BYTES) * _BYTES // memory))
    with _cut(session, rows, stretches, key=key, folder=folder) as tables:
        for number, table in enumerate(tables):
            text = f"SELECT {columns} FROM (SELECT person, list(row_) AS rows_ FROM {table} GROUP BY person)"

            def tell(done: float, number: int = number) -> None:
                progress((number + done) / len(tables))

            yield from _taken(session, text, most, tell)


def _taken(session: Session, text: str, most: int, progress: Progress) -> Iterator[Crowd]:
    """Yield the people of an answer, in pieces of about as many rows."""
    held: list[Crowd] = []
    for batch in session.batches(text, _PEOPLE, progress=progress):
        *found, column = batch.columns
        lists: Any = column  # of whole numbers, of which pyarrow's types know nothing
        begins = lists.offsets.to_numpy().astype(np.int64)
        words = lists.values.to_numpy()[begins[0] : begins[-1]].view(np.uint64)
        held.append(Crowd(begins - begins[0], words, tuple(words_of(column) for column in found)))
        if sum(len(crowd.rows) for crowd in held) >= _ROWS:
            yield from Crowd.together(held).cut(most)
            held = []
    if held:
        yield from Crowd.together(held).cut(most)


@contextlib.contextmanager
def _cut(session: Session, rows: str, stretches: int, *, key: str, folder: str | None) -> Iterator[Sequence[str]]:
    """Give the rows as tables to select from, all rows of a person in one: one table, or files for each stretch."""
    if stretches == 1:
        yield [rows]
        return
    keyed = exp.func("CONCAT", exp.Literal.string(key), exp.column("person")).sql("duckdb")
    with tempfile.TemporaryDirectory(prefix="chronodp-", dir=folder) as place:  # only its owner may read it
        target = exp.Literal.string(place).sql("duckdb")
        session.run(
            f"COPY (SELECT person, row_, hash({keyed}) % {stretches} AS stretch FROM {rows}) "
            f"TO {target} (FORMAT parquet, PARTITION_BY (stretch), OVERWRITE_OR_IGNORE)"
        )
        files = [exp.Literal.string(str(path / "*.parquet")).sql("duckdb") for path in sorted(Path(place).iterdir())]
        yield [f"read_parquet({path}, hive_partitioning = false)" for path in files]


def ahead(items: Iterable[Item], work: Callable[[Item], Result], workers: int) -> Iterator[Result]:
    """Yield what work makes of items, in order, never more than a few items ahead: others would fill memory."""
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
