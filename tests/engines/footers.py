"""Footers of Parquet files, taken apart and put together by hand: what no library at hand would write.

A footer is a structure of Thrift in its compact form. A structure is a dictionary of fields by number, each with its
type; the numbers are those of parquet.thrift.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_SCHEMA, _ROW_GROUPS, _COLUMNS, _META, _TYPE, _PATH, _STATISTICS = 2, 4, 1, 3, 1, 3, 12
_NAME, _CONVERTED, _LOGICAL, _ENUM = 4, 6, 10, 4
_WIDTHS = {0: 1, 1: 4, 2: 8, 4: 4, 5: 8, 6: 8}
"""Bytes of an end of a column's cells, by its physical type; of others nothing is said."""
_MAX, _MIN, _NULLS, _MAX_VALUE, _MIN_VALUE = 1, 2, 3, 5, 6

Fields = dict[int, tuple[int, Any]]


def edited(path: str, edit: Callable[[Fields], None]) -> None:
    """Change a file's footer."""
    content = Path(path).read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    start = len(content) - 8 - length
    fields, _ = _read_struct(content, start)
    edit(fields)
    footer = _struct(fields)
    Path(path).write_bytes(content[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def as_enum(*names: str) -> Callable[[Fields], None]:
    """Say of texts that they are of the logical type ENUM, as Avro's and protobuf's writers do."""

    def edit(fields: Fields) -> None:
        for element in fields[_SCHEMA][1][1]:
            if element[_NAME][1].decode() in names:
                element[_CONVERTED] = (5, _ENUM)
                element[_LOGICAL] = (_STRUCT, {_ENUM: (_STRUCT, {})})

    return edit


def with_bounds(low: bytes, high: bytes, *names: str) -> Callable[[Fields], None]:
    """Say of columns that all their cells lie between two of eight bytes, and that none is missing."""

    def edit(fields: Fields) -> None:
        for group in fields[_ROW_GROUPS][1][1]:
            for column in group[_COLUMNS][1][1]:
                meta = column[_META][1]
                width = _WIDTHS.get(meta[_TYPE][1])
                if width is not None and meta[_PATH][1][1][0].decode() in names:
                    said = {_MAX: high, _MIN: low, _MAX_VALUE: high, _MIN_VALUE: low}
                    ends = {number: (_BINARY, end[:width]) for number, end in said.items()}
                    meta[_STATISTICS] = (_STRUCT, {**ends, _NULLS: (6, 0)})

    return edit


def _read_number(content: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[at]
        number, shift, at = number | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return number, at


def _read_signed(content: bytes, at: int) -> tuple[int, int]:
    number, at = _read_number(content, at)
    return (number >> 1) ^ -(number & 1), at


def _read(kind: int, content: bytes, at: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _BYTE:
        return content[at], at + 1
    if kind == _DOUBLE:
        return content[at : at + 8], at + 8
    if kind == _BINARY:
        length, at = _read_number(content, at)
        return content[at : at + length], at + length
    if kind == _STRUCT:
        return _read_struct(content, at)
    if kind not in (_LIST, _SET):
        return _read_signed(content, at)
    inner, count, at = content[at] & 15, content[at] >> 4, at + 1
    if count == 15:
        count, at = _read_number(content, at)
    found = []
    for _ in range(count):
        one, at = (content[at] == _TRUE, at + 1) if inner in (_TRUE, _FALSE) else _read(inner, content, at)
        found.append(one)
    return (inner, found), at


def _read_struct(content: bytes, at: int) -> tuple[Fields, int]:
    fields: Fields = {}
    last = 0
    while content[at]:
        kind, step, at = content[at] & 15, content[at] >> 4, at + 1
        if step:
            last += step
        else:
            last, at = _read_signed(content, at)
        value, at = _read(kind, content, at)
        fields[last] = kind, value
    return fields, at + 1


def _number(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


def _signed(value: int) -> bytes:
    return _number((value << 1) ^ (value >> 63))


def _value(kind: int, value: Any) -> bytes:
    if kind in (_TRUE, _FALSE):
        return b""
    if kind == _BYTE:
        return bytes([value])
    if kind == _DOUBLE:
        return bytes(value)
    if kind == _BINARY:
        return _number(len(value)) + bytes(value)
    if kind == _STRUCT:
        return _struct(value)
    if kind not in (_LIST, _SET):
        return _signed(value)
    inner, some = value
    head = bytes([len(some) << 4 | inner]) if len(some) < 15 else bytes([0xF0 | inner]) + _number(len(some))
    if inner in (_TRUE, _FALSE):
        return head + bytes(_TRUE if one else _FALSE for one in some)
    return head + b"".join(_value(inner, one) for one in some)


def _struct(fields: Fields) -> bytes:
    written, last = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        tag = (_TRUE if value else _FALSE) if kind in (_TRUE, _FALSE) else kind
        written += bytes([number - last << 4 | tag]) if number - last < 16 else bytes([tag]) + _signed(number)
        written, last = written + _value(kind, value), number
    return written + b"\0"
