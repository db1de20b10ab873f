"""Training across holders: each keeps its data, and only private updates leave it.

What needs torch stands in `models` and `training` and is imported when asked for.
"""

from chronodp.federated.holder import Holder, Task

__all__ = ["Holder", "Task"]
