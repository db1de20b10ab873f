"""The rule by which one cell is read, in plain Python: what every other reader is compared with.

A cell is read by itself. What another row, file or record holds, or in which order they come, changes nothing, and no
cell causes an error: what cannot be read as what it is wanted for is None. The table of kinds stands in
``docs/explanation/proofs/reading.md``, "The rule"; the same rule as SQL in `columns`.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

import numpy as np

from chronodp.engines.reading.declared import Reading
from chronodp.engines.reading.grammar import ABSOLUTE, MONTHS, TRUTHS, WALL, WHOLE, WHOLE_WITH_ZEROS, number_pattern

__all__ = ["EXACT", "FARTHEST", "Moment", "epoch_time", "is_missing", "read_name", "read_number", "read_time"]

EXACT = 2**53
"""Up to here every whole number is a float of its own: beyond, one float would name several people."""

FARTHEST = 2**61
"""Microseconds from 1970 beyond all calendars."""

_WALL, _ABSOLUTE, _WHOLE, _ZEROS = (re.compile(one) for one in (WALL, ABSOLUTE, WHOLE, WHOLE_WITH_ZEROS))
_NAMED_TRUTHS = {"True": "true", "False": "false"}
_MICROSECOND = dt.timedelta(microseconds=1)
_EPOCH = dt.datetime(1970, 1, 1)
_MONTHS_OF = {"Y": 12, "M": 1}
_ATTOSECONDS = {"as": 1, "fs": 10**3, "ps": 10**6, "ns": 10**9, "us": 10**12, "ms": 10**15, "s": 10**18}
_ATTOSECONDS |= {"m": 60 * 10**18, "h": 3600 * 10**18, "D": 86_400 * 10**18, "W": 604_800 * 10**18}
_FIRST = (dt.datetime(1, 1, 1) - _EPOCH) // _MICROSECOND
_END = (dt.datetime(9999, 12, 31) - _EPOCH) // _MICROSECOND + 86_400_000_000
_LONGEST = 40  # digits of a decimal number that may name someone


@dataclass(frozen=True, slots=True)
class Moment:
    """A time as a cell says it.

    Attributes:
        microseconds: since 1970; of UTC if ``absolute``, else as a wall clock shows them.
        absolute: whether the cell, or its column's type, carries an offset.
    """

    microseconds: int
    absolute: bool


def is_missing(cell: object) -> bool:
    """Return whether a cell holds nothing: None, NaN, NaT, pandas' NA or an empty text."""
    if cell is None or (isinstance(cell, str) and not cell) or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(cell, np.datetime64):
        return bool(np.isnat(cell))
    if isinstance(cell, float | np.floating):
        return math.isnan(cell)
    return isinstance(cell, Decimal) and cell.is_nan()


def read_name(cell: object) -> str | None:
    """Return the name in a cell, of a person or a group: the same however the column is stored.

    >>> [read_name(cell) for cell in (7, 7.0, Decimal("7.00"), "7", "7.0", 7.5, "ann", "", None, [7])]
    ['7', '7', '7', '7', '7', None, 'ann', None, None, None]
    """
    cell = _plain(cell)
    if isinstance(cell, str):
        cell = _storable(cell)
        if not cell:
            return None
        if cell[-1] == "0" and (found := _ZEROS.fullmatch(cell)):
            return found[1]
        return _NAMED_TRUTHS.get(cell, cell)
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int):
        return str(int(cell)) if cell.bit_length() < 128 else None
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) <= EXACT else None
    if isinstance(cell, Decimal):
        whole = cell.is_finite() and cell.adjusted() < _LONGEST and cell == cell.to_integral_value()
        return str(int(cell)) if whole else None
    return str(cell) if isinstance(cell, UUID) else None


def read_number(cell: object, reading: Reading) -> float | None:
    """Return the finite number in a cell.

    >>> [read_number(cell, Reading(decimal=",")) for cell in (7, True, "1,5", " 2 ", "1.5", "inf", float("nan"))]
    [7.0, 1.0, 1.5, 2.0, None, None, None]
    """
    cell = _plain(cell)
    if isinstance(cell, str):
        text = _storable(cell).strip(" ")
        if _number(reading.decimal).fullmatch(text):
            return _finite(float(text.replace(reading.decimal, ".")))
        return TRUTHS.get(text)
    if isinstance(cell, bool | int | float | Decimal):
        try:
            return _finite(float(cell))
        except (OverflowError, ValueError):  # beyond all floats, or a signalling NaN
            return None
    return None


def read_time(cell: object, reading: Reading) -> Moment | None:
    """Return the time in a cell: an instant if it carries an offset, else what a wall clock shows.

    >>> read_time("1970-01-01T01:00+01:00", Reading()), read_time("1970-01-01", Reading())
    (Moment(microseconds=0, absolute=True), Moment(microseconds=0, absolute=False))
    >>> read_time("2.1.1970 00:00", Reading(time_format="%d.%m.%Y %H:%M"))
    Moment(microseconds=86400000000, absolute=False)
    >>> read_time(19700102, Reading(time_format="%Y%m%d"))
    Moment(microseconds=86400000000, absolute=False)
    """
    if isinstance(cell, str):
        return _text_time(_storable(cell).strip(" "), reading)
    if isinstance(cell, np.datetime64):
        return _ticks_time(cell)
    if isinstance(cell, dt.date):
        return _clock_time(cell)
    cell = _plain(cell)
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal):
        return None
    if reading.format is not None:  # its digits, as if they were a text
        return _formatted_time(read_name(cell) or "", reading)
    return None if reading.epoch is None else epoch_time(cell, reading.epoch)


def epoch_time(number: int | float | Decimal, unit: int) -> Moment | None:
    """Return the instant so many units of ``unit`` nanoseconds after 1970; whole numbers are exact."""
    if isinstance(number, Decimal):
        whole = number.is_finite() and number.adjusted() < _LONGEST and number == number.to_integral_value()
        number = int(number) if whole else float(number) if number.is_finite() else math.nan
    if isinstance(number, int):
        if number.bit_length() > 63:
            return None
        microseconds = number * unit // 1000
        return Moment(microseconds, absolute=True) if abs(microseconds) < FARTHEST else None
    scaled = number * (unit / 1000) if unit >= 1000 else number / (1000 / unit)
    return Moment(math.floor(scaled), absolute=True) if abs(scaled) < FARTHEST else None


def _text_time(text: str, reading: Reading) -> Moment | None:
    if reading.format is not None:
        return _formatted_time(text, reading)
    offset = 0
    if found := _ABSOLUTE.fullmatch(text):
        text, offset = found[1], _offset(found[2])
    elif not _WALL.fullmatch(text):
        if reading.epoch is None or not _number(reading.decimal).fullmatch(text):
            return None
        number = int(text) if _WHOLE.fullmatch(text) else float(text.replace(reading.decimal, "."))
        return epoch_time(number, reading.epoch)
    try:
        wall = dt.datetime.fromisoformat(text)
    except ValueError:  # a day that the month does not have
        return None
    return Moment((wall - _EPOCH) // _MICROSECOND - offset, absolute=found is not None)


def _formatted_time(text: str, reading: Reading) -> Moment | None:
    written = reading.format
    if written is None or not (found := re.fullmatch(written.pattern, text)):
        return None
    part = dict(zip(written.fields, found.groups(), strict=True))
    month = MONTHS.index(part["b"]) + 1 if "b" in part else int(part["m"])
    hour = int(part.get("H", "0"))
    if "I" in part:
        if not 1 <= int(part["I"]) <= 12:
            return None
        hour = int(part["I"]) % 12 + (12 if part["p"].lower() == "pm" else 0)
    try:
        wall = dt.datetime(
            int(part["Y"]), month, int(part["d"]), hour, int(part.get("M", "0")), int(part.get("S", "0"))
        )
    except ValueError:
        return None
    fraction = int(part.get("f", "0")[:6].ljust(6, "0"))
    offset = _offset(part["z"]) if "z" in part else 0
    return Moment((wall - _EPOCH) // _MICROSECOND + fraction - offset, absolute="z" in part)


def _offset(text: str) -> int:
    """Return an offset such as Z, +02, +0530 or +05:30 in microseconds."""
    if text == "Z":
        return 0
    minutes = int(text[1:3]) * 60 + int(text[-2:] if len(text) > 3 else "0")
    return (-minutes if text[0] == "-" else minutes) * 60_000_000


def _clock_time(cell: dt.date) -> Moment | None:
    if not isinstance(cell.year, int) or not 1 <= cell.year <= 9999:  # pandas knows missing and later ones
        return None
    wall, offset = dt.datetime(cell.year, cell.month, cell.day), None
    if isinstance(cell, dt.datetime):
        wall = wall.replace(hour=cell.hour, minute=cell.minute, second=cell.second, microsecond=cell.microsecond)
        try:
            offset = cell.utcoffset()
        except Exception:  # a zone is the owner's code, which may fail in any way for one cell
            return None
    microseconds = (wall - _EPOCH) // _MICROSECOND
    if offset is None:
        return Moment(microseconds, absolute=False)
    return Moment(microseconds - offset // _MICROSECOND, absolute=True)


def _ticks_time(cell: np.datetime64) -> Moment | None:
    if np.isnat(cell):
        return None
    unit, step = np.datetime_data(cell.dtype)
    ticks = int(cell.astype(np.int64)) * step  # of Python's integers, which numpy's would not hold
    if unit in _MONTHS_OF:
        years, month = divmod(ticks * _MONTHS_OF[unit], 12)
        return _clock_time(dt.date(1970 + years, month + 1, 1)) if 1 <= 1970 + years <= 9999 else None
    microseconds = ticks * _ATTOSECONDS[unit] // _ATTOSECONDS["us"]
    return Moment(microseconds, absolute=False) if _FIRST <= microseconds < _END else None


def _plain(cell: Any) -> Any:
    """Return what a scalar of numpy holds; of its times that may be a plain number, which they are not."""
    if isinstance(cell, np.generic) and not isinstance(cell, np.datetime64 | np.timedelta64):
        return cell.item()
    return cell


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _storable(text: str) -> str:
    """Return a text without lone surrogates, which no bytes of UTF-8 stand for."""
    return text.encode(errors="ignore").decode()


@lru_cache(maxsize=2)
def _number(decimal: str) -> re.Pattern[str]:
    return re.compile(number_pattern(decimal))
