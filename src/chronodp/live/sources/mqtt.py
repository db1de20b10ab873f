"""An MQTT topic, with messages acknowledged once they are counted on disk."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from chronodp.extras import check_extra
from chronodp.live.broker_terms import check_mqtt
from chronodp.live.records import Batch, Reader
from chronodp.privacy import check_kind

__all__ = ["MqttSource"]

_MOST_WAITING = 20_000  # messages taken from the broker before it is made to wait


class MqttSource:
    """Messages of a topic at quality of service 1, in a session that outlives the process.

    A message that was counted but not yet acknowledged when the process died comes again, and is counted again unless
    records carry an id. Whatever comes again changes only what its own person, within the same limits, adds.

    Args:
        topic: a topic or a filter such as 'meters/+/reading'.
        host: of the broker.
        port: of the broker.
        client: the name under which the broker keeps the session.
        reader: of the records.
        username: if the broker asks for one.
        password: if the broker asks for one.
        secure: whether to use TLS, with the system's certificates.
    """

    prompt = True

    def __init__(
        self,
        topic: str,
        *,
        host: str,
        port: int = 1883,
        client: str,
        reader: Reader,
        username: str | None = None,
        password: str | None = None,
        secure: bool = False,
    ) -> None:
        check_extra("live", "paho")
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion

        check_mqtt(
            topic=topic, host=host, port=port, client=client, username=username, password=password, secure=secure
        )
        self._topic, self._reader = topic, check_kind("reader", reader, Reader, "a Reader")
        self._trouble = f"the broker {host}:{port} cannot be reached"
        self._unreachable = self._trouble
        self._queue: deque[tuple[bytes, int]] = deque()
        self._news = threading.Condition()
        self._received = self._taken = 0
        self._mark: int | None = None
        self._to_confirm: list[int] = []
        self._session = ""
        self._gaps: list[str] = []
        self._client = Client(CallbackAPIVersion.VERSION2, client_id=client, clean_session=False, manual_ack=True)
        self._client.on_connect, self._client.on_disconnect = self._connected, self._disconnected
        self._client.on_message, self._client.on_subscribe = self._arrived, self._subscribed
        self._client.reconnect_delay_set(1, 30)
        if username is not None:
            self._client.username_pw_set(username, password)
        if secure:
            self._client.tls_set()
        self._address = (host, port)

    @property
    def trouble(self) -> str:
        """Why nothing comes."""
        return self._trouble

    @property
    def waiting(self) -> int | None:
        """How many messages have come and are not read."""
        return len(self._queue)

    @property
    def positions(self) -> str:
        """Whether the broker has made a session."""
        return self._session

    def begin(self, positions: str, *, key: bytes = b"") -> None:  # noqa: ARG002 (nothing is stored of messages)
        """Connect, now or when the broker is there."""
        self._session = positions
        self._client.connect_async(*self._address)
        self._client.loop_start()

    def read(self, most: int, *, wait: float) -> Batch:
        """Return the records of the next messages, none beyond the mark."""
        with self._news:
            if not self._queue and self._mark is None:
                self._news.wait(wait)
            count = min(most, len(self._queue))
            if self._mark is not None:
                count = min(count, self._mark - self._taken)
            taken = [self._queue.popleft() for _ in range(count)]
            self._taken += count
        self._to_confirm += [number for _, number in taken if number]
        return self._reader.read(payload for payload, _ in taken)

    def mark(self) -> bool:
        """Fix how many messages have come."""
        self._mark = self._received
        return True

    @property
    def at_mark(self) -> bool:
        """Whether all of them were read."""
        return self._mark is not None and self._taken >= self._mark

    def unmark(self) -> None:
        """Let reading go on."""
        self._mark = None

    def take_gaps(self) -> list[str]:
        """Return whether the broker has lost the session, and what it kept for it."""
        taken, self._gaps = self._gaps, []
        return taken

    def confirm(self) -> None:
        """Acknowledge what was read."""
        for number in self._to_confirm:
            self._client.ack(number, 1)
        self._to_confirm = []

    def close(self) -> None:
        """Leave; the broker keeps the session and what comes for it."""
        self._client.disconnect()
        self._client.loop_stop()

    def _connected(self, client: Any, _data: Any, flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            self._trouble = "the broker refuses: check username and password"
            return
        if self._session and not flags.session_present:
            self._gaps.append("the broker has lost the session: messages may be missing")
        client.subscribe(self._topic, qos=1)

    def _subscribed(self, _client: Any, _data: Any, _number: Any, reasons: Any, _properties: Any) -> None:
        refused = any(reason.is_failure for reason in reasons)
        self._trouble = "the broker refuses the topic" if refused else ""
        self._session = self._session if refused else "session"

    def _disconnected(self, *_: Any) -> None:
        self._trouble = self._unreachable

    def _arrived(self, _client: Any, _data: Any, message: Any) -> None:
        while len(self._queue) > _MOST_WAITING:  # the broker waits, and keeps the rest
            time.sleep(0.005)
        with self._news:
            # What was published at a lower quality of service has no number and wants no answer.
            self._queue.append((message.payload, message.mid if message.qos else 0))
            self._received += 1
            self._news.notify()
