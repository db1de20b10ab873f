"""The process from which Spark forks its Python workers: it has loaded what their tasks import.

Spark's own daemon has each worker import pyspark anew, out of an archive, where Python finds nothing compiled; that
takes longer than the tasks of a test. This one takes the same modules from the environment, once. `daemon` names the
settings with which a Spark uses it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
from pathlib import Path

__all__ = ["daemon"]

_LOADED = ("pyspark.worker", "pyarrow", "pandas", "chronodp.live.structured_streaming.query")


def daemon() -> dict[str, str]:
    """Return the settings for Spark to fork its Python workers from this module, wherever its executors run."""
    return {
        "spark.python.daemon.module": __name__,
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).parents[1]),
    }


def main() -> None:
    """Load everything, and become Spark's own daemon."""
    for place in [place for place in sys.path if place.endswith((".zip", ".jar"))]:
        sys.path.remove(place)
        sys.path_importer_cache.pop(place, None)  # else each worker would have it read again
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # no threads before a fork
    for name in _LOADED:
        with contextlib.suppress(ImportError):  # an extra that is not installed here
            importlib.import_module(name)
    from pyspark.daemon import manager

    gc.freeze()  # workers look for what nobody needs after each task, and need not look at what is loaded
    manager()


if __name__ == "__main__":
    main()
