"""Streams from where they come: Kafka, MQTT, growing files, Spark; released window by window, by a public clock."""

from chronodp.live.clocks import ScaledClock as ScaledClock, SystemClock as SystemClock
from chronodp.live.contribution import Limits, terms_of as terms_of
from chronodp.live.key_limits import KeyLimits as KeyLimits
from chronodp.live.metrics import serve_metrics as serve_metrics
from chronodp.live.progress import Progress as Progress
from chronodp.live.records import Fields, Reader
from chronodp.live.runner import Live
from chronodp.live.state import State
from chronodp.live.streams import TotalsStream as TotalsStream, alert_design, open_streams, stream_design
from chronodp.live.structured_streaming import LiveOnSpark
from chronodp.live.windows import Windows, begin_of as begin_of, parse_duration as parse_duration

__all__ = [
    "Fields",
    "Limits",
    "Live",
    "LiveOnSpark",
    "Reader",
    "State",
    "Windows",
    "alert_design",
    "open_streams",
    "stream_design",
]
