"""Reading records: each by itself, whatever comes with it."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, strategies as st

from chronodp.errors import InvalidArgument
from chronodp.live.records import LARGEST, Batch, Fields, Reader
from tests.cases import raising

FIELDS = Fields("at", user="who", value="kwh", group="place", id="id")
GOOD = {"at": 1.5, "who": "ann", "kwh": 2, "place": "a", "id": 1}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(GOOD)), inner, max_size=5),
    max_leaves=6,
)
RECORDS = st.fixed_dictionaries({}, optional={name: JSON | st.just(value) for name, value in GOOD.items()}) | st.just(
    GOOD
)
TIMES = st.sampled_from(["2026-01-01T00:00:00Z", "2026-01-01", "0001-01-01T00:00:00+14:00", "24:00", "", "1e400"])
MESSAGES = st.one_of(
    RECORDS.map(lambda record: json.dumps(record).encode()),
    TIMES.map(lambda time: json.dumps({**GOOD, "at": time}).encode()),
    st.lists(RECORDS, max_size=3).map(lambda records: json.dumps(records).encode()),
    st.lists(RECORDS, max_size=3).map(lambda records: "\n".join(map(json.dumps, records)).encode()),
    st.binary(max_size=8),
    st.sampled_from(
        [b'{"at": 1, ', b'"who": "x"}', b"[1,", b"]", b'{"at": [1', b"2]}, {}", b"9" * 5000, b"[" * 10_000]
    ),
)


def rows(batch: Batch) -> list[tuple[object, ...]]:
    assert batch.values is not None
    assert batch.ids is not None
    names = [batch.names[person] for person in batch.people]
    return list(zip(batch.times.tolist(), names, batch.values.tolist(), batch.places.tolist(), batch.ids, strict=True))


@given(st.lists(MESSAGES, max_size=8))
def test_what_a_message_says_does_not_depend_on_its_company(messages: list[bytes]) -> None:
    reader = Reader(FIELDS, groups=("a", "b"))
    together = reader.read(messages)
    singly = [reader.read([message]) for message in messages]
    assert rows(together) == [row for batch in singly for row in rows(batch)]
    assert together.malformed == sum(batch.malformed for batch in singly)


@given(st.lists(RECORDS, max_size=6))
def test_a_record_of_a_batched_payload_is_read_as_if_alone(records: list[object]) -> None:
    reader = Reader(FIELDS, groups=("a", "b"))
    singly = reader.read([json.dumps(record).encode() for record in records])
    batched = reader.read([json.dumps(records).encode()])
    lines = reader.read(["\n".join(map(json.dumps, records)).encode()]) if records else batched
    assert rows(singly) == rows(batched) == rows(lines)
    assert singly.malformed == batched.malformed


def test_a_number_too_long_to_read_takes_only_its_own_record() -> None:
    text = f'[{json.dumps(GOOD)}, {json.dumps({**GOOD, "kwh": 0})[:-1]}, "more": {"9" * 5000}}}, {json.dumps(GOOD)}]'
    batch = Reader(FIELDS, groups=("a",)).read([text.encode()])
    assert (len(batch), batch.malformed) == (3, 0)
    bad = text.replace('"more"', '"kwh"')
    assert len(Reader(FIELDS, groups=("a",)).read([bad.encode()])) == 2


def test_messages_that_are_too_long_are_not_read() -> None:
    long = json.dumps({**GOOD, "more": "x" * LARGEST}).encode()
    batch = Reader(FIELDS, groups=("a",)).read([long, json.dumps(GOOD).encode()])
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


def test_groups_off_the_list_have_no_place() -> None:
    batch = Reader(FIELDS, groups=("a", "7")).read(
        [json.dumps({**GOOD, "place": key}).encode() for key in ("a", 7, "c")]
    )
    assert np.array_equal(batch.places, [0, 1, -1])


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
