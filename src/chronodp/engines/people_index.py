"""Everyone in a source, numbered, and cut into stretches of about as many rows.

A person's code is a number in place of a name; it orders nothing that ``docs/explanation/proofs/bounding.md`` rests on.
Of the 64 bits of a word in `kernel`, person and cell take at most 40, so 24 and more are left to number the rows of a
stretch; a block with more rows than a stretch shall have stands alone and needs fewer bits for its people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from chronodp.engines.choice import Seeds, seeds_of_none, seeds_of_words
from chronodp.engines.entries import entry_digits, words_of
from chronodp.engines.lives import Digests
from chronodp.engines.question import Question
from chronodp.engines.reading import Term, Wanted
from chronodp.engines.rows import names_text
from chronodp.engines.seeds import person_digest
from chronodp.engines.session import Session

__all__ = ["Entries", "PeopleIndex"]

Stretches: TypeAlias = NDArray[np.uint16] | NDArray[np.uint32]
Entries: TypeAlias = tuple[Digests, Digests]

_TARGET = 2**19  # rows of a stretch: its words and their sorted copy stay near the processor
_BLOCKS = 2**20  # people are counted in at most so many blocks
_ASKED = 2**19  # people whose digests are asked for together
_WORD = 40  # bits for person and cell in a word; the others number the rows of a stretch


@dataclass(frozen=True)
class PeopleIndex:
    """The tables ``everyone (person, code, visits)`` and ``names (written, code)`` of a session.

    A person may be written in several ways, such as 7 and 7.0: each of them is read once, not in every row. If asked
    for, texts that are nobody's name are in ``nameless (written)``.

    Attributes:
        people: how many there are; their codes run from 0.
        rows: how many rows they have, usable or not.
        block: how many people are counted together.
        stretch_of_block: which stretch each block is in.
    """

    session: Session
    people: int
    rows: int
    block: int
    stretch_of_block: Stretches

    @classmethod
    def gather(cls, session: Session, question: Question, *, cell_bits: int, nameless: bool = False) -> PeopleIndex:
        """Number everyone who has a row."""
        if question.user is None:
            raise AssertionError("asked only where there are people")
        found_names = names_text(question, session.parts, Wanted("user", "name", question.user))
        session.run(f"CREATE TABLE found AS {found_names}")
        counted = "SELECT name AS person, sum(visits) AS visits FROM found WHERE name IS NOT NULL GROUP BY name"
        numbered = f"SELECT person, row_number() OVER () - 1 AS code, visits FROM ({counted})"
        (people,) = session.row(f"CREATE TABLE everyone AS {numbered}")
        session.run("CREATE TABLE names AS SELECT written, code FROM found JOIN everyone ON name = person")
        (unnamed,) = session.row("SELECT coalesce(sum(visits), 0) FROM found WHERE name IS NULL")
        session.note_unnamed(unnamed)
        if nameless:
            session.run("CREATE TABLE nameless AS SELECT written FROM found WHERE name IS NULL AND written IS NOT NULL")
        session.run("DROP TABLE found")
        block = max(1, -(-people // _BLOCKS))
        found = session.columns(
            f"SELECT code // {block} AS block, sum(visits)::BIGINT AS visits FROM everyone GROUP BY 1"
        )
        visits = np.zeros(-(-people // block), np.int64)
        visits[found["block"]] = found["visits"]
        stretches = _stretches(visits, most_blocks=max(1, 2 ** (_WORD - cell_bits) // block))
        return cls(session, people, int(visits.sum()), block, stretches)

    @cached_property
    def begins(self) -> NDArray[np.int64]:
        """The first code of each stretch."""
        if not self.people:
            return np.zeros(0, np.int64)
        stretches = np.arange(int(self.stretch_of_block[-1]) + 1)
        return np.searchsorted(self.stretch_of_block, stretches) * self.block

    def stretches_of(self, codes: NDArray[np.int64]) -> Stretches:
        """Return the stretch that each code is in."""
        return self.stretch_of_block[codes if self.block == 1 else codes // self.block]

    def seeds(self, key: str | None) -> Iterator[Seeds]:
        """Return the seeds of everyone in each stretch, in the order of their codes.

        Without a key they are the same for all: enough where nobody can have more than counts, and much quicker.
        """
        if key is None:
            return (seeds_of_none(end - begin) for begin, end in self._spans())
        return (seeds_of_words(words) for (words,) in self._digests([person_digest(key)]))

    def seeds_and_entries(self, key: str | None, salt: str) -> Iterator[tuple[Seeds, Entries]]:
        """Return the same beside the entries of everyone: first and last 64 bits."""
        entry = entry_digits(exp.Literal.string(salt), "duckdb")
        digests = self._digests([entry] if key is None else [entry, person_digest(key)])
        for entries, *chosen in digests:
            seeds = seeds_of_words(*chosen) if chosen else seeds_of_none(len(entries))
            yield seeds, (entries[:, 0], entries[:, 1])

    def _digests(self, terms: Sequence[Term]) -> Iterator[list[Digests]]:
        """Yield digests of everyone in each stretch, as words; each term is the SQL of one, as digits."""
        columns = [term.as_(f"digest_{number}", copy=False) for number, term in enumerate(terms)]
        text = exp.select(*columns, copy=False).from_(exp.to_table("everyone"), copy=False).sql("duckdb", copy=False)
        low = high = 0
        words: list[Digests] = []
        for begin, end in self._spans():
            if end > high:  # a question takes as long for one stretch as for many
                low, high = begin, max(end, begin + _ASKED)
                where = f"WHERE code >= {low} AND code < {high} ORDER BY code"
                batches = list(self.session.batches(f"{text} {where}", _ASKED))
                words = [
                    np.concatenate([words_of(batch.column(number)) for batch in batches])
                    for number in range(len(columns))
                ]
            yield [word[begin - low : end - low] for word in words]

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Yield the first code of each stretch, and the one after its last."""
        return pairwise([*self.begins.tolist(), self.people])


def _stretches(visits: NDArray[np.int64], *, most_blocks: int) -> Stretches:
    """Return the stretch of each block: about as many rows in each, a block with very many rows alone.

    >>> int(_stretches(np.full(70_000, _TARGET + 1), most_blocks=8)[-1])
    69999
    """
    heavy = visits > _TARGET
    light = np.cumsum(np.where(heavy, 0, visits))
    changes = np.diff(light // _TARGET) != 0
    changes |= np.diff(np.arange(len(visits)) // most_blocks) != 0
    changes |= heavy[1:] | heavy[:-1]  # a heavy block begins a stretch, and so does what follows it
    stretches = np.concatenate(([0], np.cumsum(changes)))[: len(visits)]
    # 16 bits sort faster; more stretches than they number must not wrap into each other's rows. There are never more
    # than _BLOCKS, which 32 bits number.
    if len(stretches) and stretches[-1] >= 2**16:
        return stretches.astype(np.uint32)
    return stretches.astype(np.uint16)
