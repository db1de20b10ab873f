"""Kafka and MQTT with real brokers: positions, marks, outages, batches, acknowledgements."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chronodp import Event, User
from chronodp.live import Limits, Reader, Windows
from chronodp.live.sinks import KafkaSink, MqttSink
from chronodp.live.sources import KafkaSource, MqttSource, Source
from tests.live.brokers import free_port, kafka_cluster, mqtt_broker
from tests.live.examples import Bench, at, fields_of

pytestmark = pytest.mark.kill

GRID = Windows("1s", "2026-01-01", lateness="1s", skew="10s", count=1000)
COUNTS = Limits(Event(), GRID, at_most=1000)
ONCE = Limits(User(), GRID, at_most=100, max_periods=2, ids=True)

CLUSTER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from tests.live.brokers import kafka_cluster
producer, servers = kafka_cluster()
for record in sys.argv[2:]:
    producer.produce("visits", record, partition=0)
producer.flush(10)
print(servers, flush=True)
time.sleep(600)
"""


def visit(window: int = 0, number: int = 0) -> dict[str, Any]:
    return {"at": at(COUNTS, window), "who": "ann", "id": number}


def kafka(servers: str) -> KafkaSource:
    return KafkaSource("visits", servers=servers, reader=Reader(fields_of(COUNTS)), group="test")


def mqtt(port: int, limits: Limits = COUNTS) -> MqttSource:
    return MqttSource("visits/+", host="127.0.0.1", port=port, client="test", reader=Reader(fields_of(limits)))


def read(source: Source, count: int, seconds: float = 20.0) -> int:
    """Read until so many records came, or in vain; return how many did."""
    found, end = 0, time.monotonic() + seconds
    while time.monotonic() < end and found < count:
        found += len(source.read(1000, wait=0.1))
    return found + len(source.read(1000, wait=0.2))


def read_to_mark(source: Source) -> int:
    found = 0
    while not source.at_mark:
        found += len(source.read(30, wait=0.1))
    return found


def spread(producer: Any, count: int) -> None:
    """Send records to four partitions in turn."""
    for number in range(count):
        producer.produce("visits", json.dumps(visit()), partition=number % 4)
    producer.flush(10)


@contextlib.contextmanager
def publisher(port: int) -> Iterator[Any]:
    from paho.mqtt.client import Client
    from paho.mqtt.enums import CallbackAPIVersion

    client = Client(CallbackAPIVersion.VERSION2, client_id="sender")
    client.connect("127.0.0.1", port)
    client.loop_start()
    yield client
    client.disconnect()
    client.loop_stop()


def publish(client: Any, *payloads: bytes) -> None:
    for sent in [client.publish("visits/door", payload, qos=1) for payload in payloads]:
        sent.wait_for_publish(20)


def test_kafka_goes_on_from_the_positions_it_is_given() -> None:
    producer, servers = kafka_cluster()
    spread(producer, 40)
    source = kafka(servers)
    source.begin("")
    assert read(source, 40) == 40
    positions = source.positions
    spread(producer, 8)
    assert read(source, 8) == 8
    source.confirm()
    source.close()
    source = kafka(servers)  # committed offsets are for those who watch: positions decide
    source.begin(positions)
    assert read(source, 8) == 8
    source.close()


def test_kafka_stops_at_the_mark_in_every_partition() -> None:
    producer, servers = kafka_cluster()
    source = kafka(servers)
    spread(producer, 100)
    source.begin("")
    assert source.mark()
    spread(producer, 50)
    assert not source.at_mark
    assert read_to_mark(source) == 100
    assert len(source.read(30, wait=0.1)) == 0
    source.unmark()
    assert read(source, 50) == 50
    assert source.waiting is not None
    source.close()


def test_kafka_messages_that_were_deleted_before_they_were_read_are_a_gap() -> None:
    """The cluster keeps the last five megabytes of a partition."""
    producer, servers = kafka_cluster()

    def send(count: int, size: int = 0) -> None:
        for _ in range(count):
            producer.produce("visits", json.dumps(visit() | {"more": "x" * size}), partition=0)
        producer.flush(30)

    send(3)
    source = kafka(servers)
    source.begin("")
    assert read(source, 3) == 3
    assert source.mark()
    assert not source.take_gaps()  # where a topic begins is where it begins
    positions = source.positions
    source.close()
    send(20, 500_000)
    source = kafka(servers)
    source.begin(positions)
    assert source.take_gaps() == ["messages of partition 0 were deleted before they were read"]
    assert source.mark()
    assert 0 < read_to_mark(source) < 20
    assert not source.take_gaps()
    source.close()


@pytest.mark.parametrize("running", [False, True])
def test_a_kafka_topic_that_was_made_anew_is_read_from_its_start(running: bool) -> None:
    producer, servers = kafka_cluster()
    spread(producer, 8)
    source = kafka(servers)
    source.begin("" if running else json.dumps(dict.fromkeys("0123", 1000)))
    if running:
        assert read(source, 8) == 8
        source._offsets = dict.fromkeys(range(4), 1000)  # as if what was read had been another topic of this name
    assert source.mark()
    assert read_to_mark(source) == 8
    assert sorted(source.take_gaps()) == [
        f"partition {number} is shorter than what was read of it: was the topic made anew?" for number in range(4)
    ]
    source.close()


def test_kafka_that_cannot_be_reached_is_told_once_and_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start, and again in the middle."""
    monkeypatch.setattr("chronodp.live.sources.kafka._PATIENCE", 1.0)
    command = [sys.executable, "-c", CLUSTER, str(Path(__file__).parents[2]), *(json.dumps(visit(at)) for at in (0, 1))]
    cluster = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert cluster.stdout is not None
        servers = cluster.stdout.readline().strip()
        bench = Bench(tmp_path, COUNTS)
        bench.said = Waking(cluster)
        live, state, ledger = bench.start(source=kafka(servers))
        silences, give_up = 0, time.monotonic() + 60

        def go_on() -> bool:
            """Silence the brokers when a window was released, and only then let the clock close the next."""
            nonlocal silences
            assert time.monotonic() < give_up, bench.said
            if silences == live.progress.next_window < 2:
                cluster.send_signal(signal.SIGSTOP)
                silences += 1
                bench.clock.moment = GRID.closes(live.progress.next_window)
            return live.progress.next_window >= 2

        go_on()
        live.run(stop=go_on)
        state.close()
        ledger.close_connection()
    finally:
        cluster.kill()
        cluster.communicate()
    assert bench.said == 2 * ["the brokers cannot be reached; trying again", "source: the source is there again"]
    assert bench.totals() == [1.0, 1.0]  # the windows waited for what the topic held


class Waking(list[str]):
    """What was said; brokers that are said to be away are woken after a while in which that could be said again."""

    def __init__(self, cluster: subprocess.Popen[str]) -> None:
        super().__init__()
        self.cluster = cluster

    def append(self, said: str) -> None:
        super().append(said)
        if "cannot be reached" in said:
            threading.Timer(1.0, lambda: self.cluster.send_signal(signal.SIGCONT)).start()


def test_mqtt_batches_marks_and_poison(tmp_path: Path) -> None:
    port = free_port()
    with mqtt_broker(tmp_path, port), publisher(port) as client:
        source = mqtt(port)
        source.begin("")
        wait_until(lambda: not source.trouble)
        lines = "\n".join(json.dumps(visit()) for _ in range(7)).encode()
        publish(
            client,
            json.dumps([visit() for _ in range(5)]).encode(),
            lines,
            b"",
            b"\xff",
            b"[1,",
            json.dumps(visit()).encode(),
        )
        wait_until(lambda: source.waiting == 6)
        assert source.mark()
        publish(client, json.dumps(visit()).encode())
        batch = source.read(100, wait=1.0)
        assert (len(batch), batch.malformed, source.at_mark) == (13, 3, True)
        assert len(source.read(100, wait=0.1)) == 0
        source.unmark()
        assert read(source, 1) == 1
        source.confirm()
        source.close()


class Stretch:
    """One run of a live stream on MQTT after another, with the same state."""

    def __init__(self, folder: Path, port: int) -> None:
        self.bench, self.port = Bench(folder, ONCE), port

    def run(self, stop: Callable[[Any], bool], *, send: Callable[[], None] = lambda: None, die: bool = False) -> None:
        """Run until told to stop; send once connected; die once counts are on disk and not acknowledged."""
        sent = threading.Event()

        def reached(point: str) -> None:
            if die and point == "state committed":
                raise KeyboardInterrupt

        live, state, ledger = self.bench.start(source=mqtt(self.port, ONCE), reached=reached)

        def told() -> bool:
            if live.progress.reachable and not sent.is_set():
                sent.set()
                send()
            return sent.is_set() and stop(live)

        try:
            live.run(stop=told)
        finally:
            state.close()
            ledger.close_connection()


def test_mqtt_records_that_come_again_count_once_by_their_id(tmp_path: Path) -> None:
    port = free_port()
    with mqtt_broker(tmp_path, port), publisher(port) as client:
        stretch = Stretch(tmp_path, port)
        first = [json.dumps(visit(number=number)).encode() for number in range(5)]
        more = [json.dumps([visit(number=number) for number in range(5, 8)]).encode()]
        with pytest.raises(KeyboardInterrupt):
            stretch.run(lambda _: False, send=lambda: publish(client, *first), die=True)
        again = [*first, *more, *first]
        stretch.run(lambda live: live.progress.owner.counted >= 13, send=lambda: publish(client, *again))
        stretch.bench.clock.moment = GRID.closes(0)
        stretch.run(lambda live: live.progress.closed >= 1)
    assert stretch.bench.totals() == [8.0]


def test_mqtt_keeps_what_came_while_nobody_listened(tmp_path: Path) -> None:
    port = free_port()
    with mqtt_broker(tmp_path, port) as broker, publisher(port) as client:
        if broker != "mosquitto":
            pytest.skip("mosquitto is not installed; the broker written in Python keeps no messages for a session")
        stretch = Stretch(tmp_path, port)
        stretch.run(lambda _: True)
        publish(client, *[json.dumps(visit(number=number)).encode() for number in range(5)])
        with pytest.raises(KeyboardInterrupt):  # counted, and on disk, but not acknowledged
            stretch.run(lambda _: False, die=True)
        stretch.run(lambda live: live.progress.owner.counted >= 5)
        stretch.bench.clock.moment = GRID.closes(0)
        stretch.run(lambda live: live.progress.closed >= 1)
    assert stretch.bench.totals() == [5.0]


def test_mqtt_comes_back_after_the_broker_was_away(tmp_path: Path) -> None:
    port = free_port()
    source = mqtt(port)
    source._client.reconnect_delay_set(0.1, 0.1)  # type: ignore[arg-type]  # parts of a second will do
    source.begin("")
    assert "cannot be reached" in source.trouble
    for _ in range(2):
        with mqtt_broker(tmp_path, port), publisher(port) as client:
            wait_until(lambda: not source.trouble, 40.0)
            publish(client, json.dumps(visit()).encode())
            assert read(source, 1) == 1
            source.confirm()
        wait_until(lambda: bool(source.trouble))
    source.close()


def test_an_mqtt_broker_that_lost_the_session_is_a_gap(tmp_path: Path) -> None:
    port = free_port()
    with mqtt_broker(tmp_path, port):
        source = mqtt(port)
        source.begin("")
        wait_until(lambda: not source.trouble)
        assert not source.take_gaps()
        positions = source.positions
        source.close()
    with mqtt_broker(tmp_path, port):  # another one, which knows of nobody
        source = mqtt(port)
        source.begin(positions)
        wait_until(lambda: not source.trouble)
        assert source.take_gaps() == ["the broker has lost the session: messages may be missing"]
        source.close()


def test_sinks_at_brokers_get_the_same_message_for_the_same_window(tmp_path: Path) -> None:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    port = free_port()
    _producer, servers = kafka_cluster()
    heard: list[bytes] = []
    with mqtt_broker(tmp_path, port), publisher(port) as client:
        client.on_message = lambda _client, _data, message: heard.append(message.payload)
        client.subscribe("out", qos=1)
        bench = Bench(tmp_path, COUNTS)
        bench.path.write_text(json.dumps(visit()) + "\n", encoding="utf-8")
        for end in (2, 4):
            sinks = [KafkaSink("out", servers=servers), MqttSink("out", host="127.0.0.1", port=port, client="sink")]
            bench.run_to(end, sinks=sinks)
        wait_until(lambda: len(heard) >= 4)
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "reader", "log_level": 0})
    partitions = consumer.list_topics("out", timeout=20).topics["out"].partitions
    consumer.assign([TopicPartition("out", partition, OFFSET_BEGINNING) for partition in partitions])
    got: dict[int, bytes] = {}
    give_up = time.monotonic() + 20
    while len(got) < 4 and time.monotonic() < give_up:
        for message in consumer.consume(10, 0.5):
            if message.error() is None:
                got.setdefault(int(message.key() or b""), message.value() or b"")
    consumer.close()
    assert [json.loads(got[window]) for window in range(4)] == bench.rows
    assert {json.loads(text)["window"]: text for text in heard} == got


def test_a_sink_that_is_away_keeps_no_release_waiting(tmp_path: Path) -> None:
    bench = Bench(tmp_path, COUNTS)
    bench.path.touch()
    port = free_port()
    bench.run_to(2, sinks=[MqttSink("out", host="127.0.0.1", port=port, client="sink")])
    assert len(bench.rows) == 2
    assert bench.said == ["mqtt out takes nothing; trying again"]


def wait_until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
