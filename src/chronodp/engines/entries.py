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

__all__ = ["DIGITS", "entry_digits", "words_of"]

DIGITS = 32
"""Hexadecimal digits of an entry: 128 bits."""

_CHUNK = 2**16
_LOW_HALVES, _LOW_BITS = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
_LETTER, _NINE, _HALF = np.uint64(6), np.uint64(9), np.uint64(32)
_CLOSER = [
    (np.uint64(4), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(8), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(16), np.uint64(0x00000000FFFFFFFF)),
]


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

    words = np.empty((2, len(digits)), np.uint64)  # what is looked up by the one or the other lies side by side
    # All are of one length, so that they lie side by side.
    plain: Any = digits.cast(pyarrow.string()).cast(pyarrow.binary()).cast(pyarrow.binary(DIGITS))
    written = np.frombuffer(plain.buffers()[1] or b"", ">u8")[DIGITS // 8 * plain.offset :].reshape(-1, DIGITS // 8)
    for first in range(0, len(digits), _CHUNK):  # little memory at a time
        values = written[first : min(first + _CHUNK, len(digits))].astype(np.uint64)  # eight digits in each
        # The lower half of "0" … "9" is their value; that of "a" … "f", which alone have bit 6, is 9 less.
        letters = values >> _LETTER
        letters &= _LOW_BITS
        letters *= _NINE
        values &= _LOW_HALVES
        values += letters
        for shift, mask in _CLOSER:  # eight values of 4 bits move together: two to 8 bits, four to 16, all to 32
            values |= values >> shift
            values &= mask
        words[:, first : first + _CHUNK] = (values[:, 0::2] << _HALF | values[:, 1::2]).T
    return words.T
