"""Messages in, arrays out: each record is read by itself, and one that cannot be read is left out.

Cells are read by the rule of `chronodp.engines.reading`, as those of tables are. What a record says never depends on
which others came with it: a whole batch is converted at once only where that gives what reading one by one would give.

"Messages with several records" in ``docs/explanation/proofs/live.md``; cells by the rule of
``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from json.scanner import make_scanner
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.reading import Reading, read_name, read_number, read_time
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_kind, check_listed, check_whole, check_word, check_zone, instant_of, moment_at

Cell = TypeVar("Cell")

__all__ = ["LARGEST", "Batch", "Fields", "Reader"]

LARGEST = 8 * 2**20
"""Bytes of a message that are read; longer ones are left out unread."""

_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}
_EXACT = 2.0**53  # microseconds up to which a product of floats is what whole numbers would give
_NUMBERS = frozenset((int, float))
_DIGITS = 4_000  # of a whole number; Python refuses to read longer ones
_SCAN = make_scanner(json.JSONDecoder())  # type: ignore[arg-type]  # it takes a decoder, whatever its stub says


@dataclass(frozen=True, slots=True)
class Fields:
    """Which fields of a record say what.

    Attributes:
        time: when it happened: a number since 1970, or a text such as '2026-01-01T06:00:00Z'.
        user: whose it is; None if records name nobody.
        value: the number to add up; None for counts.
        group: which group it belongs to; None if there are none.
        id: what tells repeats of one record; None if nothing does.
        time_unit: of times that are numbers: 's', 'ms' or 'us'.
        timezone: in which times without an offset are read.
    """

    time: str
    user: str | None = None
    value: str | None = None
    group: str | None = None
    id: str | None = None
    time_unit: str = "s"
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        for name in ("time", "user", "value", "group", "id"):
            field = getattr(self, name)
            if (field is None and name == "time") or (field is not None and (not isinstance(field, str) or not field)):
                raise InvalidArgument(name, field, "the name of a field")
        check_word("time_unit", self.time_unit, tuple(_UNITS))
        check_zone(self.timezone)


@dataclass(frozen=True, slots=True)
class Batch:
    """Records as arrays.

    Attributes:
        times: microseconds since 1970, UTC.
        people: whose each is, as a place in ``names``.
        names: the people of this batch.
        places: the group of each; -1 if it is not on the list.
        values: the number of each; None for counts.
        ids: the id of each; None if they have none.
        malformed: how many records could not be read; for the owner's eyes only.
        keys: the groups of this batch where none are declared: ``places`` are then places in it.
    """

    times: NDArray[np.int64]
    people: NDArray[np.int64]
    names: list[str]
    places: NDArray[np.int64]
    values: NDArray[np.float64] | None
    ids: list[str] | None
    malformed: int
    keys: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.times)


class Reader:
    """Reads messages: a JSON object, an array of them, objects line by line; or lines of CSV.

    Args:
        fields: which fields say what.
        groups: public keys of groups, in their order.
        longest: bytes of a key where none are declared: every group is read, longer ones are left out.

    >>> reader = Reader(Fields("at", user="who", value="kwh"))
    >>> batch = reader.read([b'{"at": 1.5, "who": "ann", "kwh": 2}', b"noise", b'[{"at": 2, "who": 7, "kwh": 1e400}]'])
    >>> batch.times.tolist(), batch.names, batch.malformed
    ([1500000], ['ann'], 2)
    """

    def __init__(self, fields: Fields, *, groups: Sequence[str] = (), longest: int | None = None) -> None:
        self._fields = check_kind("fields", fields, Fields, "Fields")
        keys = check_listed("groups", groups, str, "a list of public keys")
        self._groups = {key: place for place, key in enumerate(keys)}
        self._longest = None if longest is None else check_whole("longest", longest)
        self._zone = check_zone(fields.timezone)
        self._scale = _UNITS[fields.time_unit]
        self._reading = Reading(time_format=fields.time_unit)

    def read(self, messages: Iterable[bytes]) -> Batch:
        """Return the records of JSON messages."""
        records: list[Any] = []
        malformed = 0
        for message in messages:
            try:
                text = message.decode() if len(message) <= LARGEST else "null"
                record, end = _SCAN(text, 0)
                if end != len(text):
                    raise ValueError
            except (ValueError, RecursionError, StopIteration):
                found, failed = _read_carefully(message)
                records += found
                malformed += failed
                continue
            if type(record) is list:
                records += record
            else:
                records.append(record)
        return self._batch(records, malformed)

    def read_csv(self, lines: Iterable[bytes], header: Sequence[str]) -> Batch:
        """Return the records of CSV lines, whose columns have the names of ``header``."""
        records: list[Any] = []
        malformed = 0
        for line in lines:
            try:
                text = line.decode()
                cells = next(csv.reader([text], strict=True)) if '"' in text else text.split(",")
                if len(line) > LARGEST or len(cells) != len(header):
                    raise ValueError
                records.append(dict(zip(header, cells, strict=True)))
            except (ValueError, csv.Error, StopIteration):
                malformed += 1
        return self._batch(records, malformed)

    def _batch(self, records: list[Any], malformed: int) -> Batch:
        try:
            columns = self._columns(records)
        except (KeyError, TypeError, ValueError, OverflowError, IndexError):
            kept = [one for one in records if self._readable(one)]
            malformed += len(records) - len(kept)
            columns = self._columns(kept)
        times, users, values, groups, ids = columns
        codes: dict[str, int] = {}
        people = np.zeros(len(times), np.int64)
        if users is not None:
            people = np.fromiter((codes.setdefault(name, len(codes)) for name in users), np.int64, len(times))
        places, keys = self._places(groups, len(times))
        return Batch(times, people, list(codes), places, values, ids, malformed, keys)

    def _places(self, groups: list[str] | None, count: int) -> tuple[NDArray[np.int64], list[str]]:
        """Return each record's place among the declared keys or, where none are, among those returned."""
        if groups is None:
            return np.zeros(count, np.int64), []
        if self._longest is None:
            return np.fromiter((self._groups.get(key, -1) for key in groups), np.int64, count), []
        keys = [key for key in dict.fromkeys(groups) if len(key.encode()) <= self._longest]
        numbers = {key: place for place, key in enumerate(keys)}
        return np.fromiter((numbers.get(key, -1) for key in groups), np.int64, count), keys

    def _columns(self, records: list[Any]) -> tuple[Any, ...]:
        """Return all fields of all records, or raise if any record has one that cannot be read."""
        fields = self._fields
        if not {type(record) for record in records} <= {dict}:
            raise TypeError
        users, groups, ids = (
            None if field is None else _names([record[field] for record in records])
            for field in (fields.user, fields.group, fields.id)
        )
        values = None if fields.value is None else self._numbers([record[fields.value] for record in records])
        return self._times([record[fields.time] for record in records]), users, values, groups, ids

    def _times(self, given: list[Any]) -> NDArray[np.int64]:
        """Return times in microseconds of UTC."""
        if set(map(type, given)) <= _NUMBERS:
            with np.errstate(over="ignore", invalid="ignore"):
                scaled = np.array(given, dtype=np.float64) * self._scale
            if np.all(np.abs(scaled) < _EXACT):
                return np.floor(scaled).astype(np.int64)
        return np.array([self._time(one) for one in given], dtype=np.int64)

    def _time(self, given: Any) -> int:
        moment = read_time(given, self._reading)
        if moment is None:
            raise ValueError
        if moment.absolute:
            return moment.microseconds
        return instant_of(moment_at(moment.microseconds).replace(tzinfo=None), self._zone)

    def _numbers(self, given: list[Any]) -> NDArray[np.float64]:
        """Return finite numbers."""
        if set(map(type, given)) <= _NUMBERS:
            numbers = np.array(given, dtype=np.float64)
            if np.all(np.isfinite(numbers)):
                return numbers
        return np.array([_needed(read_number(one, self._reading)) for one in given], dtype=np.float64)

    def _readable(self, record: Any) -> bool:
        try:
            self._columns([record])
        except (KeyError, TypeError, ValueError, OverflowError, IndexError):
            return False
        return True


def _read_carefully(message: bytes) -> tuple[list[Any], int]:
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


def _names(given: list[Any]) -> list[str]:
    """Return names, all of them or none."""
    return [_needed(read_name(one)) for one in given]


def _needed(cell: Cell | None) -> Cell:
    if cell is None:
        raise ValueError
    return cell
