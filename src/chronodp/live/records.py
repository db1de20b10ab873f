"""Messages in, arrays out: each record is read by itself, and one that cannot be read is left out.

Cells are read by the rule of `chronodp.engines.reading`, as those of tables are. What a record says never depends on
which others came with it: cells are converted many at once only where that gives what reading one by one would give.

"Messages with several records" in ``docs/explanation/proofs/live.md``; cells by the rule of
``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.reading import Reading, read_name, read_number, read_time
from chronodp.errors import InvalidArgument
from chronodp.live.decoding import LARGEST, Decoder
from chronodp.live.people import Remembered
from chronodp.privacy import check_kind, check_listed, check_whole, check_word, check_zone, instant_of, moment_at

__all__ = ["LARGEST", "Batch", "Fields", "Reader"]

_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}
_EXACT = 2.0**53  # microseconds up to which a product of floats is what whole numbers would give
_NUMBERS = frozenset((int, float))
_TEXTS = frozenset((str,))
_LARGEST = 2.0**1023  # whole numbers up to here have a float

Readable = NDArray[np.bool_]


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
        names: the people of this batch; some may stand there more than once.
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
        wanted = (fields.time, fields.user, fields.value, fields.group, fields.id)
        self._decoder = Decoder(name for name in wanted if name is not None)
        self._names: Remembered[str | None] = Remembered(read_name)

    def read(self, messages: Iterable[bytes]) -> Batch:
        """Return the records of JSON messages."""
        return self._batch(*self._decoder.decode(messages))

    def read_csv(self, lines: Iterable[bytes], header: Sequence[str]) -> Batch:
        """Return the records of CSV lines, whose columns have the names of ``header``."""
        rows: list[Any] = []
        malformed = 0
        for line in lines:
            try:
                text = line.decode()
                cells = next(csv.reader([text], strict=True)) if '"' in text else text.split(",")
                if len(line) > LARGEST or len(cells) != len(header):
                    raise ValueError
                rows.append(dict(zip(header, cells, strict=True)))
            except (ValueError, csv.Error, StopIteration):
                malformed += 1
        records = self._decoder.take(rows)
        return self._batch(records, malformed + len(rows) - len(records))

    def _batch(self, records: list[Any], malformed: int) -> Batch:
        fields = self._fields
        readable = np.ones(len(records), np.bool_)
        times = self._times(self._decoder.column(records, fields.time), readable)
        values = None
        if fields.value is not None:
            values = self._numbers(self._decoder.column(records, fields.value), readable)
        users, groups, ids = (
            None if name is None else self._texts(self._decoder.column(records, name), again, readable)
            for name, again in ((fields.user, True), (fields.group, True), (fields.id, False))
        )
        if not readable.all():
            malformed += int(np.count_nonzero(~readable))
            times, values = times[readable], None if values is None else values[readable]
            kept = readable.tolist()
            users, groups, ids = (None if one is None else list(compress(one, kept)) for one in (users, groups, ids))
        people = np.zeros(len(times), np.int64) if users is None else np.arange(len(times))
        places, keys = self._places(groups, len(times))
        return Batch(times, people, users or [], places, values, ids, malformed, keys)

    def _places(self, groups: list[str] | None, count: int) -> tuple[NDArray[np.int64], list[str]]:
        """Return each record's place among the declared keys or, where none are, among those returned."""
        if groups is None:
            return np.zeros(count, np.int64), []
        if self._longest is None:
            return np.fromiter((self._groups.get(key, -1) for key in groups), np.int64, count), []
        keys = [key for key in dict.fromkeys(groups) if len(key.encode()) <= self._longest]
        numbers = {key: place for place, key in enumerate(keys)}
        return np.fromiter((numbers.get(key, -1) for key in groups), np.int64, count), keys

    def _times(self, given: list[Any], readable: Readable) -> NDArray[np.int64]:
        """Return times in microseconds of UTC, and mark those that are none."""
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = _floats(given) * self._scale
            exact = np.abs(scaled) < _EXACT  # beyond, and where there is no number, cells are read one by one
        times = np.floor(np.where(exact, scaled, 0.0)).astype(np.int64)
        for at in np.flatnonzero(~exact).tolist():
            found = self._time(given[at])
            readable[at] &= found is not None
            times[at] = found or 0
        return times

    def _time(self, given: Any) -> int | None:
        try:
            moment = read_time(given, self._reading)
            if moment is None:
                return None
            if moment.absolute:
                return moment.microseconds
            return instant_of(moment_at(moment.microseconds).replace(tzinfo=None), self._zone)
        except (TypeError, ValueError, OverflowError):  # no clock shows it
            return None

    def _numbers(self, given: list[Any], readable: Readable) -> NDArray[np.float64]:
        """Return finite numbers, and mark what is none."""
        numbers = _floats(given)
        for at in np.flatnonzero(~np.isfinite(numbers)).tolist():
            found = read_number(given[at], self._reading)
            readable[at] &= found is not None
            numbers[at] = found or 0.0
        return numbers

    def _texts(self, given: list[Any], come_again: bool, readable: Readable) -> list[str]:
        """Return names, and mark what is none; texts that come again and again are remembered."""
        read: Callable[[Any], str | None] = read_name
        if come_again and set(map(type, given)) <= _TEXTS:
            read = self._names.__getitem__
        names: list[Any] = list(map(read, given))
        if not all(names):  # a name is never empty
            readable &= np.fromiter((name is not None for name in names), np.bool_, len(names))
        return names


def _floats(given: list[Any]) -> NDArray[np.float64]:
    """Return numbers as floats; NaN in place of what is none, or has to be looked at by itself."""
    if not set(map(type, given)) <= _NUMBERS:
        given = [one if type(one) in _NUMBERS else math.nan for one in given]
    try:
        return np.array(given, dtype=np.float64)
    except OverflowError:
        return np.array([one if abs(one) < _LARGEST else math.nan for one in given], dtype=np.float64)
