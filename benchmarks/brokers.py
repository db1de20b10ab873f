"""Brokers that benchmarks talk to, and a sender that keeps a rate."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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
