"""Streams from where they come: Kafka, MQTT, growing files, Spark; released window by window, by a public clock."""

from chronodp.live.contribution import Limits, terms_of
from chronodp.live.progress import OwnerFigures, Progress
from chronodp.live.records import Fields, Reader
from chronodp.live.runner import Live
from chronodp.live.state import State
from chronodp.live.streams import TotalsStream, alert_design, open_streams, stream_design
from chronodp.live.structured_streaming import BatchSink
from chronodp.live.windows import Clock, ScaledClock, SystemClock, Windows

__all__ = [
    "BatchSink",
    "Clock",
    "Fields",
    "Limits",
    "Live",
    "OwnerFigures",
    "Progress",
    "Reader",
    "ScaledClock",
    "State",
    "SystemClock",
    "TotalsStream",
    "Windows",
    "alert_design",
    "open_streams",
    "stream_design",
    "terms_of",
]
