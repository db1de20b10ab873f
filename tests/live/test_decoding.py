"""What the typed decoder takes says what careful reading says, record by record, for whatever someone might send."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from chronodp.engines.reading import Reading, read_name, read_number, read_time
from chronodp.errors import InvalidArgument
from chronodp.live.decoding import Decoder
from chronodp.live.records import LARGEST, Batch, Fields, Reader
from chronodp.privacy import check_zone, instant_of, moment_at
from tests.cases import raising
from tests.conftest import SCALE, Trials
from tests.live.odd_messages import FIELDS, OddMessages

GROUPS = ("north", "7")
Rows = tuple[list[tuple[Any, ...]], int]


def rows_of(batch: Batch) -> Rows:
    count = len(batch)
    columns = (
        batch.times.tolist(),
        [batch.names[person] for person in batch.people.tolist()] if batch.names else [None] * count,
        [None] * count if batch.values is None else batch.values.tolist(),
        batch.places.tolist(),
        [None] * count if batch.ids is None else batch.ids,
    )
    return list(zip(*columns, strict=True)), batch.malformed


class PlainReader:
    """The same by Python's json and the rule of cells, one cell at a time."""

    def __init__(self, fields: Fields) -> None:
        self.fields, self.reading = fields, Reading(time_format=fields.time_unit)

    def read(self, message: bytes) -> Rows:
        records, malformed = self.records(message)
        rows = [row for row in map(self.row, records) if row is not None]
        return rows, malformed + len(records) - len(rows)

    def records(self, message: bytes) -> tuple[list[Any], int]:
        found = self.decoded(message if len(message) <= LARGEST else b"null")
        if found is not None:
            return found, 0
        lines = [line for line in message.splitlines() if line.strip()]
        read = [self.decoded(line) for line in lines]
        failed = read.count(None)
        records = [record for one in read if one is not None for record in one]
        return records, failed + (not records and not failed)

    @staticmethod
    def decoded(text: bytes) -> list[Any] | None:
        try:
            found = json.loads(
                text.decode(), parse_int=lambda digits: int(digits) if len(digits) <= 4_000 else float("nan")
            )
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, list) else [found]

    def row(self, record: Any) -> tuple[Any, ...] | None:
        fields = self.fields
        wanted = [name for name in (fields.time, fields.user, fields.value, fields.group, fields.id) if name]
        if not isinstance(record, dict) or not all(name in record for name in wanted):
            return None
        time = self.time(record[fields.time])
        value = None if fields.value is None else read_number(record[fields.value], self.reading)
        who, group, name = (one and read_name(record[one]) for one in (fields.user, fields.group, fields.id))
        for field, cell in (
            (fields.time, time),
            (fields.user, who),
            (fields.value, value),
            (fields.group, group),
            (fields.id, name),
        ):
            if field is not None and cell is None:
                return None
        place = 0 if group is None else dict(zip(GROUPS, range(2), strict=True)).get(group, -1)
        return time, who, value, place, name

    def time(self, cell: Any) -> int | None:
        moment = read_time(cell, self.reading)
        if moment is None or moment.absolute:
            return None if moment is None else moment.microseconds
        try:
            return instant_of(moment_at(moment.microseconds).replace(tzinfo=None), check_zone(self.fields.timezone))
        except (ValueError, OverflowError):
            return None


CLOCKS = [("s", "UTC"), ("us", "Europe/Berlin")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "zone", "number"),
    [(*CLOCKS[at], number) for number in range(len(FIELDS)) for at in ((0, 1) if SCALE >= 1 else (number % 2,))],
)
def test_odd_messages_say_the_same_typed_and_with_care(
    unit: str, zone: str, number: int, trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = Fields(**FIELDS[number], time_unit=unit, timezone=zone)
    typed, plain = Reader(fields, groups=GROUPS), PlainReader(fields)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "msgspec", None)
        careful = Reader(fields, groups=GROUPS)
    assert careful._decoder._typed.decode is not typed._decoder._typed.decode or number == 5
    odd = OddMessages(number, tuple(dict.fromkeys(FIELDS[number].values())))
    for _ in range(trials(4_000, least=120)):
        messages = [odd.make() for _ in range(5)]
        singly = [plain.read(message) for message in messages]
        expected = [row for rows, _ in singly for row in rows], sum(malformed for _, malformed in singly)
        assert repr(rows_of(careful.read(messages))) == repr(expected)
        found = rows_of(typed.read(messages))
        assert found == expected, messages  # -0 may have either sign, and adds as much


def test_a_forged_message_swallows_no_other() -> None:
    honest = [b'{"at": %d, "who": "ann", "kwh": 1}' % number for number in range(5)]
    forged = [b'{"x":"', b'"},{}', b'"},{"at":1,"who":"eve","kwh":1', b"[", b"]", b'{"at":1,"who":"', b"\\", b'"']
    reader = Reader(Fields("at", user="who", value="kwh"))
    mixed = [message for pair in zip(forged, honest * 2, strict=False) for message in pair]
    batch = reader.read(mixed)
    assert len(batch) == len(forged)  # as many honest ones as forged
    assert set(batch.names) == {"ann"}
    assert batch.malformed == len(forged)


def test_what_lies_deep_in_other_fields_is_passed_over() -> None:
    for depth in [100, 199, 201, 500]:
        record = b'{"at": 1, "who": "ann", "more": ' + b"[" * depth + b"]" * depth + b"}"
        batch = Reader(Fields("at", user="who")).read([record, b"[" + record + b"]"])
        assert (batch.names, batch.malformed) == (["ann"] * 2, 0), depth


def test_usual_records_are_decoded_by_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(message: bytes) -> Any:
        raise AssertionError(message)

    monkeypatch.setattr("chronodp.live.decoding._decode_carefully", refuse)
    decoder = Decoder(("at", "who", "kwh"))
    usual = [
        b'{"at": 1.5, "who": "ann", "kwh": 2}',
        b'[{"at": "2026-01-01", "who": 7, "kwh": "2"}, {"kwh": null, "who": true, "at": -1e5, "more": {"a": [1]}}]',
        '{"at": 1, "who": "zoë", "kwh": 0}'.encode(),
    ]
    records, malformed = decoder.decode(usual)
    assert (len(records), malformed) == (4, 0)
    assert decoder.column(records, "who") == ["ann", 7, True, "zoë"]


GOOD = {"at": 1.5, "who": "ann", "kwh": 2, "place": "a", "id": 1}


def test_messages_that_are_too_long_are_not_read() -> None:
    long = json.dumps({**GOOD, "more": "x" * LARGEST}).encode()
    batch = Reader(Fields("at", user="who", value="kwh", group="place", id="id"), groups=("a",)).read(
        [long, json.dumps(GOOD).encode()]
    )
    assert (len(batch), batch.malformed) == (1, 1)


def test_times_are_read_in_their_unit_and_zone() -> None:
    cases: list[tuple[str, str, object, int]] = [
        ("s", "UTC", 1.5, 1_500_000),
        ("ms", "UTC", 1500, 1_500_000),
        ("us", "UTC", 1_500_000, 1_500_000),
        ("s", "UTC", "1970-01-01T00:00:01.5Z", 1_500_000),
        ("s", "Europe/Berlin", "1970-01-01T01:00:01.5", 1_500_000),
        ("s", "UTC", "1970-01-01T02:00:01.5+02:00", 1_500_000),
        ("s", "UTC", -5, -5_000_000),
    ]
    for unit, zone, written, expected in cases:
        reader = Reader(Fields("at", time_unit=unit, timezone=zone))
        assert reader.read([json.dumps({"at": written}).encode()]).times.tolist() == [expected], (unit, zone, written)


def test_fields_that_cannot_be_are_refused() -> None:
    cases: list[dict[str, object]] = [
        {"time": ""},
        {"time": 5},
        {"time": "at", "time_unit": "h"},
        {"time": "at", "user": 3},
    ]
    for wrong in cases:
        with raising(InvalidArgument, case=wrong):
            Fields(**wrong)  # type: ignore[arg-type]
