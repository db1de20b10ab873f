"""The engine beyond one machine: the same SQL text, run where a Spark frame lives."""

from chronodp.engines.spark.engine import Spark
from chronodp.engines.spark.local import local_session
from chronodp.engines.spark.volume import Volume, estimate_volume

__all__ = ["Spark", "Volume", "estimate_volume", "local_session"]
