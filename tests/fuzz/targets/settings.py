"""Files of settings in TOML: policy, training plans, live streams, questions."""

from __future__ import annotations

from pathlib import Path

import chronodp as cdp
from chronodp.cli.asking import Asked
from chronodp.cli.live_settings import read_settings
from chronodp.cli.question_options import read_options
from chronodp.cli.workload import plan_workload
from chronodp.federated.training import read_plan
from chronodp.service import read_policy
from tests.cli.clinics import MODEL, TOP
from tests.fuzz.target import MARK, Target
from tests.service.town import POLICY

__all__ = [
    "NAMES",
    "make_live_settings",
    "make_options",
    "make_policy",
    "make_training_plan",
    "make_workload",
]

NAMES = ("policy", "training_plan", "live_settings", "options", "workload")

_ANALYST = "[datasets.meters.analysts.ana]\nepsilon = 4.0\n"
_LIVE = """
name = "door"
dataset = "visits"
unit = "user"
max_periods = 24
[source]
kind = "mqtt"
host = "localhost"
topic = "visits"
username = "chronodp"
password = "{mark}"
[fields]
time = "at"
user = "who"
value = "kwh"
id = "id"
[windows]
every = "1min"
start = "2026-01-01"
timezone = "Europe/Berlin"
lateness = "10s"
horizon = 100
[measure]
clip = [0.0, 5.0]
[stream]
workload = "running_total"
epsilon = 1.0
delta = 1e-6
[alert]
above = 5.0
epsilon = 0.5
[metrics]
port = 9100
[[sinks]]
kind = "csv"
path = "out.csv"
"""
_WINDOWED = """
name = "door"
dataset = "visits"
unit = "window:3"
[source]
kind = "file"
path = "rows.jsonl"
[fields]
time = "at"
user = "who"
[windows]
every = "1h"
[stream]
share = "absorption"
epsilon = 1.0
"""
_OPTIONS = """
data = "rows.csv"
time = "at"
user = "who"
every = "1D"
start = "2026-01-01"
end = "2026-01-05"
unit = "user"
max_periods = 2
epsilon = 1.0
delta = 1e-6
"""
_ROWS = "at,who,kwh\n2026-01-01T01:00,a,1.0\n2026-01-02T01:00,b,2.0\n"


def make_policy(folder: Path) -> Target:
    file = folder / "policy.toml"
    text = POLICY.format(source="rows.csv", floor=0.05, lease=2.0, epsilon=8.0, share="true", analysts=_ANALYST)

    def door(content: bytes) -> None:
        file.write_bytes(content)
        read_policy(file)

    return Target("policy", (text.encode(),), door)


def make_training_plan(folder: Path) -> Target:
    file = folder / "training.toml"
    holders = '[holders.north]\ndata = "north.csv"\npeople = 100\n[held_out]\ndata = "other.csv"\npublic = true\n'

    def door(content: bytes) -> None:
        file.write_bytes(content)
        str(read_plan(file).plan)

    other = MODEL.replace('"linear"', '"convolution"') + "x = [0, 1]\n"
    forecast = MODEL.replace("prevalence = 0.2", 'outcome = "forecast"\ncolumn = "pulse"\nhorizon = 2')
    return Target("training_plan", tuple((TOP + model + holders).encode() for model in (MODEL, other, forecast)), door)


def make_live_settings(folder: Path) -> Target:
    file = folder / "live.toml"
    ledger = cdp.Ledger(folder / "live.db")

    def door(content: bytes) -> None:
        file.write_bytes(content)
        wanted = read_settings(file)
        _ = wanted.state
        limits = wanted.limits(str(wanted.said["windows"].get("start", "2026-01-01")))
        wanted.streams(limits, ledger)  # there is no budget: the way ends where it would be paid

    seeds = _LIVE.format(mark=MARK.decode()).encode(), _WINDOWED.encode()
    return Target("live_settings", seeds, door, secret=b'password = "' + MARK + b'"\n')


def make_options(folder: Path) -> Target:
    file, rows = folder / "options.toml", folder / "rows.csv"
    rows.write_text(_ROWS, encoding="utf-8")
    texts = (_OPTIONS + 'sum = "kwh"\nclip = [0.0, 1.0]\n', _OPTIONS + 'histogram = "kwh"\nedges = [0, 1, 2]\n')

    def door(content: bytes) -> None:
        file.write_bytes(content)
        options = read_options(file)
        Asked({**options, "data": str(rows)}).query()

    return Target("options", tuple(text.encode() for text in texts), door)


def make_workload(folder: Path) -> Target:
    file, rows = folder / "workload.toml", folder / "rows.csv"
    rows.write_text(_ROWS, encoding="utf-8")
    text = (
        _OPTIONS.replace("rows.csv", str(rows))
        + '[queries.people]\ncount = true\nweight = 1\n[queries.load]\nsum = "kwh"\n'
        'clip = [0.0, 1.0]\nweight = 2\n[queries.peak]\nof = "load"\npeak = "2D"\nweight = 1\n'
    )

    def door(content: bytes) -> None:
        file.write_bytes(content)
        plan_workload(Asked({"data": str(file)}))

    return Target("workload", (text.encode(),), door)
