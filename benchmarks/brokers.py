"""Brokers that benchmarks talk to, a sender that keeps a rate, and loops without privacy or durability."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_TOTALS: Counter[tuple[int, str]] = Counter()  # of a plain loop
_PYTHON_BROKER = """
import asyncio, sys
from amqtt.broker import Broker
settings = {
    "listeners": {"default": {"type": "tcp", "bind": "127.0.0.1:" + sys.argv[1]}},
    "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
}
async def serve():
    broker = Broker(settings)
    await broker.start()
    await asyncio.Event().wait()
asyncio.run(serve())
"""


def kafka_cluster() -> tuple[Any, str]:
    """Return a producer whose process runs librdkafka's mock cluster, and the cluster's address."""
    from confluent_kafka import Producer

    settings = {"bootstrap.servers": "none", "test.mock.num.brokers": 1, "linger.ms": 5, "log_level": 0}
    producer = Producer(settings | {"queue.buffering.max.messages": 1_000_000})
    brokers = producer.list_topics(timeout=30).brokers.values()
    return producer, ",".join(f"{broker.host}:{broker.port}" for broker in brokers)


@contextlib.contextmanager
def mqtt_broker(folder: Path) -> Iterator[tuple[str, int]]:
    """Run mosquitto, or a broker written in Python where there is none; tell which, and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    found = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    command = [sys.executable, "-c", _PYTHON_BROKER, str(port)]
    if found:
        settings = folder / "mosquitto.conf"
        settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n", encoding="utf-8")
        command = [found, "-c", str(settings)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield "mosquitto" if found else "amqtt", port
    finally:
        process.kill()
        process.wait()


def send_at(rate: float, seconds: float, send: Callable[[int, int], None]) -> None:
    """Call ``send`` with the first number and the count of what is due, so that so many a second are sent."""
    start, sent = time.monotonic(), 0
    while (past := time.monotonic() - start) < seconds:
        due = int(past * rate)
        if due > sent:
            send(sent, due - sent)
            sent = due
        time.sleep(0.01)


def consume(servers: str, backlog: int, take: Callable[[list[Any]], object]) -> tuple[float, float]:
    """Read so many messages; return seconds from the first to the last, and seconds of processor."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "plain", "auto.offset.reset": "earliest", "log_level": 0}
    )
    consumer.assign([TopicPartition("readings", partition, 0) for partition in range(4)])
    seen, start, busy = 0, 0.0, time.process_time()
    while seen < backlog:
        messages = consumer.consume(20_000, 0.05)
        start = start or (time.monotonic() if messages else 0.0)
        take(messages)
        seen += len(messages)
    found = time.monotonic() - start, time.process_time() - busy
    consumer.close()
    return found


def drop(messages: list[Any]) -> None:
    """Take messages and do nothing."""
    for message in messages:
        message.value()


def add_up(messages: list[Any]) -> None:
    """Decode records and add them up by second and person, in memory."""
    for message in messages:
        record = json.loads(message.value() or b"")
        _TOTALS[int(record["at"]), record["who"]] += record["kwh"]
