"""How columns are stored, kind by kind: the cells with which one person fills them, and odd ones that fit the type.

Of most kinds the plain rule says what each cell is; of some a format says it, which has lost the type.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa

Cells = Callable[[random.Random, int], list[Any]]
"""Cells that stand for one number: a person's, the seconds since 1970, four times an amount."""


class _Foul:
    """A text that the declared encoding does not have; each form writes it in bytes of its own."""

    def __repr__(self) -> str:
        return "FOUL"


FOUL: Any = _Foul()
_FOUL_BYTES = b"\xffx\xc3"
_EPOCH = dt.datetime(1970, 1, 1)
_INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30))
_WRAPPED = 2**64 // 1000
"""Microseconds after which a time in nanoseconds of 64 bits comes round to where it was."""

_ODD_TEXTS = (
    *("", " ", "nan", "NULL", "7.5e", "\u00a07", "inf", "-", "2026-13-45", "1e999", "\0", "x" * 3000, "tomorrow"),
    *("7;5", "'", 'a"b', '"', "\u00e9", "\ufeff", "\u2028", "\x7f"),
)
_OBJECT_TIMES: Any = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")


@dataclass(frozen=True, slots=True)
class Kind:
    """A way to store a column.

    Attributes:
        type: in Arrow; None for objects of Python.
        usual: cells that every reader should take for the number.
        odd: cells of the same person that are missing, far away or none of a kind that is wanted.
        foul: whether a cell may be a text that is none in its encoding.
        ruled: whether the plain rule says what its cells are, in all forms alike.
        usable: whether any cell of the type could be read.
    """

    type: Any
    usual: Cells
    odd: Cells
    foul: bool = False
    ruled: bool = True
    usable: bool = True


def to_array(cells: list[Any], kind: Kind) -> Any:
    """Return cells as Arrow; times are whole numbers of their unit, and foul texts are bytes."""
    stored = kind.type
    if pa.types.is_dictionary(stored):
        return _texts(cells, pa.string()).dictionary_encode()
    if pa.types.is_string(stored):
        return _texts(cells, stored)
    if isinstance(stored, pa.BaseExtensionType):
        own = [None if cell is None else cell.bytes for cell in cells]
        return pa.ExtensionArray.from_storage(stored, pa.array(own, stored.storage_type))
    if pa.types.is_temporal(stored):
        return pa.array(cells, pa.int32() if stored.bit_width == 32 else pa.int64()).view(stored)
    return pa.array(cells, stored, from_pandas=False)


def _texts(cells: list[Any], stored: Any) -> Any:
    if not any(cell is FOUL for cell in cells):
        return pa.array(cells, stored)
    own = [_FOUL_BYTES if cell is FOUL else None if cell is None else cell.encode() for cell in cells]
    return pa.array(own, pa.binary()).view(stored)


def _nothing(_: random.Random, __: int) -> list[Any]:
    return [None]


_CODES: Any = pa.dictionary(pa.int32(), pa.string())
_LIST: Any = pa.list_(pa.int32())
_STRUCT: Any = pa.struct([("a", pa.int32())])
_NOT_NUMBERS = [None, math.nan, math.inf]

# What no reader can take for a person, a time or a number, except where a format has lost the type.
_UNREADABLE = {
    "list": Kind(_LIST, lambda _, n: [[n]], lambda _, __: [None, [], [None]], ruled=False, usable=False),
    "struct": Kind(_STRUCT, lambda _, n: [{"a": n}], lambda _, __: [None, {"a": None}], ruled=False, usable=False),
    "bytes": Kind(pa.binary(), lambda _, n: [b"%d" % n], lambda _, __: [None, b"\xff"], ruled=False, usable=False),
    "length": Kind(pa.duration("us"), lambda _, n: [n], lambda _, __: [None, -(2**62)], ruled=False, usable=False),
    "clock": Kind(pa.time64("us"), lambda _, n: [n % 10**9], _nothing, ruled=False, usable=False),
}


def _object_people(_: random.Random, n: int) -> list[Any]:
    return [n, str(n), float(n), Decimal(n), f"{n}.00", np.int64(n), np.float32(n), np.float16(n)]


def _odd_object_people(_: random.Random, __: int) -> list[Any]:
    times = [np.datetime64(7, unit) for unit in _OBJECT_TIMES]
    odd = [None, math.nan, pd.NaT, pd.NA, "", b"7", [7], 7.5, Decimal("NaN"), Decimal("sNaN"), dt.date(2026, 1, 6)]
    return [*odd, "\ud800", np.timedelta64(7, "as"), np.float16("inf"), np.longdouble("nan"), 10**400, {7: 7}, *times]


_PLAIN_PEOPLE = {
    "text": Kind(pa.string(), lambda _, n: [str(n)], lambda _, n: [None, "", f"{n}.00", f"{n}.0"], foul=True),
    "zeros": Kind(pa.string(), lambda _, n: [f"{n}.0"], lambda _, n: [None, "", str(n)], foul=True),
    "codes": Kind(_CODES, lambda _, n: [str(n)], lambda _, n: [None, "", f"{n}.0"], foul=True),
    "whole": Kind(pa.int64(), lambda _, n: [n], _nothing),
    "small": Kind(pa.uint8(), lambda _, n: [n], _nothing),
    "unsigned": Kind(pa.uint64(), lambda _, n: [n], _nothing),
    "real": Kind(pa.float64(), lambda _, n: [float(n)], lambda _, n: [*_NOT_NUMBERS, n + 0.5]),
    "single": Kind(pa.float32(), lambda _, n: [float(n)], lambda _, n: [*_NOT_NUMBERS, n + 0.5]),
    "half": Kind(pa.float16(), lambda _, n: [float(n)], lambda _, n: [*_NOT_NUMBERS, n + 0.5]),
    "decimal": Kind(pa.decimal128(14, 2), lambda _, n: [Decimal(n)], lambda _, n: [None, n + Decimal("0.5")]),
    "wide": Kind(
        pa.decimal256(52, 2), lambda _, n: [Decimal(n)], lambda _, n: [None, n + Decimal("0.5"), Decimal(10**49)]
    ),
    "uuid": Kind(pa.uuid(), lambda _, n: [UUID(int=n)], _nothing),
}
PEOPLE = {**_PLAIN_PEOPLE, "object": Kind(None, _object_people, _odd_object_people), **_UNREADABLE}


def _written_times(_: random.Random, seconds: int) -> list[Any]:
    wall = _EPOCH + dt.timedelta(seconds=seconds)
    aware = wall.replace(tzinfo=dt.UTC)
    texts = [wall.isoformat(), wall.isoformat(" "), aware.isoformat(), f"{wall:%Y-%m-%dT%H:%M:%S}Z", f"{wall:%Y-%m-%d}"]
    return [
        *texts, aware.astimezone(_INDIA).isoformat(), f"{wall:%Y-%m-%dT%H:%M}", f" {wall:%Y-%m-%d %H:%M:%S}.250Z ",
    ]  # fmt: skip


def _odd_times(_: random.Random, __: int) -> list[Any]:
    return [None, *_ODD_TEXTS, "0001-01-01", "9999-12-31T23:59:59Z", "2026-02-30"]


def _object_times(chance: random.Random, seconds: int) -> list[Any]:
    wall = _EPOCH + dt.timedelta(seconds=seconds)
    aware = wall.replace(tzinfo=dt.UTC)
    stamps = [pd.Timestamp(wall), pd.Timestamp(aware), np.datetime64(wall), wall.date()]
    return [wall, aware, aware.astimezone(_INDIA), *stamps, *_written_times(chance, seconds)]


def _odd_object_times(chance: random.Random, seconds: int) -> list[Any]:
    wall = _EPOCH + dt.timedelta(seconds=seconds)
    odd = [math.nan, pd.NaT, pd.NA, 7, dt.date(1, 1, 1), dt.datetime(9999, 12, 31), [wall], b"2026", "\ud800"]
    near = [np.datetime64(7, unit) for unit in _OBJECT_TIMES]
    far = [np.datetime64(end, unit) for unit in _OBJECT_TIMES for end in (2**62, -(2**62))]
    return [*odd, *near, *far, np.timedelta64(7, "s"), *_odd_times(chance, seconds)]


def _timed(stored: Any, unit: int, far: tuple[int, ...], zone: str | None = None) -> Kind:
    return Kind(pa.timestamp(stored, zone), lambda _, seconds: [seconds * 10**9 // unit], lambda _, __: [None, *far])


_FAR = {
    "s": (9 * 10**12, -(10**11), 8 * 10**15),  # years that calendars do not have; Parquet has no seconds
    "ms": (9 * 10**15, -(10**14), 2**62 // 1000),
    "us": (9 * 10**15, 8 * 10**18, -(10**17), 2**63 - 1, -(2**63) + 1),
    "ns": (8 * 10**18, -(8 * 10**18), 2**63 - 1, -(2**63) + 1),
}
_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAYS_BEYOND = (107_000_000, -107_000_000, 2**31 - 2, -(2**31) + 2, 2**31 - 1, 2_932_897, -720_000)

TIMES = {
    "text": Kind(pa.string(), _written_times, _odd_times, foul=True),
    "codes": Kind(_CODES, _written_times, _odd_times, foul=True),
    "object": Kind(None, _object_times, _odd_object_times),
    **{unit: _timed(unit, _UNITS[unit], far) for unit, far in _FAR.items()},
    **{f"{unit}+": _timed(unit, _UNITS[unit], far, "Asia/Kolkata") for unit, far in _FAR.items()},
    # Where a reader has 64 bits of nanoseconds alone, some of these come round into the grid.
    "int96": Kind(
        pa.timestamp("us"),
        lambda chance, seconds: [seconds * 10**6 + chance.choice([0, 0, 1, -1, 2]) * _WRAPPED],
        lambda _, seconds: [None, 10**17, -(10**17), seconds * 10**6 + 3 * _WRAPPED],
    ),
    "day": Kind(pa.date32(), lambda _, seconds: [seconds // 86_400], lambda _, __: [None, *_DAYS_BEYOND]),
    "day64": Kind(
        pa.date64(), lambda _, seconds: [seconds // 86_400 * 86_400_000], lambda _, __: [None, 9 * 10**15, -(10**14)]
    ),
    **_UNREADABLE,
}
EPOCHS = {  # where numbers are times, by the owner's word
    "whole": Kind(pa.int64(), lambda _, ticks: [ticks], lambda _, __: [None, 2**63 - 1, -(2**63), 0]),
    "real": Kind(pa.float64(), lambda _, ticks: [float(ticks)], lambda _, __: [*_NOT_NUMBERS, 1e300, -1e300]),
    "decimal": Kind(
        pa.decimal128(24, 2), lambda _, ticks: [Decimal(ticks)], lambda _, __: [None, Decimal(10**21), Decimal(-1)]
    ),
    "wide": Kind(pa.decimal256(52, 2), lambda _, ticks: [Decimal(ticks)], lambda _, __: [None, Decimal(10**49)]),
    "text": Kind(pa.string(), lambda _, ticks: [str(ticks)], _odd_times, foul=True),
}


def _odd_amounts(_: random.Random, __: int) -> list[Any]:
    return [None, *_ODD_TEXTS, "1e300", "True", " 2 ", "-1e-400"]


def _odd_objects(_: random.Random, __: int) -> list[Any]:
    odd = [None, math.nan, pd.NA, pd.NaT, "", "2.5", True, Decimal("1.25"), 10**400, b"1", [1.0], "x", Decimal("sNaN")]
    return [*odd, "\ud800", np.datetime64(7, "as"), np.timedelta64(7, "as"), np.longdouble(2) ** 5000, 1j]


AMOUNTS = {
    "text": Kind(pa.string(), lambda _, n: [f"{n / 4:g}"], _odd_amounts, foul=True),
    "codes": Kind(_CODES, lambda _, n: [f"{n / 4:g}"], _odd_amounts, foul=True),
    "real": Kind(
        pa.float64(),
        lambda _, n: [n / 4] * 9 + [math.nan],  # statistics in files know nothing of these
        lambda _, __: [*_NOT_NUMBERS, -math.inf, -1e308, 1e300],
    ),
    "single": Kind(pa.float32(), lambda _, n: [n / 4], lambda _, __: [*_NOT_NUMBERS, -math.inf, 1e38]),
    "half": Kind(pa.float16(), lambda _, n: [n / 4], lambda _, __: [*_NOT_NUMBERS, -math.inf, 65504.0]),
    "whole": Kind(pa.int64(), lambda _, n: [n], lambda _, __: [None, 2**63 - 1, -(2**63)]),
    "unsigned": Kind(pa.uint64(), lambda _, n: [abs(n)], lambda _, __: [None, 2**64 - 1]),
    "truth": Kind(pa.bool_(), lambda _, n: [n > 0], _nothing),
    "decimal": Kind(
        pa.decimal128(14, 2), lambda _, n: [Decimal(n) / 4], lambda _, __: [None, Decimal("-999999999999.99")]
    ),
    "wide": Kind(
        pa.decimal256(52, 2), lambda _, n: [Decimal(n) / 4], lambda _, __: [None, Decimal(10**49), -Decimal(10**45)]
    ),
    "object": Kind(None, lambda _, n: [n / 4], _odd_objects),
    **_UNREADABLE,
}


def _regions(_: random.Random, n: int) -> list[Any]:
    return [("north", "south", "elsewhere")[n % 3]]


REGIONS = {
    "text": Kind(pa.string(), _regions, lambda _, __: [None, *_ODD_TEXTS], foul=True),
    "codes": Kind(_CODES, _regions, lambda _, __: [None, *_ODD_TEXTS], foul=True),
    "object": Kind(None, _regions, _odd_object_people),
}
# Of a column that nobody asks for.
NOTES = {
    **_UNREADABLE, **{name: AMOUNTS[name] for name in ("text", "codes", "real", "half", "wide", "object")},
    **{name: TIMES[name] for name in ("s", "us+", "ns", "day")}, "nothing": Kind(pa.null(), _nothing, _nothing),
}  # fmt: skip
