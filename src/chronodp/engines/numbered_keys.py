"""The keys of a column as numbers, in the order of their bytes, and the table by which rows find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlglot import exp

from chronodp.engines.choice import Words
from chronodp.engines.held_keys import MOST_KEYS, KeysQuestion
from chronodp.engines.keys_statement import fits, key_number, keyed_text
from chronodp.engines.reading import Wanted
from chronodp.engines.rows import names_text
from chronodp.engines.session import Session
from chronodp.errors import UnreadableSource

if TYPE_CHECKING:
    import pyarrow

__all__ = ["NumberedKeys", "number_keys"]

_TEXTS = 2**14  # keys that come together: texts of 2^16 bytes must stay below the 2^31 that an array of Arrow holds


@dataclass(frozen=True, slots=True, eq=False)
class NumberedKeys:
    """Every key of a column: its number is its place in the order of bytes.

    Attributes:
        texts: the keys, in pieces.
        numbers: of each in people's choices, as `number_of` has it.
    """

    texts: Sequence[pyarrow.Array[Any]]
    numbers: Words

    def texts_at(self, places: Words) -> tuple[str, ...]:
        """Return some keys, by their places in ascending order."""
        ends = np.cumsum([len(piece) for piece in self.texts], dtype=np.int64)
        cuts = np.searchsorted(places, ends)
        found: list[Any] = []
        for piece, end, low, high in zip(self.texts, ends, [0, *cuts], cuts, strict=False):
            found += piece.take(places[low:high] - (end - len(piece))).to_pylist()
        return tuple(found)


def number_keys(session: Session, asked: KeysQuestion, *, key: str) -> NumberedKeys:
    """Number the keys of a column; makes the table ``coded (written, key_, code)``.

    A key may be written in several ways, such as 7 and 7.0: each of them is read once, not in every row. A derived key
    is what it is.
    """
    question = asked.reading
    if question.expressions.keys[-1] is None:
        found = names_text(question, session.parts, Wanted("by", "name", asked.column))
    else:
        found = f"SELECT DISTINCT text_ AS written, text_ AS name FROM {keyed_text(asked, session.parts)}"
    fitting = fits(asked, exp.column("name"), "duckdb").sql("duckdb")
    # DuckDB orders texts by bytes: the session is ours, and has no collation.
    session.run(
        "CREATE TABLE coded AS SELECT written, name AS key_, dense_rank() OVER (ORDER BY name) - 1 AS code "
        f"FROM ({found}) WHERE written IS NOT NULL AND {fitting}"
    )
    if session.row("SELECT coalesce(max(code) + 1, 0) FROM coded")[0] >= MOST_KEYS:
        raise UnreadableSource("a column holds too many different keys: derive one with fewer")
    number = key_number(key, exp.column("key_"), "duckdb").sql("duckdb")
    texts: list[pyarrow.Array[Any]] = []
    numbers = [np.zeros(0, np.int64)]
    each = "SELECT code, any_value(key_) AS key_ FROM coded GROUP BY code"
    for batch in session.batches(f"SELECT key_, {number} AS number FROM ({each}) ORDER BY code", _TEXTS):
        keys, drawn = batch.columns
        texts.append(keys)
        numbers.append(drawn.to_numpy(zero_copy_only=False))
    return NumberedKeys(texts, np.concatenate(numbers))
