"""Released windows as messages: Kafka and MQTT; a window that is sent again is the same message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chronodp.errors import InvalidArgument
from chronodp.extras import check_extra
from chronodp.live.broker_terms import check_mqtt, check_options, check_texts
from chronodp.live.sinks.sink import Row, as_message

__all__ = ["KafkaSink", "MqttSink"]

_PATIENCE = 3.0  # seconds to wait for the broker's word that it has the message


class KafkaSink:
    """A Kafka topic; the key of a message is the number of its window.

    Args:
        topic: the topic.
        servers: brokers to begin with.
        options: further settings of librdkafka.
    """

    remembers = False

    def __init__(self, topic: str, *, servers: str, options: dict[str, Any] | None = None) -> None:
        check_extra("live", "confluent_kafka")
        from confluent_kafka import KafkaException, Producer

        check_texts(topic=topic, servers=servers)
        self.name = f"kafka {topic}"
        self._topic = topic
        settings = {"bootstrap.servers": servers, "enable.idempotence": True, "log_level": 0}
        settings["delivery.timeout.ms"] = int(_PATIENCE * 1_000)
        try:
            self._producer = Producer(settings | check_options(options) | {"error_cb": lambda _: None})
        except KafkaException as error:
            raise InvalidArgument("options", None, f"settings that librdkafka knows ({error.args[0].str()})") from None
        self._failed = 0

    def check(self) -> None:
        """The broker may come later."""

    def begin(self, columns: Sequence[str], known: int | None) -> int:  # noqa: ARG002 (objects name their columns)
        """Go on after the last window that the broker has confirmed."""
        return known or 0

    def write(self, windows: Sequence[Sequence[Row]]) -> None:
        """Send one message a window and wait until all are confirmed."""
        from confluent_kafka import KafkaException

        self._failed = 0
        for window in windows:
            try:
                self._producer.produce(
                    self._topic, key=str(window[0]["window"]), value=as_message(window), on_delivery=self._delivered
                )
            except (KafkaException, BufferError):
                self._failed += 1
        left = self._producer.flush(_PATIENCE + 1.0)
        if left or self._failed:
            self._producer.purge()
            raise OSError("the brokers did not confirm")

    def close(self) -> None:
        """Leave."""
        self._producer.purge()
        self._producer.flush(1.0)

    def _delivered(self, error: Any, _message: Any) -> None:
        self._failed += error is not None


class MqttSink:
    """An MQTT topic, at quality of service 1; the newest window is retained for those who come later.

    Args:
        topic: the topic.
        host: of the broker.
        port: of the broker.
        client: the name of this sender.
        username: if the broker asks for one.
        password: if the broker asks for one.
        secure: whether to use TLS, with the system's certificates.
    """

    remembers = False

    def __init__(
        self,
        topic: str,
        *,
        host: str,
        port: int = 1883,
        client: str,
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
        self.name = f"mqtt {topic}"
        self._topic = topic
        self._client = Client(CallbackAPIVersion.VERSION2, client_id=client, clean_session=True)
        if username is not None:
            self._client.username_pw_set(username, password)
        if secure:
            self._client.tls_set()
        self._client.connect_async(host, port)

    def check(self) -> None:
        """The broker may come later."""

    def begin(self, columns: Sequence[str], known: int | None) -> int:  # noqa: ARG002 (objects name their columns)
        """Go on after the last window that the broker has confirmed."""
        self._client.loop_start()
        return known or 0

    def write(self, windows: Sequence[Sequence[Row]]) -> None:
        """Publish one message a window and wait until all are confirmed."""
        if not self._client.is_connected():
            raise OSError("the broker cannot be reached")
        sent = [self._client.publish(self._topic, as_message(window), qos=1, retain=True) for window in windows]
        for one in sent:
            try:
                one.wait_for_publish(_PATIENCE)
            except (RuntimeError, ValueError):
                raise OSError("the broker did not take it") from None
            if not one.is_published():
                raise OSError("the broker did not confirm")

    def close(self) -> None:
        """Leave."""
        self._client.disconnect()
        self._client.loop_stop()
