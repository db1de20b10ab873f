"""Live streams: events a second from Kafka and messages a second from MQTT, brokers and senders on the same cores.

`--short` tries everything on a tenth of the time.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.brokers import add_up, consume, drop, kafka_cluster, mqtt_broker, send_at
from benchmarks.harness import Topic, alone, show
from chronodp import EachPeriod, Ledger, User
from chronodp.live import (
    Fields,
    Limits,
    Live,
    Reader,
    ScaledClock,
    State,
    SystemClock,
    Windows,
    open_streams,
    stream_design,
)
from chronodp.live.sinks import CsvSink
from chronodp.live.sources import KafkaSource, MqttSource, Source

START = "2026-01-01"
PEOPLE = 20_000
RATE = 30_000  # events a second
BACKLOG = 200_000
BATCH = 30  # records of one MQTT message
_QUIET = 2.0  # seconds without a record after which a run is over
_TURNS = ("consumed and dropped", "the same, a plain loop that keeps nothing", "a backlog, as fast as it goes")
SECONDS = 6.0 if "--short" in sys.argv[1:] else 60.0
ROUNDS = 1 if "--short" in sys.argv[1:] else 3


@dataclass(frozen=True)
class Wanted:
    """What one run is to do: a source's address, how fast the clock goes, how long it takes."""

    address: str
    speed: float
    begun: int
    seconds: float


@dataclass(frozen=True)
class Found:
    """What one run did.

    Attributes:
        counted: records that count.
        late: records left out as late.
        seconds: from the first of them to the last.
        delay: seconds to release from closing, or from the start if that was later, of the slowest window.
        first: the same of the first window.
        windows: released.
        busy: seconds of processor that the process took.
        memory: that it held after each quarter, in MiB.
    """

    counted: int
    late: int
    seconds: float
    delay: float
    first: float
    windows: int
    busy: float
    memory: tuple[float, ...]

    @property
    def rate(self) -> float:
        """Events a second."""
        return self.counted / self.seconds

    @property
    def cost(self) -> float:
        """Microseconds of one core an event."""
        return self.busy / self.counted * 1e6


def limits_of() -> Limits:
    grid = Windows("1s", START, lateness="1s", skew="10s")
    return Limits(User(), grid, clip=(0.0, 5.0), max_periods=100)


def measure() -> Topic:
    topic = Topic(
        "Live: Kafka (librdkafka's mock cluster), one-second windows, sender, brokers and stream on the same cores",
        "python -m benchmarks.live",
        (
            "what",
            "events a second",
            "µs of one core an event",
            "late",
            "slowest release, s after closing",
            "memory, MiB",
        ),
    )
    turns = [(_consumed(drop), _consumed(add_up), _drained()) for _ in range(ROUNDS)]
    for what, runs in zip(_TURNS, zip(*turns, strict=True), strict=True):
        rate, cost = (statistics.median(getattr(run, figure) for run in runs) for figure in ("rate", "cost"))
        topic.rows.append((what, rate, cost, sum(run.late for run in runs), "", ""))
    real = _sustained(speed=1.0, seconds=SECONDS / 2)
    topic.rows.append((f"sent at {RATE:,} a second", *_figures(real)))
    fast = _sustained(speed=10.0, seconds=SECONDS)
    topic.rows.append(
        (f"the same, {fast.windows / 60:.1f} minutes of event time at ten times the speed", *_figures(fast))
    )
    rates = [ours.rate / plain.rate for _, plain, ours in turns]
    costs = [plain.cost / ours.cost for _, plain, ours in turns]
    topic.notes = [
        f"ratio of a backlog to the plain loop, medians of {ROUNDS} turns: {statistics.median(rates):.2f} in events a "
        f"second, {statistics.median(costs):.2f} in events for the same processor time; the loop decodes and adds up "
        "by window and person in memory",
        f"the first window of a stream was released {real.first:.2f} s after closing: what releases need is imported "
        "when the stream is opened",
        "memory is that of the stream's process after each quarter of the run; counts and releases are on disk",
    ]
    return topic


def measure_mqtt() -> Topic:
    topic = Topic(
        f"Live: MQTT at quality of service 1, {BATCH} records a message",
        "python -m benchmarks.live --mqtt",
        ("broker", "messages a second", "records a second", "late", "messages lost or doubled", "memory, MiB"),
    )
    with tempfile.TemporaryDirectory() as folder, mqtt_broker(Path(folder)) as (broker, port):
        wanted = Wanted(f"{port}", 1.0, SystemClock().now(), SECONDS / 3)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(alone, run_live, wanted)
            sent = _publish(port, wanted)
            found = running.result()
    memory = " ".join(f"{size:.0f}" for size in found.memory)
    unlike = (found.counted + found.late) / BATCH - sent
    topic.rows.append((broker, found.rate / BATCH, found.rate, found.late, unlike, memory))
    return topic


def run_live(wanted: Wanted) -> Found:
    """Run one stream in this process, which is otherwise fresh."""
    limits = limits_of()
    clock = ScaledClock(limits.windows.begins(0), wanted.speed, wanted.begun)
    memory, delays, ready = [], [0.0], 0
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("meters", unit=User(), epsilon=10.0, delta=1e-6)
        state = State(Path(folder) / "live.db", keys=ledger.keys, name="live")
        design = stream_design(limits, workload=EachPeriod(), epsilon=1.0, delta=1e-6)
        streams = open_streams({"live": design}, ledger=ledger, dataset="meters")

        def tell(rows: list[dict[str, Any]]) -> None:
            due = max(limits.windows.closes(rows[0]["window"]), ready)
            delays.append((clock.now() - due) / wanted.speed / 1e6)

        live = Live(
            limits,
            source=_source(wanted),
            streams=streams,
            state=state,
            key=ledger.keys.derive("live"),
            ledger=ledger,
            dataset="meters",
            sinks=[CsvSink(Path(folder) / "out.csv")],
            clock=clock,
            tell=tell,
        )
        seen, newest, first = 0, time.monotonic() + 20.0, 0.0
        quarters = [wanted.seconds * part / 4 for part in (1, 2, 3)]

        def stop() -> bool:
            """Stop when nothing has come for a while."""
            nonlocal seen, newest, first
            now = time.monotonic()
            if live.progress.owner.counted > seen:
                seen, newest, first = live.progress.owner.counted, now, first or now
            if quarters and first and now - first >= quarters[0]:
                quarters.pop(0)
                memory.append(resident())
            return now - newest > _QUIET

        busy, ready = time.process_time(), clock.now()
        live.run(stop=stop)
        busy = time.process_time() - busy
        state.close()
    figures = live.progress.owner
    return Found(
        figures.counted,
        figures.late,
        newest - first,
        max(delays),
        (delays[1:] or delays)[0],
        live.progress.closed,
        busy,
        (*memory, resident()),
    )


def _drained() -> Found:
    producer, servers = kafka_cluster()
    begun = SystemClock().now()
    _send(producer, begun, 1.0, BACKLOG, lambda number: number / BACKLOG)
    return alone(run_live, Wanted(servers, 1.0, begun, 0.0))


def _sustained(*, speed: float, seconds: float) -> Found:
    producer, servers = kafka_cluster()
    _send(producer, SystemClock().now(), 1.0, 1, lambda _: -1.0)  # makes the topic
    with ThreadPoolExecutor(1) as pool:
        begun = SystemClock().now() + 4_000_000  # the process has to start first
        running = pool.submit(alone, run_live, Wanted(servers, speed, begun, seconds))
        time.sleep(4.0)
        send_at(RATE, seconds, lambda _, count: _send(producer, begun, speed, count, None))
        producer.flush(10)
        return running.result()


def _send(producer: Any, begun: int, speed: float, count: int, offset: Callable[[int], float] | None) -> None:
    """Send events dated now by the clock of the run, or at an offset in seconds after its start."""
    start = limits_of().windows.begins(0) / 1e6
    now = (SystemClock().now() - begun) / 1e6 * speed
    for number in range(count):
        when = start + (now if offset is None else offset(number))
        value = b'{"at":%.6f,"who":"meter-%d","kwh":%.3f}' % (when, (number * 7919) % PEOPLE, number % 50 / 10)
        producer.produce("readings", value, partition=number % 4)
    producer.poll(0)


def _consumed(take: Callable[[list[Any]], object]) -> Found:
    """Return what a loop does that one would write without privacy or durability."""
    producer, servers = kafka_cluster()
    _send(producer, SystemClock().now(), 1.0, BACKLOG, lambda number: number / BACKLOG)
    producer.flush(10)
    seconds, busy = alone(consume, servers, BACKLOG, take)
    return Found(BACKLOG, 0, seconds, 0.0, 0.0, 0, busy, ())


def _publish(port: int, wanted: Wanted) -> int:
    from paho.mqtt.client import Client
    from paho.mqtt.enums import CallbackAPIVersion

    time.sleep(5.0)  # the stream has to subscribe first
    client = Client(CallbackAPIVersion.VERSION2, client_id="sender")
    client.max_inflight_messages_set(1_000)
    client.connect("127.0.0.1", port)
    client.loop_start()
    start, sent = limits_of().windows.begins(0) / 1e6, 0
    under_way = 2_000
    confirmed = threading.Semaphore(under_way)  # so that a slow broker slows the sender, not its memory
    client.on_publish = lambda *_: confirmed.release()

    def send(_first: int, count: int) -> None:
        nonlocal sent
        now = (SystemClock().now() - wanted.begun) / 1e6
        for number in range(count):
            records = [{"at": start + now, "who": f"meter-{number * BATCH + at}", "kwh": 0.5} for at in range(BATCH)]
            confirmed.acquire()
            client.publish("readings", json.dumps(records), qos=1)
            sent += 1

    send_at(1_000, wanted.seconds, send)
    for _ in range(under_way):  # what was not confirmed when the sender leaves would never reach the broker
        confirmed.acquire()
    client.disconnect()
    client.loop_stop()
    return sent


def _source(wanted: Wanted) -> Source:
    reader = Reader(Fields("at", user="who", value="kwh"))
    if wanted.address.isdigit():
        return MqttSource("readings", host="127.0.0.1", port=int(wanted.address), client="bench", reader=reader)
    return KafkaSource("readings", servers=wanted.address, reader=reader, group="bench")


def _figures(found: Found) -> tuple[Any, ...]:
    memory = " ".join(f"{size:.0f}" for size in found.memory)
    return found.rate, found.cost, found.late, found.delay, memory


def resident() -> float:
    """Return what this process holds now, in MiB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    show(measure_mqtt if "--mqtt" in sys.argv[1:] else measure)
