"""The keys of a column and its people as numbers, and how rows find the number of their text.

A key's number comes from its text, in the order of bytes. Rows find it by a hash of the text as long as no two texts of
the column share one, and by the text itself otherwise: keys that share a hash must not become one, nor must people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from chronodp.engines.choice import Words
from chronodp.engines.held_keys import MOST_KEYS, KeysQuestion
from chronodp.engines.keys_statement import fits, key_number, keyed_text
from chronodp.engines.reading import Wanted
from chronodp.engines.rows import names_text
from chronodp.engines.session import Session
from chronodp.engines.text_codes import NO_CODE, Hashes, TextCodes
from chronodp.errors import UnreadableSource

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Coder", "NumberedKeys", "code_people", "number_keys"]

_TEXTS = 2**14  # keys that come together: texts of 2^16 bytes must stay below the 2^31 that an array of Arrow holds
_HASH = "hash(%s)"  # to look up a code by it takes a third of the time of a join by texts


@dataclass(frozen=True, slots=True)
class Coder:
    """How a text in the rows of a query becomes its code.

    Attributes:
        column: of the rows, with the text.
        table: ``(written, code)`` of the session, for a join by texts.
        codes: by hashes of texts; None where they cannot be told apart by these.
    """

    column: str
    table: str
    codes: TextCodes | None

    @property
    def cell(self) -> str:
        """What a query must select."""
        return f"{self.table}.code" if self.codes is None else _HASH % self.column

    @property
    def join(self) -> str:
        """What must be joined for it."""
        return f"JOIN {self.table} ON {self.column} = {self.table}.written" if self.codes is None else ""

    def codes_of(self, cells: NDArray[Any]) -> Words:
        """Return the codes, by what was selected; `NO_CODE` for texts that have none."""
        return cells if self.codes is None else self.codes.find(cells)


@dataclass(frozen=True, slots=True, eq=False)
class NumberedKeys:
    """Every key of a column: its number is its place in the order of bytes.

    Attributes:
        texts: the keys, in pieces.
        numbers: of each in people's choices, as `number_of` has it.
        coder: how a row's key becomes its number.
    """

    texts: Sequence[pyarrow.Array[Any]]
    numbers: Words
    coder: Coder

    def texts_at(self, places: Words) -> tuple[str, ...]:
        """Return some keys, by their places in ascending order."""
        ends = np.cumsum([len(piece) for piece in self.texts], dtype=np.int64)
        cuts = np.searchsorted(places, ends)
        found: list[Any] = []
        for piece, end, low, high in zip(self.texts, ends, [0, *cuts], cuts, strict=False):
            found += piece.take(places[low:high] - (end - len(piece))).to_pylist()
        return tuple(found)


def number_keys(session: Session, asked: KeysQuestion, *, key: str, memory: int) -> NumberedKeys:
    """Number the keys of a column; makes the table ``key_names (written, key_, hashed)``.

    A key may be written in several ways, such as 7 and 7.0: each of them is read once, not in every row. A derived key
    is what it is. A text that is no key stands there too, so that its hash is looked at.
    """
    question = asked.reading
    if question.expressions.keys[-1] is None:
        found = names_text(question, session.parts, Wanted("by", "name", asked.column))
    else:
        found = f"SELECT DISTINCT text_ AS written, text_ AS name FROM {keyed_text(asked, session.parts)}"
    fitting = fits(asked, exp.column("name"), "duckdb").sql("duckdb")
    session.run(
        f"CREATE TABLE key_names AS SELECT written, CASE WHEN {fitting} THEN name END AS key_, "
        f"{_HASH % 'written'} AS hashed FROM ({found}) WHERE written IS NOT NULL"
    )
    texts, numbers, hashes, codes = _ordered(session, key)
    by_hash = TextCodes.of(hashes, codes, memory=memory // 4)
    if by_hash is None:
        # DuckDB orders texts by bytes: the session is ours, and has no collation.
        code = "dense_rank() OVER (ORDER BY key_) - 1 AS code"
        session.run(f"CREATE TABLE coded AS SELECT written, {code} FROM key_names WHERE key_ IS NOT NULL")
    return NumberedKeys(texts, numbers, Coder("text_", "coded", by_hash))


def _ordered(session: Session, key: str) -> tuple[list[pyarrow.Array[Any]], Words, Hashes, Words]:
    """Return each key and its number in people's choices; and of each text the hash and the code."""
    import pyarrow
    import pyarrow.compute

    number = key_number(key, exp.column("key_"), "duckdb").sql("duckdb")
    query = f"SELECT key_, hashed, {number} AS number FROM key_names WHERE key_ IS NOT NULL ORDER BY key_"
    last, count = None, 0
    texts, numbers = [], [np.zeros(0, np.int64)]
    none = session.columns("SELECT hashed FROM key_names WHERE key_ IS NULL")["hashed"]
    hashes, codes = [none.view(np.uint64)], [np.full(len(none), NO_CODE, np.int64)]
    for batch in session.batches(query, _TEXTS):
        keys, hashed, drawn = batch.columns
        fresh = np.ones(len(keys), bool)  # whether it is another key than the one before
        fresh[0] = keys[0].as_py() != last
        fresh[1:] = pyarrow.compute.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
        texts.append(keys.filter(pyarrow.array(fresh)))
        numbers.append(drawn.to_numpy(zero_copy_only=False)[fresh])
        hashes.append(hashed.to_numpy())
        codes.append(count - 1 + np.cumsum(fresh))
        last, count = keys[-1].as_py(), int(codes[-1][-1]) + 1
        if count >= MOST_KEYS:
            raise UnreadableSource("a column holds too many different keys: derive one with fewer")
    return texts, np.concatenate(numbers), np.concatenate(hashes), np.concatenate(codes)


def code_people(session: Session, *, memory: int) -> Coder:
    """Return how a row's person becomes the code that `PeopleIndex` gave them."""
    hashed = _HASH % "written"
    # A text that is nobody's name may share a hash with one that is.
    everyone = f"SELECT {hashed} AS hashed, code FROM names UNION ALL SELECT {hashed}, {NO_CODE} FROM nameless"
    found = session.columns(everyone)
    by_hash = TextCodes.of(found["hashed"].view(np.uint64), found["code"], memory=memory // 4)
    return Coder("person", "names", by_hash)
