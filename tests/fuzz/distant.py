"""Right calls of rooms that reach elsewhere: federated, live and service."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import chronodp as cdp
from chronodp import federated, live, service
from chronodp.federated import aggregation, models, training
from chronodp.live import sinks, sources
from tests.federated.crowd import PeopleIndex, Toy
from tests.fuzz.calls import Call

__all__ = ["DISTANT"]

_CROWD = PeopleIndex(3)
_TASK = federated.Task(rounds=2, size=4, model="toy", clip=1.0, bits=32)
_COLUMN = models.Column("pulse", 40.0, 160.0)
_INPUTS = models.Inputs((_COLUMN,), 4)
_MODEL = models.ModelDesign(_INPUTS, models.Risk(0.5), models.Linear(), 0)
_STEP = training.StepDesign(clip=1.0, sigma=1.0, rate=0.1)
_WINDOWS = live.Windows("1h", "2026-01-01")
_LIMITS = live.Limits(cdp.User(), _WINDOWS, clip=(0.0, 1.0), max_periods=2)
_READER = live.Reader(live.Fields("at", user="who", value="kwh"))


def _call(door: Any, **arguments: Any) -> Call:
    return Call(door, arguments)


DISTANT: dict[str, Call] = {
    "Task": _call(federated.Task, rounds=2, size=4, model="toy", clip=1.0, bits=32),
    "Federation": _call(
        federated.Federation,
        holders=[Toy("north", _TASK), Toy("south", _TASK)],
        task=_TASK,
        aggregation="secure",
        weights={"north": 1.0, "south": 2.0},
        threshold=2,
        start=np.zeros(4),
        checkpoint=None,
        drop=None,
    ),
    "Terms": _call(aggregation.Terms, run="test", task="toy", roster=_CROWD.terms.roster, threshold=3, size=5, bits=32),
    "Context": _call(aggregation.Context, run=_CROWD.terms.digest, round_number=1, attempt=0, parameters=bytes(32)),
    "usual_threshold": _call(aggregation.usual_threshold, holders=3),
    "AggregationClient": _call(
        aggregation.AggregationClient,
        identity=_CROWD.identities["h01"],
        name="h01",
        terms=_CROWD.terms,
        context=_CROWD.context,
    ),
    "AggregationServer": _call(aggregation.AggregationServer, terms=_CROWD.terms, context=_CROWD.context),
    "aggregate": _call(
        partial(aggregation.aggregate, vector_of=_CROWD.vectors.__getitem__),
        identities=_CROWD.identities,
        terms=_CROWD.terms,
        context=_CROWD.context,
        silent=None,
    ),
    "Column": _call(models.Column, name="pulse", lower=40.0, upper=160.0),
    "Inputs": _call(models.Inputs, columns=(_COLUMN,), length=4),
    "Forecast": _call(models.Forecast, column=_COLUMN, horizon=2),
    "Risk": _call(models.Risk, prevalence=0.5),
    "Recurrent": _call(models.Recurrent, hidden=4),
    "Convolution": _call(models.Convolution, features=4, layers=1, kernel=3),
    "ModelDesign": _call(
        models.ModelDesign, inputs=_INPUTS, outcome=models.Risk(0.5), architecture=models.Linear(), start=0
    ),
    "StepDesign": _call(training.StepDesign, clip=1.0, sigma=1.0, rate=0.1, resolution=1024),
    "area_under_curve": _call(training.area_under_curve, risks=[0.1, 0.9], happened=[0.0, 1.0]),
    "Fields": _call(
        live.Fields, time="at", user="who", value="kwh", group="site", id="id", time_unit="s", timezone="UTC"
    ),
    "Reader": _call(live.Reader, fields=live.Fields("at"), groups=("north", "south")),
    "Windows": _call(
        live.Windows, every="1h", start="2026-01-01", lateness="10s", skew="1min", timezone="UTC", count=3
    ),
    "Limits": _call(
        live.Limits,
        unit=cdp.User(),
        windows=_WINDOWS,
        clip=(0.0, 1.0),
        at_most=None,
        max_periods=2,
        groups=("north",),
        max_groups=1,
        people=True,
        ids=False,
    ),
    "stream_design": _call(
        live.stream_design, limits=_LIMITS, workload=cdp.RunningTotal(), share=None, epsilon=1.0, delta=1e-6
    ),
    "alert_design": _call(live.alert_design, limits=_LIMITS, above=5.0, max_alerts=1, epsilon=1.0),
    "terms_of": _call(live.terms_of, limits=_LIMITS, level="0.95"),
    "ScaledClock": _call(live.ScaledClock, start=0, speed=2.0, begun=0),
    "FileSource": _call(sources.FileSource, path="rows.jsonl", reader=_READER, layout="jsonl"),
    "CsvSink": _call(sinks.CsvSink, path="out.csv"),
    "ParquetSink": _call(sinks.ParquetSink, path="out"),
    "KafkaSink": _call(sinks.KafkaSink, topic="out", servers="127.0.0.1:1", options={}),
    "KafkaSource": _call(
        sources.KafkaSource, topic="in", servers="127.0.0.1:1", reader=_READER, group="me", options={}
    ),
    "MqttSource": _call(
        sources.MqttSource,
        topic="in",
        host="127.0.0.1",
        port=1,
        client="me",
        reader=_READER,
        username="a",
        password="b",
        secure=False,
    ),
    "MqttSink": _call(
        sinks.MqttSink,
        topic="out",
        host="127.0.0.1",
        port=1,
        client="me",
        username="a",
        password="b",
        secure=False,
    ),
    "Client": _call(service.Client, url="http://127.0.0.1:1", token="7346281", certificates=None, timeout=1.0),
    "read_policy": _call(service.read_policy, path="nothing.toml"),
    "read_plan": _call(training.read_plan, path="nothing.toml"),
}
