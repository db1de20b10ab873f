"""Where releases go: Kafka, MQTT, Parquet, CSV."""

from chronodp.live.sinks.brokers import KafkaSink, MqttSink
from chronodp.live.sinks.files import CsvSink, ParquetSink
from chronodp.live.sinks.sink import Sink

__all__ = ["CsvSink", "KafkaSink", "MqttSink", "ParquetSink", "Sink"]
