"""One message of JSON in, its records out: by a typed decoder where a record fits it, otherwise with care.

A message is decoded by itself and never joined to another: in one text a forged message could end in the midst of a
string and swallow those that follow. The typed decoder takes less than JSON as Python reads it, and what it takes says
the same: cells that are texts, numbers, truths or nothing, in UTF-8, not deeply nested. Whatever it does not take goes
the careful way, which alone decides what a message means.

"Messages with several records" in ``docs/explanation/proofs/live.md``.
"""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from json.scanner import make_scanner
from typing import Any, NamedTuple

__all__ = ["LARGEST", "Decoder"]

LARGEST = 8 * 2**20
"""Bytes of a message that are read; longer ones are left out unread."""

_DIGITS = 4_000  # of a whole number; Python refuses to read longer ones
_SHALLOW = 200  # brackets within each other that no reader minds
_COLUMNS: tuple[Callable[[list[Any]], list[Any]], ...] = (  # twice as fast as by a name that is known later
    lambda records: [record.cell0 for record in records],
    lambda records: [record.cell1 for record in records],
    lambda records: [record.cell2 for record in records],
    lambda records: [record.cell3 for record in records],
    lambda records: [record.cell4 for record in records],
)
_SCAN = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]  # it takes a decoder, whatever its stub says


class _Typed(NamedTuple):
    """How records are held, what decodes a message into one or several of them, and what it raises if it cannot."""

    record: Callable[..., Any]
    decode: Callable[[bytes | str], Any]
    unfit: tuple[type[Exception], ...]


class Decoder:
    """Reads messages into records that hold the cells of the wanted fields.

    Args:
        wanted: names of fields, at most five.
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = tuple(dict.fromkeys(wanted))
        self._cells = {field: f"cell{place}" for place, field in enumerate(self._wanted)}
        self._typed = _typed(self._cells)

    def decode(self, messages: Iterable[bytes]) -> tuple[list[Any], int]:
        """Return the records of messages that have all wanted fields, and how many others there are."""
        records: list[Any] = []
        malformed = 0
        _, decode, unfit = self._typed
        for message in messages:
            try:
                if len(message) > _SHALLOW:
                    _check_shallow(message)
                # Of fields that nobody wants the decoder reads texts without a look at their UTF-8.
                record = decode(message if message.isascii() else message.decode())
            except unfit:
                rows, failed = _decode_carefully(message)
                found = self.take(rows)
                records += found
                malformed += failed + len(rows) - len(found)
                continue
            if record.__class__ is list:
                records += record
            else:
                records.append(record)
        return records, malformed

    def take(self, rows: Sequence[Any]) -> list[Any]:
        """Return those rows that are tables with all wanted fields, as records."""
        wanted, make = self._wanted, self._typed.record
        return [
            make(*(row[field] for field in wanted))
            for row in rows
            if type(row) is dict and all(field in row for field in wanted)
        ]

    def column(self, records: list[Any], field: str) -> list[Any]:
        """Return the cells of a wanted field."""
        return _COLUMNS[self._wanted.index(field)](records)


def _typed(cells: dict[str, str]) -> _Typed:
    """Return what decodes messages with these fields; without msgspec all messages are read with care."""
    if find_spec("msgspec") is None or not all(map(_is_plain, cells)):
        return _Typed(namedtuple("Record", cells.values()), _refuse, (ValueError,))
    import msgspec

    record = msgspec.defstruct(
        "Record",
        [(cell, None | bool | int | float | str) for cell in cells.values()],
        rename={cell: field for field, cell in cells.items()},
        gc=False,  # cells hold no other objects
    )
    unfit = (msgspec.DecodeError, ValueError, RecursionError)
    return _Typed(record, msgspec.json.Decoder(record | list[record]).decode, unfit)  # type: ignore[valid-type]


def _refuse(message: bytes | str) -> Any:  # noqa: ARG001 (whatever it is)
    raise ValueError


def _check_shallow(message: bytes) -> None:
    """Refuse what is too long, or nested so deeply that readers differ in what they take."""
    if len(message) > LARGEST or message.count(b"[") + message.count(b"{") > _SHALLOW:
        raise ValueError


def _is_plain(name: str) -> bool:
    """Whether a name stands in JSON as it is; the typed decoder takes no other."""
    try:
        return bool(name.encode()) and json.dumps(name, ensure_ascii=False) == f'"{name}"'
    except UnicodeEncodeError:
        return False


def _decode_carefully(message: bytes) -> tuple[list[Any], int]:
    """Return what a message holds, and how many records cannot be read."""
    try:
        text = message.decode() if len(message) <= LARGEST else "null"
        record, end = _SCAN(text, 0)
        if end != len(text):
            raise ValueError
    except (ValueError, RecursionError, StopIteration):
        return _decode_lines(message)
    return record if type(record) is list else [record], 0


def _decode_lines(message: bytes) -> tuple[list[Any], int]:
    """Return the records of a message that is no JSON as it stands, and how many cannot be read.

    It may hold a record a line. A number too long to read takes only its own record with it.
    """
    decode = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) <= _DIGITS else float("nan")).decode
    records: list[Any] = []
    failed = 0
    for text in (message, *message.splitlines()):
        try:
            record = decode(text.decode())
        except (ValueError, RecursionError):
            failed += bool(text.strip()) and text is not message
        else:
            records += record if type(record) is list else [record]
            if text is message:
                return records, 0
    return records, failed + (not records and not failed)
