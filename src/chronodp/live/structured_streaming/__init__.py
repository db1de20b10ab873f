"""Spark Structured Streaming: the windows of a live stream on many machines, released as one process would."""

from chronodp.live.structured_streaming.live_on_spark import LiveOnSpark

__all__ = ["LiveOnSpark"]
