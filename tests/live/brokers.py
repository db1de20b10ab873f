"""Real brokers for tests: librdkafka's own mock cluster, and mosquitto or a broker written in Python."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_AMQTT = """
import asyncio, sys
from amqtt.broker import Broker
config = {
    "listeners": {"default": {"type": "tcp", "bind": "127.0.0.1:" + sys.argv[1]}},
    "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
}
async def main():
    broker = Broker(config)
    await broker.start()
    await asyncio.Event().wait()
asyncio.run(main())
"""


def kafka_cluster(**options: Any) -> tuple[Any, str]:
    """Return a producer whose process runs a cluster, and the cluster's address."""
    from confluent_kafka import Producer

    producer = Producer(
        {"bootstrap.servers": "none", "test.mock.num.brokers": 1, "linger.ms": 5, "log_level": 0} | options
    )
    brokers = producer.list_topics(timeout=30).brokers
    return producer, ",".join(f"{broker.host}:{broker.port}" for broker in brokers.values())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def mqtt_broker(folder: Path, port: int) -> Iterator[str]:
    """Run a broker and tell which one."""
    found = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    if found:
        settings = folder / "mosquitto.conf"
        settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n", encoding="utf-8")
        command = [found, "-c", str(settings)]
    else:
        command = [sys.executable, "-c", _AMQTT, str(port)]
    with (folder / "broker.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            _wait_for(port, process)
            yield "mosquitto" if found else "amqtt"
        finally:
            process.kill()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError("the broker ended")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError("the broker does not answer")
