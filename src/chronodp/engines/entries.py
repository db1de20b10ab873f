"""People's entries in a tally, computed where the names are: the SQL of `lives.entry_of`.

Only digests travel, as hexadecimal digits, which are made numbers here: engines read no such long ones as numbers
alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from chronodp.engines.reading import Term

if TYPE_CHECKING:
    import pyarrow

__all__ = ["DIGITS", "entries_select", "entry_digits", "words_of"]

DIGITS = 32
"""Hexadecimal digits of an entry: 128 bits."""

_CHUNK = 2**16
_VALUES = np.zeros(256, np.uint8)
_VALUES[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)


def entries_select(salt: str) -> exp.Select:
    """Return the SQL for the entries of everyone in the table ``everyone``, as digits."""
    return exp.select(entry_digits(exp.Literal.string(salt), "duckdb").as_("entry")).from_("everyone")


def entry_digits(salt: Term, dialect: str) -> Term:
    """Return the digits of the entry of the person of a row."""
    text = exp.func("CONCAT", salt, exp.column("person"))
    digest = exp.Anonymous(this="SHA256", expressions=[text])
    if dialect == "spark":
        digest = exp.Anonymous(this="SHA2", expressions=[text, exp.Literal.number(256)])
    return exp.Substring(this=digest, start=exp.Literal.number(1), length=exp.Literal.number(DIGITS))


def words_of(digits: pyarrow.Array[Any]) -> NDArray[np.uint64]:
    """Return the first and the last 64 bits of entries, whose digits are lower-case texts of `DIGITS` each.

    >>> import pyarrow
    >>> words_of(pyarrow.array(["00000000000000ff" + "8000000000000000"])).tolist()
    [[255, 9223372036854775808]]
    """
    import pyarrow

    words = np.empty((len(digits), 2), np.uint64)
    # All are of one length, so that they lie side by side.
    plain: Any = digits.cast(pyarrow.string()).cast(pyarrow.binary()).cast(pyarrow.binary(DIGITS))
    written = np.frombuffer(plain.buffers()[1] or b"", np.uint8)[DIGITS * plain.offset :].reshape(-1, DIGITS)
    for first in range(0, len(digits), _CHUNK):  # little memory at a time
        values = _VALUES[written[first : min(first + _CHUNK, len(digits))]]
        octets = values[:, 0::2] << np.uint8(4) | values[:, 1::2]
        words[first : first + _CHUNK] = octets.view(">u8")
    return words
