"""Where records come from: Kafka, MQTT, growing files."""

from chronodp.live.sources.files import FileSource
from chronodp.live.sources.kafka import KafkaSource
from chronodp.live.sources.mqtt import MqttSource
from chronodp.live.sources.source import Source

__all__ = ["FileSource", "KafkaSource", "MqttSource", "Source"]
