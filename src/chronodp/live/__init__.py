"""Where streams come from and where their releases go."""

from chronodp.live.structured_streaming import BatchSink

__all__ = ["BatchSink"]
