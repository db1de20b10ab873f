"""Every parser of the project, by kind: right texts to start from, and the call that reads any bytes."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from pydantic import ValidationError

import chronodp as cdp
from chronodp import local, selection
from chronodp.cli.account import parse_release, read_releases
from chronodp.cli.asking import Asked
from chronodp.cli.blur_times import parse_analysis
from chronodp.cli.choose import parse_choice_mechanism
from chronodp.cli.coupled import parse_ages, parse_cuts, parse_each_age, parse_hears, parse_query, parse_turns
from chronodp.cli.device import _value, parse_protocol
from chronodp.cli.live_settings import read_settings
from chronodp.cli.question_options import read_options
from chronodp.cli.read import parse_smooth
from chronodp.cli.stream import number_in, parse_share, parse_workload
from chronodp.cli.verify import verify as verify_file
from chronodp.cli.watch import parse_noise
from chronodp.cli.workload import plan_workload
from chronodp.correlated.model_file import read_model
from chronodp.dataset import ReleaseTogether
from chronodp.engines import DuckDB
from chronodp.federated.aggregation import AggregationClient, AggregationServer, Identity, Phase
from chronodp.federated.aggregation.envelope import HEADER_BYTES, seal
from chronodp.federated.aggregation.wire import unpack
from chronodp.federated.checkpoint import load_checkpoint, save_checkpoint
from chronodp.federated.training import read_people, read_plan
from chronodp.ledger import FileWitness, Keys, SignedLink, verify
from chronodp.ledger.certificates import Link
from chronodp.ledger.codec import frame_head, framed_codec
from chronodp.ledger.keyfile import create_keys, read_keys
from chronodp.live import Fields, Reader, Windows
from chronodp.live.records import Batch
from chronodp.live.sources import FileSource
from chronodp.live.windows import parse_duration
from chronodp.local.device import Device, start, to_bytes, to_json
from chronodp.privacy import Calendar, Certificate, GaussianCost, PureCost, RepeatedCost, SequenceCost, dump, load
from chronodp.privacy.unit_text import parse_unit
from chronodp.randomness import seeded
from chronodp.selection.choice import Choice
from chronodp.series import Release, Workload
from chronodp.series.windowed import Uniform
from chronodp.series.windowed.design import WindowedDesign, design_windowed
from chronodp.service import read_policy
from chronodp.service.bodies import check_body
from chronodp.service.price import check_price
from chronodp.service.question import QueryRequest, ask
from chronodp.service.rules import allowed_grid, check_allowed, check_expressions
from chronodp.spectrum import Lowest, Spectrum, SpectrumRelease
from tests.cli.clinics import MODEL, TOP
from tests.federated.crowd import Meeting, PeopleIndex, Places
from tests.fuzz.target import MARK, Target, loose
from tests.service.town import POLICY, write_policy

__all__ = ["KINDS", "NAMES", "make_targets"]

Made = tuple[tuple[bytes, ...], Callable[[bytes], object]]
"""Texts that a parser reads, and the call."""
_MAKERS: dict[str, Callable[[Path], Target]] = {}
_KINDS: dict[str, list[str]] = {}


def _parser(kind: str, *, secret: bytes | None = None) -> Callable[[Callable[[Path], Made]], None]:
    """Let a function that makes a parser, which may write into a folder, be found by its name."""

    def keep(make: Callable[[Path], Made]) -> None:
        name = make.__name__.removeprefix("_")
        _KINDS.setdefault(kind, []).append(name)
        _MAKERS[name] = lambda folder: Target(name, *make(folder), secret)

    return keep


def make_targets(folder: Path, *names: str) -> dict[str, Target]:
    """Return targets by name, all unless some are named; they write what they must into a folder."""
    return {name: _MAKERS[name](folder) for name in names or NAMES}


def _into(file: Path, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """Return a call that writes a file and has it read."""

    def door(content: bytes) -> None:
        file.write_bytes(content)
        read(file)

    return door


def _as_json(*items: object) -> tuple[bytes, ...]:
    return tuple(json.dumps(item).encode() for item in items)


# What was released and signed, read back.


def _quietly(call: Callable[[], object]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        call()


def _sign(keys: Keys, body: str) -> SignedLink:
    """Sign anything at all, as a careless issuer would."""
    return SignedLink(body, keys.sign(body.encode("utf-8", "surrogatepass")))


class _House:
    """A ledger with one release of each kind."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        with cdp.Ledger(folder / "documents.db") as ledger:
            if not ledger.budgets():
                ledger.open("meters", unit=cdp.Event(), epsilon=100.0, delta=1e-3)
            paid: dict[str, Any] = {"ledger": ledger, "dataset": "meters", "entropy": seeded(1)}
            row: dict[str, Any] = {"change": 1.0, "unit": cdp.Event()}
            totals = cdp.Aggregate([1.0, 2.0, 3.0, 4.0], **row, every="1D", start="2026-01-01")
            self.release: Release = totals.plan(epsilon=1.0).release(request="one", **paid)
            shaped = totals.plan(epsilon=1.0, delta=1e-6, tuned_for=cdp.RunningTotal())
            self.shaped: Release = shaped.release(request="two", **paid)
            spectrum = Spectrum([1.0, 2.0, 3.0, 4.0], **row).plan(Lowest(2), epsilon=1.0)
            self.spectrum: SpectrumRelease = spectrum.release(request="three", **paid)
            utilities = selection.Utilities([1.0, 2.0], change=1.0)
            self.choice: Choice = selection.choose(
                ["a", "b"], utilities, epsilon=1.0, unit=cdp.Event(), request="four", **paid
            )
            alert = cdp.alerts.design_alert(above=3.0, **row, epsilon=1.0, max_alerts=1)
            several = cdp.plan_together({"load": totals, "high": alert}, epsilon=2.0)
            self.together: ReleaseTogether = several.release(request="five", **paid)
            self.chain = ledger.export("meters")
            self.keys = ledger.keys

    def sign_for(self, like: Link, text: str) -> SignedLink:
        """Sign a text as if it were what was released."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return _sign(self.keys, dump(replace(like, release=digest)))


def _seed(item: object) -> bytes:
    return dump(item).encode()


@_parser("documents")
def _document(folder: Path) -> Made:
    house = _House(folder)
    costs = SequenceCost((RepeatedCost(GaussianCost(1.0, 2.0), 3), PureCost(0.5)))
    designs = _as_json(*(json.loads(one.text)["design"] for one in (house.release, house.shaped)))
    return (_seed(costs), _seed(house.release.link), *designs), partial(load, expected=object)


@_parser("documents")
def _certificate(folder: Path) -> Made:
    return (_seed(_House(folder).release.certificate),), lambda content: str(load(loose(content), Certificate))


@_parser("documents")
def _link(folder: Path) -> Made:
    house = _House(folder)

    def door(content: bytes) -> None:
        signed = _sign(house.keys, loose(content))
        str(verify(signed, house.keys.public).certificate)

    return (house.release.signed.body.encode(), house.together.signed.body.encode()), door


@_parser("documents")
def _chain(folder: Path) -> Made:
    """The command; bodies are signed anew, so that links without a meaning come through the signature."""
    house, file = _House(folder), folder / "chain.json"

    def door(content: bytes) -> None:
        file.write_bytes(content)
        _quietly(lambda: verify_file(file, house.keys.public, None, as_json=True))
        with contextlib.suppress(ValueError, RecursionError, KeyError, TypeError, AttributeError):
            told = json.loads(content)
            told["links"] = [_sign(house.keys, one["body"]).to_dict() for one in told["links"]]
            file.write_text(json.dumps(told), encoding="utf-8")
            content = b""
        if not content:
            _quietly(lambda: verify_file(file, house.keys.public, None, as_json=False))

    return _as_json(house.chain, house.choice.to_dict()), door


@_parser("documents")
def _costs(folder: Path) -> Made:
    costs = GaussianCost(1.0, 2.0), RepeatedCost(PureCost(0.5), 10)
    seeds = (_seed(costs[0]), b"[" + b",".join(map(_seed, costs)) + b"]")
    return seeds, _into(folder / "costs.json", read_releases)


@_parser("documents")
def _release(folder: Path) -> Made:
    house = _House(folder)

    def door(content: bytes) -> None:
        text = loose(content)
        made = Release(text, house.sign_for(house.release.link, text))
        made.to_pandas(), made.running_total().to_pandas(), str(made)

    return tuple(one.text.encode() for one in (house.release, house.shaped)), door


@_parser("documents")
def _saved(folder: Path) -> Made:
    file = folder / "saved.json"
    _House(folder).release.save(file)
    return (file.read_bytes(),), _into(file, lambda file: Release.load(file).to_pandas())


@_parser("documents")
def _spectrum(folder: Path) -> Made:
    house = _House(folder)

    def door(content: bytes) -> None:
        text = loose(content)
        made = SpectrumRelease(text, house.sign_for(house.spectrum.signed.link, text))
        made.to_pandas(), str(made)

    return (house.spectrum.text.encode(),), door


@_parser("documents")
def _choice(folder: Path) -> Made:
    house = _House(folder)

    def door(content: bytes) -> None:
        text = loose(content)
        repr(Choice(text, house.sign_for(house.choice.signed.link, text)))

    return (house.choice.text.encode(),), door


@_parser("documents")
def _together(folder: Path) -> Made:
    house = _House(folder)

    def door(content: bytes) -> None:
        text = loose(content)
        made = ReleaseTogether(text, house.sign_for(house.together.link, text))
        made.to_pandas(), repr(made)

    return (house.together.text.encode(),), door


@_parser("documents")
def _model(folder: Path) -> Made:
    dense = {"transitions": [[0.7, 0.3], [0.3, 0.7]], "coupling": [[1, 0], [0.5, 0.5]]}
    edges = {"sequences": 2, "edges": [[0, 0, 1.0], [1, 0, 1.0]], "transitions": np.eye(2).tolist()}
    return _as_json(dense, edges), _into(folder / "model.json", lambda file: repr(read_model(file)))


# What devices are given, keep and send.

_PLANS = (
    local.LocalPlan("mode", local.RandomizedResponse(1.0, 4), local.Slots(4, 1)),
    local.LocalPlan("mode", local.RandomizedResponse(0.5, 4), local.Memoised(permanent_epsilon=1.0, horizon=4)),
    local.LocalPlan("minutes", local.Piecewise(1.0, (0.0, 1.0), grid=16), local.Fresh(4)),
    local.LocalPlan("sites", local.LocalHashing(1.0, 40), local.WindowAsked(3)),
    local.LocalPlan("sites", local.OptimizedUnary(1.0, 9), local.WindowPopulation(3)),
    local.LocalPlan("amount", local.Hybrid(1.0, (0.0, 1.0)), local.WindowBudget(3)),
)
_COMPILED = _as_json(*(plan.compiled for plan in _PLANS))


def _begun(file: Path, plan: dict[str, Any]) -> Device:
    file.unlink(missing_ok=True)
    start(file, plan)
    return Device(file, plan)


@_parser("devices")
def _plan(folder: Path) -> Made:
    return _COMPILED, _into(folder / "plan.json", lambda file: str(local.LocalPlan.load(file)))


@_parser("devices")
def _given_plan(folder: Path) -> Made:
    """A device that is handed a plan by somebody it does not trust."""

    def door(content: bytes) -> None:
        plan: Any = None
        with contextlib.suppress(ValueError, RecursionError):
            plan = json.loads(content)
        _begun(folder / "given.json", plan).send(1, slot=0)

    return _COMPILED, door


@_parser("devices", secret=b"")
def _state(folder: Path) -> Made:
    """A state whose checksum is right, whatever it says."""
    plan, file = _PLANS[1].compiled, folder / "state.json"
    device = _begun(file, plan)
    fresh = file.read_bytes().partition(b"\n")[2]
    device.send(2, slot=0)
    used = file.read_bytes().partition(b"\n")[2]

    def door(content: bytes) -> None:
        file.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
        Device(file, plan).send(1, slot=2)

    return (fresh, used), door


def _sent(folder: Path, plan: local.LocalPlan) -> dict[str, Any]:
    sender = _begun(folder / "sender.json", plan.compiled)
    return next(report for report in (sender.send(1, slot=slot) for slot in range(4)) if report is not None)


def _collect(file: Path, content: bytes, *, lines: bool) -> None:
    """Read reports; the first byte names the plan."""
    plan = _PLANS[content[0] % len(_PLANS) if content else 0]
    file.write_bytes(content[1:])
    collector = local.Collector(plan, slots=range(3))
    collector.read(file)
    if lines:
        collector.add_lines(loose(content[1:]).splitlines())
    local.estimate(plan, collector.tally)


@_parser("devices", secret=b"")
def _reports(folder: Path) -> Made:
    seeds = (bytes([place]) + 2 * to_bytes(_sent(folder, plan), plan.compiled) for place, plan in enumerate(_PLANS))
    return tuple(seeds), lambda content: _collect(folder / "reports.bin", content, lines=False)


@_parser("devices", secret=b"")
def _report_lines(folder: Path) -> Made:
    seeds = (f"{place}{to_json(_sent(folder, plan))}\n".encode() for place, plan in enumerate(_PLANS))
    return tuple(seeds), lambda content: _collect(folder / "reports.jsonl", content, lines=True)


@_parser("devices")
def _tally(_folder: Path) -> Made:
    plan = _PLANS[0]
    mine, other = (local.Collector(plan, part=(place, 2)).tally for place in (0, 1))
    return (mine.to_bytes(),), lambda content: local.estimate(plan, local.ReportCounts.from_bytes(content).merge(other))


@_parser("devices", secret=b"")
def _input(folder: Path) -> Made:
    """What stands on the standard input of a device."""
    plan, file = _PLANS[2].compiled, folder / "value.json"
    _begun(file, plan)
    fresh = file.read_bytes()

    def door(content: bytes) -> None:
        file.write_bytes(fresh)
        Device(file, plan).send(_value(content), slot=0)

    return (b"0.5", MARK, b'"' + MARK + b'"'), door


# Files of settings in TOML.

_ANALYST = "[datasets.meters.analysts.ana]\nepsilon = 4.0\n"
_LIVE = """
name = "door"
dataset = "visits"
unit = "user"
max_periods = 24
source = {kind = "mqtt", host = "localhost", topic = "visits", username = "chronodp", password = "7346281"}
fields = {time = "at", user = "who", value = "kwh", id = "id"}
measure = {clip = [0.0, 5.0]}
stream = {workload = "running_total", epsilon = 1.0, delta = 1e-6}
alert = {above = 5.0, epsilon = 0.5}
metrics = {port = 9100}
sinks = [{kind = "csv", path = "out.csv"}]
[windows]
every = "1min"
start = "2026-01-01"
timezone = "Europe/Berlin"
lateness = "10s"
horizon = 100
"""
_WINDOWED = """
name = "door"
dataset = "visits"
unit = "window:3"
source = {kind = "file", path = "rows.jsonl"}
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


@_parser("settings")
def _policy(folder: Path) -> Made:
    text = POLICY.format(source="rows.csv", floor=0.05, lease=2.0, epsilon=8.0, share="true", analysts=_ANALYST)
    return (text.encode(),), _into(folder / "policy.toml", read_policy)


@_parser("settings")
def _training_plan(folder: Path) -> Made:
    holders = '[holders.north]\ndata = "north.csv"\npeople = 100\n[held_out]\ndata = "other.csv"\npublic = true\n'
    other = MODEL.replace('"linear"', '"convolution"') + "x = [0, 1]\n"
    forecast = MODEL.replace("prevalence = 0.2", 'outcome = "forecast"\ncolumn = "pulse"\nhorizon = 2')
    seeds = tuple((TOP + model + holders).encode() for model in (MODEL, other, forecast))
    return seeds, _into(folder / "training.toml", lambda file: str(read_plan(file).plan))


@_parser("settings", secret=b'password = "' + MARK + b'"}')
def _live_settings(folder: Path) -> Made:
    ledger = cdp.Ledger(folder / "live.db")

    def read(file: Path) -> None:
        wanted = read_settings(file)
        _ = wanted.state
        limits = wanted.limits(str(wanted.said["windows"].get("start", "2026-01-01")))
        wanted.streams(limits, ledger)  # there is no budget: the way ends where it would be paid

    return (_LIVE.encode(), _WINDOWED.encode()), _into(folder / "live.toml", read)


@_parser("settings")
def _options(folder: Path) -> Made:
    rows = folder / "rows.csv"
    rows.write_text(_ROWS, encoding="utf-8")
    texts = (_OPTIONS + 'sum = "kwh"\nclip = [0.0, 1.0]\n', _OPTIONS + 'histogram = "kwh"\nedges = [0, 1, 2]\n')
    read = lambda file: Asked({**read_options(file), "data": str(rows)}).query()  # noqa: E731
    return tuple(text.encode() for text in texts), _into(folder / "options.toml", read)


@_parser("settings")
def _workload(folder: Path) -> Made:
    rows = folder / "rows.csv"
    rows.write_text(_ROWS, encoding="utf-8")
    text = (
        _OPTIONS.replace("rows.csv", str(rows))
        + '[queries.people]\ncount = true\nweight = 1\n[queries.load]\nsum = "kwh"\n'
        'clip = [0.0, 1.0]\nweight = 2\n[queries.peak]\nof = "load"\npeak = "2D"\nweight = 1\n'
    )
    return (text.encode(),), _into(folder / "workload.toml", lambda file: plan_workload(Asked({"data": str(file)})))


# What travels between holders and a server, and questions to a curator.

_HOLDER = "h01"


@cache
def _meeting(phase: Phase) -> Meeting:
    meeting = Meeting(PeopleIndex(3))
    meeting.go_to(phase)
    return meeting


@contextlib.contextmanager
def _kept(client: AggregationClient) -> Any:
    before = {key: dict(value) if isinstance(value, dict) else value for key, value in vars(client).items()}
    try:
        yield
    finally:
        vars(client).update(before)


@_parser("messages")
def _server_messages(_folder: Path) -> Made:
    """The first byte names the phase; an odd one has the rest signed by a holder, as one that lies would."""
    seeds, phases = [], list(Phase)
    for phase in phases:
        with _kept(_meeting(phase).clients[_HOLDER]):
            message = _meeting(phase).answer(_HOLDER)
        seeds += [bytes([2 * phase]) + message, bytes([2 * phase + 1]) + message[HEADER_BYTES:]]

    def door(content: bytes) -> None:
        which, text = content[0] if content else 0, content[1:]
        phase = phases[which // 2 % len(phases)]
        meeting = _meeting(phase)
        if which % 2:
            text = seal(meeting.crowd.identities[_HOLDER], _HOLDER, meeting.crowd.context, phase, text)
        server: AggregationServer = copy.deepcopy(meeting.server)
        server.receive(text)

    return tuple(seeds), door


@_parser("messages")
def _client_messages(_folder: Path) -> Made:
    """What a server that lies tells a holder; the first byte names the phase."""
    phases = [phase for phase in Phase if phase is not Phase.ADVERTISE]

    def door(content: bytes) -> None:
        meeting = _meeting(phases[content[0] % len(phases) if content else 0])
        with _kept(meeting.clients[_HOLDER]):
            meeting.answer(_HOLDER, content[1:])

    return tuple(bytes([place]) + _meeting(phase).server.told(_HOLDER) for place, phase in enumerate(phases)), door


@_parser("messages")
def _requests(folder: Path) -> Made:
    """What a server asks a holder for, up to what secure aggregation reads of it."""
    places = Places(folder)
    honest = places.participants["h1"]

    def door(content: bytes) -> None:
        *_, first, told = honest._read(content)
        honest._parameters(first)
        unpack(told)

    return (places.coordinator.requests()["h1"],), door


@_parser("messages")
def _question(folder: Path) -> Made:
    """Up to the plan, as the route does; the framework tells in our shape what pydantic refuses."""
    house = folder / "curated"
    house.mkdir(exist_ok=True)
    dataset = read_policy(write_policy(house)).datasets["meters"]
    seeds = (
        b'{"measure": {"kind": "sum", "column": "kwh", "clip": [0.0, 3.0]}, "by": {"region": ["north", "south"]}, '
        b'"tuned_for": {"kind": "each_period"}, "epsilon": 0.5, "delta": 1e-7}',
        b'{"measure": {"kind": "count", "at_most": 1}, "tuned_for": {"kind": "rolling", "periods": 3}, "epsilon": 1, '
        b'"every": "1D", "start": "2026-01-01", "end": "2026-01-03", "max_periods": 2}',
        b'{"measure": {"kind": "histogram", "column": "kwh", "edges": [0, 1, 2]}, "epsilon": 0.5}',
        b'{"measure": {"kind": "sum", "column": "kwh", "clip": [0, 1]}, "block": {"statistic": "peak", "every": "1D"}, '
        b'"tuned_for": {"kind": "ewm", "alpha": 0.5}, "epsilon": 1}',
    )

    def door(content: bytes) -> None:
        if check_body(content) is not None:
            return
        try:
            question = QueryRequest.model_validate_json(content)
        except ValidationError:
            return
        grid = allowed_grid(dataset, every=question.every, start=question.start, end=question.end)
        check_expressions(dataset, where=question.where, columns=question.columns)
        query = ask(dataset.series(grid, max_periods=question.max_periods), question)
        workload: Workload = load(question.tuned_for.model_dump(exclude_none=True), Workload)
        check_allowed(dataset, query, tuned_for=workload, missing=question.missing is not None)
        plan = query.plan(epsilon=question.epsilon, delta=question.delta, tuned_for=workload)
        check_price(dataset, plan.design.cost)

    return seeds, door


# Records of people: messages of a live source, and tables.

_READER = Reader(
    Fields("at", user="who", value="kwh", group="site", id="id", timezone="Europe/Berlin"), groups=("north", "south")
)


def _check(batch: Batch) -> None:
    if batch.values is None or len(batch.times) != len(batch.values) or not np.all(np.isfinite(batch.values)):
        raise AssertionError("a batch holds what is no number")


def _read_source(file: Path, content: bytes, **layout: Any) -> None:
    file.write_bytes(content)
    source = FileSource(str(file), reader=_READER, **layout)
    source.begin("")
    source.read(1000, wait=0)
    source.close()


@_parser("records", secret=b"")
def _json_records(folder: Path) -> Made:
    one = b'{"at": "2026-01-01T06:00:00", "who": "7346281", "kwh": 1.5, "site": "north", "id": 1}'
    other = b'{"at": 1767225600.5, "who": 7346281, "kwh": 2, "site": "south", "id": "a"}'

    def door(content: bytes) -> None:
        _check(_READER.read([content]))
        _read_source(folder / "records.jsonl", content)

    return (one, b"[" + one + b"," + other + b"]", one + b"\n" + other + b"\n"), door


@_parser("records", secret=b"")
def _csv_records(folder: Path) -> Made:
    def door(content: bytes) -> None:
        header, _, rest = content.partition(b"\n")
        _check(_READER.read_csv(rest.splitlines(), loose(header).split(",")))
        _read_source(folder / "records.csv", content, layout="csv")

    seed = b'at,who,kwh,site,id\n2026-01-01T06:00,"7346281",1.5,north,1\n1767225600,b,2,south,"x, y"\n'
    return (seed,), door


@_parser("records", secret=b"")
def _line(_folder: Path) -> Made:
    """A line on the standard input of a stream."""
    seeds = (b"1,7346281", b"2026-01-01,1e5,x")
    return seeds, lambda content: number_in(loose(content).strip().split(","), 2)


@_parser("records", secret=b"")
def _people(folder: Path) -> Made:
    plan = folder / "people.toml"
    plan.write_text(f'{TOP}{MODEL}[holders.north]\ndata = "north.csv"\npeople = 50\n', encoding="utf-8")
    rows = "".join(f"7346281{person},{hour},{80 + hour}.5,36.9,{person}\n" for person in (0, 1) for hour in range(12))
    seed = f"patient,hour,pulse,temperature,label\n{rows}".encode()
    return (seed,), _into(folder / "north.csv", partial(read_people, read_plan(plan)))


@_parser("records", secret=b"")
def _table(folder: Path) -> Made:
    """A table of records as CSV, read as a release reads it."""
    table = folder / "table.csv"
    rows = "".join(f"2026-01-0{day}T01:00,7346281{day},{day}.5,north\n" for day in range(1, 5))
    seed = f"at,who,kwh,site\n{rows}".encode()
    table.write_bytes(seed)
    days: dict[str, Any] = {"every": "1D", "start": "2026-01-01", "end": "2026-01-05", "max_periods": 2}
    series = cdp.TimeSeries(str(table), time="at", user="who", **days, unit=cdp.User(), engine=DuckDB(threads=1))
    plan = series.sum("kwh", clip=(0.0, 5.0)).by(site=["north", "south"]).plan(epsilon=1.0)
    return (seed,), _into(table, lambda _: plan.origin.numbers(plan.design, key="key", progress=lambda _: None))


# What is kept from others: keys, sealed states, addresses with passwords.


@_parser("secrets", secret=b"")
def _keys(folder: Path) -> Made:
    file = folder / "keys.json"
    file.unlink(missing_ok=True)
    keys = create_keys(file, "an id").keys

    def read(file: Path) -> None:
        if (found := read_keys(file)) is not None:
            found.keys.unseal(keys.seal(b"x", "y"), "y")
            found.keys.sign(b"x")
            found.marks.read()

    return (file.read_bytes(), b'{"signing": "7346281=", "sealing": "7346281="}'), _into(file, read)


@_parser("secrets")
def _witness(folder: Path) -> Made:
    read = lambda file: FileWitness(file).saw("a", FileWitness(file).newest("a") + 1)  # noqa: E731
    return (b'{"a": 3, "b": 5}',), _into(folder / "witness.json", read)


@_parser("secrets", secret=b"")
def _identity(folder: Path) -> Made:
    file = folder / "identity.pem"
    file.unlink(missing_ok=True)
    Identity.create().save(file)
    return (file.read_bytes(),), _into(file, Identity.load)


@_parser("secrets")
def _checkpoint(folder: Path) -> Made:
    file = folder / "checkpoint.npz"
    save_checkpoint(file, "task", 3, np.zeros(4, dtype=np.float32))
    return (file.read_bytes(),), _into(file, lambda file: load_checkpoint(file, "task"))


@_parser("secrets", secret=b"")
def _sealed(_folder: Path) -> Made:
    keys = Keys.create()
    return (keys.seal(MARK, "stream").encode(),), lambda content: keys.unseal(loose(content), "stream")


@_parser("secrets", secret=b"")
def _packed(_folder: Path) -> Made:
    """A stream's state once it is unsealed."""
    design = design_windowed(Uniform(), unit=cdp.Window(3), change=1.0, epsilon=1.0)
    form = framed_codec(WindowedDesign, lambda _: b"", lambda _, memory: memory)
    return (frame_head({"design": dump(design), "seeded": True}) + b"memory " + MARK,), form.decode


@_parser("secrets", secret=b":" + MARK + b"@")
def _address(folder: Path) -> Made:
    """Addresses of databases lead to this machine alone, where nothing listens; paths lead into the folder."""
    nowhere = {"PGHOSTADDR": "127.0.0.1", "PGPORT": "1", "PGCONNECT_TIMEOUT": "2"}
    inside = folder / "addresses"
    inside.mkdir(exist_ok=True)

    def door(content: bytes) -> None:
        text = loose(content)
        if "://" not in text:
            text = f"{inside}/{text.replace('/', '_').replace(MARK.decode(), '')}"
        try:
            with patch.dict(os.environ, nowhere):
                cdp.Ledger(text, timeout=0.1).close_connection()
        finally:
            for made in inside.iterdir():
                made.unlink()

    return (b"postgresql://ann:7346281@localhost:1/budget?application_name=x", b"mysql://a", b"budget.db"), door


# Small texts that people write: calendars, durations, time zones, and the words of commands.


def _four(content: bytes) -> list[str]:
    return [*loose(content).split("\n"), "", "", "", ""][:4]


@_parser("words")
def _calendar(_folder: Path) -> Made:
    def door(content: bytes) -> None:
        every, start, end, _ = _four(content)
        if every.endswith(("D", "W")) and not (start.startswith(("19", "20")) and end.startswith(("19", "20"))):
            return  # thousands of years of days are computed day by day: right, and seconds long
        made = Calendar(*_four(content))
        if len(made) < 5_000:
            str(made), made.starts(), made.most_within("1D"), made.span

    hours, months = b"1h\n2026-10-25\n2026-10-26\nEurope/Berlin", b"1mo\n2026-01-01T00:00+00:00\n2027-01-01\nUTC"
    return (hours, months, b"1W\n2026-01-05\n2026-02-02\nPacific/Apia"), door


@_parser("words")
def _live_windows(_folder: Path) -> Made:
    def door(content: bytes) -> None:
        every, start, timezone, lateness = _four(content)
        made = Windows(every, start, timezone=timezone, lateness=lateness)
        made.closes(0), made.closes(min(1_000, made.length) - 1)

    return (b"1min\n2026-01-01\nUTC\n10s", b"1mo\n2026-01-28\nEurope/Berlin\n1h"), door


@_parser("words")
def _duration(_folder: Path) -> Made:
    def door(content: bytes) -> None:
        cdp.UserPeriod(every=loose(content))
        parse_duration("lateness", loose(content))

    return (b"1h", b"30min", b"15s", b"1D"), door


_PARSERS: tuple[tuple[Callable[[str], object], str], ...] = (
    (parse_unit, "window:24/replace swap:3 history:same user_period:1D user"),
    (parse_workload, "rolling:7 ewm:0.1 running_total"),
    (parse_share, "absorption uniform"),
    (parse_noise, "laplace"),
    (parse_protocol, "slots:90/3 memoised:90/2 fresh:30 window_budget:7"),
    (parse_release, "gaussian:sigma=50,times=1440 pure:epsilon=1 laplace:scale=2"),
    (parse_query, "sum mean weighted:1,2 max"),
    (parse_ages, "1,2,3 5"),
    (parse_each_age, "3 0,2,5"),
    (parse_turns, "1 0.5,1"),
    (lambda text: parse_cuts([text], None, 2), "60,100"),
    (lambda text: parse_hears([text], ["a", "b"]), "a=a,b"),
    (lambda text: parse_analysis(text, 20), "relative:1,1,1,1 counting:1000,0.2,0.1 average:24,4"),
    (parse_choice_mechanism, "exponential noisy-max"),
    (parse_smooth, "growing:whole walk"),
)


@_parser("words")
def _command_words(_folder: Path) -> Made:
    """The first byte names the parser."""
    seeds = (bytes([place]) + word.encode() for place, (_, text) in enumerate(_PARSERS) for word in text.split())
    return tuple(seeds), lambda content: _PARSERS[content[0] % len(_PARSERS) if content else 0][0](loose(content[1:]))


KINDS: dict[str, tuple[str, ...]] = {kind: tuple(names) for kind, names in _KINDS.items()}
NAMES: tuple[str, ...] = tuple(_MAKERS)
