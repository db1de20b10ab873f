"""How texts must be written to be read as times, numbers and names: the same patterns in Python, DuckDB and Spark.

The patterns use only what Python's ``re``, RE2 and Java read alike: no backslash, which Spark's texts take away, and no
dollar sign, which in Java also stands before a last line break.

*Text* under "Why it holds" in ``docs/explanation/proofs/reading.md``: these patterns decide, not a database's own cast.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from chronodp.errors import InvalidArgument

__all__ = [
    "ABSOLUTE",
    "EPOCHS",
    "MONTHS",
    "TRUTHS",
    "WALL",
    "WHOLE",
    "WHOLE_WITH_ZEROS",
    "Format",
    "number_pattern",
    "parse_format",
    "short_number_pattern",
]

_DAY = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,12})?)?"
_OFFSET = "Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?"

WALL = f"{_DAY}(?:[T ]{_CLOCK})?"
"""A day, or a day and what a clock shows: ISO 8601 with hyphens and colons, without an offset."""

ABSOLUTE = f"({_DAY}[T ]{_CLOCK})({_OFFSET})"
"""The same with an offset from UTC: an instant."""

WHOLE = "[+-]?[0-9]{1,19}"
"""A whole number that 64 bits may hold."""

WHOLE_WITH_ZEROS = "(-?[0-9]+)[.]0+"
"""A whole number as it is written when its column holds fractions or missing cells: 7.0 is 7."""

TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}
"""What stands for yes and no."""

EPOCHS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
"""Nanoseconds of the units in which times may be counted from 1970."""

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_FIELDS = {
    "Y": "[0-9]{4}",
    "m": "[0-9]{1,2}",
    "b": "|".join(MONTHS),
    "d": "[0-9]{1,2}",
    "H": "[0-9]{1,2}",
    "I": "[0-9]{1,2}",
    "M": "[0-9]{1,2}",
    "S": "[0-9]{1,2}",
    "f": "[0-9]{1,12}",
    "p": "AM|PM|am|pm",
    "z": _OFFSET,
}
_ALLOWED = (
    "'iso', a unit 's', 'ms', 'us' or 'ns' of numbers since 1970, or a pattern of %Y, %m or %b, %d, %H or %I with %p, "
    "%M, %S, %f and %z, with at least a year, a month and a day, such as '%d.%m.%Y %H:%M'"
)


def number_pattern(decimal: str) -> str:
    """Return how a number is written with this decimal sign."""
    return f"[+-]?(?:[0-9]+(?:[{decimal}][0-9]*)?|[{decimal}][0-9]+)(?:[eE][+-]?[0-9]+)?"


def short_number_pattern(decimal: str) -> str:
    """Return how those of these numbers are written that need no look at their size: every one is finite."""
    return f"[+-]?[0-9]{{1,15}}(?:[{decimal}][0-9]{{0,15}})?"


@dataclass(frozen=True, slots=True)
class Format:
    """How the owner says that times are written.

    Attributes:
        pattern: a regular expression with a group for each field.
        fields: the letter of each group: Y, m, b, d, H, I, M, S, f, p, z.
    """

    pattern: str
    fields: str

    @property
    def absolute(self) -> bool:
        """Whether each time says its own offset."""
        return "z" in self.fields


def parse_format(text: str) -> Format:
    """Return the format that a text such as ``%d.%m.%Y %H:%M`` stands for.

    >>> parse_format("%d.%m.%Y").fields
    'dmY'
    """
    pieces = re.split(r"%(.)", text)
    letters = "".join(pieces[1::2])
    hours = ("H" in letters) + ("I" in letters)
    complete = "Y" in letters and "d" in letters and ("m" in letters) + ("b" in letters) == 1
    ordered = all(earlier in letters or later not in letters for earlier, later in ("MS", "Sf"))
    clock = hours <= 1 and ("I" in letters) == ("p" in letters) and (hours == 1) >= ("M" in letters) and ordered
    if not complete or not clock or len(set(letters)) < len(letters) or not set(letters) <= _FIELDS.keys():
        raise InvalidArgument("time_format", text, _ALLOWED)
    if not hours and letters.strip("Ymbd"):
        raise InvalidArgument("time_format", text, _ALLOWED)
    if not all(re.fullmatch("[A-Za-z0-9 .,:/_-]*", piece) for piece in pieces[::2]):
        raise InvalidArgument(
            "time_format", text, f"{_ALLOWED}, with letters, digits, spaces and . , : / _ - between them"
        )
    literal = (piece.replace(".", "[.]") for piece in pieces)
    pattern = "".join(f"({_FIELDS[piece]})" if at % 2 else piece for at, piece in enumerate(literal))
    return Format(pattern, letters)
