"""Calls of the public API that are right, and things that people and programs put into them by mistake."""

from __future__ import annotations

import dataclasses
import datetime
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

import chronodp as cdp
from chronodp import (
    accounting,
    alerts,
    audit,
    correlated,
    dossier,
    engines,
    federated,
    ledger as ledgers,
    live,
    local,
    postprocess,
    privacy,
    schemas,
    selection,
    series,
    service,
    spectrum,
    state_space,
    temporal,
)
from chronodp.federated import aggregation, models, training
from chronodp.live import sinks, sources
from chronodp.privacy import Bounds, Calendar, GaussianCost, Grid, Guarantee, LaplaceCost, PureCost, SampledGaussianCost
from chronodp.randomness import Entropy, seeded
from chronodp.series import windowed
from chronodp.series.measures.choices import histogram_of, mean_of
from tests.federated.crowd import PeopleIndex, Toy

__all__ = ["FREE", "MARK", "ODD", "ROWS", "Call", "address_of", "spending"]

MARK = "7346281"
"""Stands in private data, and must stand in no message."""
_SECRET = float(MARK)


@dataclass(frozen=True)
class Call:
    """A public function or class, and arguments that it takes."""

    door: Callable[..., Any]
    arguments: Mapping[str, Any]


def _call(door: Any, **said: Any) -> Call:
    """Return a call with every argument of a usual name, and those that are said."""
    named = [one.name for one in inspect.signature(door).parameters.values() if one.kind is not one.VAR_KEYWORD]
    return Call(door, {name: _USUAL[name] for name in named if name in _USUAL} | said)


def _values(**said: Any) -> dict[str, Any]:
    return said


def address_of(door: Any) -> str:
    """Return where something public is defined, room first."""
    door = door.func if isinstance(door, partial) else door
    door = getattr(door, "__func__", door)
    return f"{door.__module__}.{door.__qualname__}".removeprefix("chronodp.")


def _named(*calls: Call) -> dict[str, Call]:
    return {address_of(call.door): call for call in calls}


def _same(value: Any) -> Any:
    return value


ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2, 2**63, 2**70, -(10**400), 0.0, -0.5, math.nan, math.inf, -math.inf, 1e308),
    *(5e-324, "", " ", "1", "nan", "no such thing", "\x00", "\ud800", "é" * 5_000, "[bold]x[/]", b"", b"\xff"),
    *((), (0.0,), (1.0, 0.0), (math.nan, math.nan), [], [None], ["a", 1], [[1], [1, 2]], [math.inf], {}),
    *({"a": 1}, set(), object(), range(3), 1j, Decimal("1.5"), Fraction(1, 3), np.float32(0.5), np.int64(3)),
    *(np.array([]), np.array([math.nan]), np.array(["a"]), np.array(1.0), np.zeros((2, 0)), np.zeros((2, 2, 2))),
    *(pd.DataFrame(), pd.Series([1.0, None]), pd.NaT, datetime.date(2026, 1, 1), datetime.timedelta(days=1)),
    *(datetime.datetime(1, 1, 1, tzinfo=datetime.UTC), cdp.User, cdp.User(), cdp.RunningTotal(), _same),
    *(Callable,),
)

ROWS = pd.DataFrame(
    {
        "at": pd.date_range("2026-01-01", periods=30, freq="3h", tz="UTC"),
        "who": [f"person-{MARK}-{number % 7}" for number in range(30)],
        "site": ["north", "south"] * 15,
        "kwh": [_SECRET] * 30,
    }
)
_TABLE = cdp.TimeSeries(
    ROWS, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-05", unit=cdp.User(), max_periods=2
)
_TOTALS = cdp.Aggregate([_SECRET, 2.0, 3.0], change=5.0, unit=cdp.User(), max_periods=2)
_CHAIN = correlated.CouplingMarkovChain(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([[1.0]]))
_SYSTEM = state_space.StateSpace([[0.9]], [[1.0]], [[0.1]], [[0.5]])
_DEVICES = local.LocalPlan("mode", local.RandomizedResponse(1.0, 4), local.Slots(4, 1))
_EXAMPLE = [_SECRET, 1.0, 2.0, 3.0]

_CROWD = PeopleIndex(3)
_TASK = federated.Task(rounds=2, size=4, model="toy", clip=1.0, bits=32)
_COLUMN = models.Column("pulse", 40.0, 160.0)
_INPUTS = models.Inputs((_COLUMN,), 4)
_MODEL = models.ModelDesign(_INPUTS, models.Risk(0.5), models.Linear(), 0)
_STEP = training.StepDesign(clip=1.0, sigma=1.0, rate=0.1)
_WINDOWS = live.Windows("1h", "2026-01-01")
_LIMITS = live.Limits(cdp.User(), _WINDOWS, clip=(0.0, 1.0), max_periods=2)
_READER = live.Reader(live.Fields("at", user="who", value="kwh"))


_COST = GaussianCost(sensitivity=1.0, sigma=2.0)
_ALERT = alerts.design_alert(above=5.0, change=1.0, unit=cdp.Event(), max_alerts=2, epsilon=1.0)
_CLAIM = privacy.Claim(cdp.Event(), PureCost(1.0), "mine")


def _mine(data: int, *, entropy: Entropy) -> int:
    """A mechanism of a user's own: a coin that tells the truth a little more often."""
    return int(data ^ int(entropy.coins(1, 4, 1)[0]))


_SUBJECT: dict[str, Any] = {
    "name": "mine",
    "mechanism": _mine,
    "neighbours": ((0, 1), (1, 0)),
    "claim": privacy.Claim(cdp.Event(), PureCost(1.2), "mine"),
    "epsilon": 1.2,
    "delta": 0.0,
    "checks": (audit.Enumerated(),),
}

_USUAL: dict[str, Any] = {
    **_values(above=5.0, accepts=(), adversary="knows_others", ages=1, aggregation="secure", alert=0.5),
    **_values(allowance=audit.Allowance(samples=100, runs=100), alpha=0.1, among=3, architecture=models.Linear()),
    **_values(argument="docs", assume="even loss", assumption=privacy.Assumption("a", "b"), at_most=2, attempt=0),
    **_values(autoregressive=1, background=np.eye(4), begun=0, below=None, bend=1.0, between=(1.0, 2.0), beyond=2.0),
    **_values(bits=32, block=4, candidates=["a", "b"], case=audit.AuditCase(**_SUBJECT), cause=[[1.0]]),
    **_values(certificates=None, change=1.0, changes="any", checkpoint=None, choices=4, claim=_CLAIM, client="me"),
    **_values(clip=(0.0, 1.0), column="kwh", columns=1, context=_CROWD.context, cost=PureCost(1.0), costs=_COST),
    **_values(count=3, coupling=np.array([[1.0]]), covariance=np.eye(3), data=ROWS, dates=None, delay=1.0, delta=1e-6),
    **_values(design=_ALERT, deviation=1.0, differences=0, drop=None, edges=(0.0, 1.0), empty=1.0, end="2026-01-05"),
    **_values(engine=None, entropy=seeded(1), epsilon=1.0, error=0.2),
    **_values(estimates=local.estimate(_DEVICES, local.Collector(_DEVICES).tally), every="1h", example=_EXAMPLE),
    **_values(expected=PureCost, false_alarms=0.1, features=4, fields=live.Fields("at"), grid=16, group="site"),
    **_values(groups=("north", "south"), guarantee=privacy.Guarantee(cdp.Event(), 1.0), happened=[0.0, 1.0]),
    **_values(harmonic=2, head=None, hears=np.array([[True]]), held=cdp.User(), hidden=4),
    **_values(histories=np.zeros((3, 4), dtype=int), holders=[Toy("north", _TASK), Toy("south", _TASK)], horizon=4),
    **_values(host="127.0.0.1", id="id", identities=_CROWD.identities, identity=_CROWD.identities["h01"], ids=False),
    **_values(initial_covariance=[[1.0]], initial_mean=[0.0], inputs=_INPUTS, inside=np.eye(2), item=PureCost(1.0)),
    **_values(iterations=5, k=2, keep_total=True, kernel=3, keys=1, l1=1.0, l2=1.0, labels=None, largest=16),
    **_values(lateness="10s", law="gaussian", layers=1, layout="jsonl", least=0.0, length=4, level=0.9, levels=(2, 4)),
    **_values(limits=_LIMITS, longest=64, loss=1.0, loud=9.0, lower=40.0, max_alerts=2, max_groups=1, max_keys=3),
    **_values(max_periods=2, max_rows=3, max_values=2, measurement_noise=[[0.5]]),
    **_values(mechanism=selection.PermuteAndFlip(), memory=2**32, method=postprocess.NonNegative(), missing=1.0),
    **_values(model=_CHAIN, monotone=False, most=1.0, motion=postprocess.RandomWalk(1.0), moving_average=1),
    **_values(noise=alerts.Exponential(), observation=[[1.0]], of="rows", oldest=3, options={}, other_share=0.25),
    **_values(outcome=models.Risk(0.5), outside=2 * np.eye(2), owner=None, parameters=bytes(32), part=(0, 1)),
    **_values(password="b", path="nothing.toml", people=True, period="", periods=7, permanent_epsilon=1.0),
    **_values(plan=_DEVICES, port=1, power=0.9, precision="p", prevalence=0.5, prior=0.5, process_noise=[[0.1]]),
    **_values(processing=(), protocol=local.Fresh(2), public_key=None, purpose="", queries={"people": _TABLE.count()}),
    **_values(query=correlated.Sum(), quiet=1.0, rate=0.1, reader=_READER, relation="replace", released=_EXAMPLE),
    **_values(releases=1, renews=None, repeated=1.0, reports=2, reserve=0.0, resolution=1024, risks=[0.1, 0.9]),
    **_values(rmse=2.0, roster=_CROWD.terms.roster, round_number=1, rounds=2, rule="gaussian", run="test", runs=1),
    **_values(samples=100, scale=2.0, scores=(0.0, 1.0), seconds=None, secure=False, seed=1, sensitivity=1.0),
    **_values(sequences=3, series=np.array([[0], [1], [1], [0]]), servers="127.0.0.1:1", share=0.1, sigma=2.0),
    **_values(signed=True, silent=None, site=["north", "south"], size=4, skew="1min", slack=1e-6, slots=range(4)),
    **_values(snippet=(0, 1), span=2, speed=2.0, start="2026-01-01", state=alerts.start(_ALERT, seeded(1))),
    **_values(statement="b", states=2, step=0.5, steps=4, tally=local.Collector(_DEVICES).tally, targets=None),
    **_values(task=_TASK, terms=_CROWD.terms, text='{"kind":"pure","epsilon":1}', theorem="t", threads=1, threshold=2),
    **_values(time="at", time_unit="s", timeout=1.0, times=3, timezone="UTC", token="7346281", topic="out"),
    **_values(total=None, totals=_EXAMPLE, trace=_EXAMPLE, transition=[[0.9]]),
    **_values(transitions=np.array([[0.9, 0.2], [0.1, 0.8]]), truth=1.0, tuned_for=cdp.RunningTotal()),
    **_values(unit=cdp.User(), unit_costs=None, upper=160.0, url="http://127.0.0.1:1", user="who", username="a"),
    **_values(utilities=selection.Utilities([_SECRET, 1.0], change=1.0), value="kwh", value_epsilon=0.0),
    **_values(values=_EXAMPLE, variance=1.0, wanted=spectrum.Lowest(2), warm_up=2, weights={"people": 1.0}),
    **_values(whole=False, window=4, windows=_WINDOWS, within=1, workload=cdp.RunningTotal()),
}
"""A right value for every parameter, by its name; ``_call`` says what is right elsewhere."""

FREE = _named(
    *map(_call, (cdp.plan_together, cdp.Rolling, cdp.Ewm, cdp.Hierarchy, cdp.Event, cdp.User, Grid, Guarantee)),
    *map(_call, (GaussianCost, LaplaceCost, PureCost, seeded, temporal.BlockShuffle)),
    *map(_call, (temporal.BlockShuffle(4, 1.0).perturb, temporal.NoisySort, temporal.Backward, temporal.Forward)),
    *map(_call, (correlated.CouplingMarkovChain, correlated.leakage, correlated.fit, correlated.tune_affine)),
    *map(_call, (correlated.compare_definitions, cdp.Find, cdp.Missing, local.RandomizedResponse)),
    *map(_call, (local.OptimizedUnary, local.Piecewise, local.LaplaceNumber, local.Slots, local.simulate)),
    *map(_call, (postprocess.smooth, spectrum.Spectrum, state_space.StateSpace, aggregation.AggregationServer)),
    *map(_call, (partial(aggregation.aggregate, vector_of=_CROWD.vectors.__getitem__), models.Risk)),
    *map(_call, (models.Recurrent, models.Convolution, training.area_under_curve, live.Fields, live.Reader)),
    *map(_call, (live.Windows, sinks.KafkaSink, sinks.MqttSink, service.Client, service.read_policy)),
    *map(_call, (training.read_plan, privacy.ApproximateCost, privacy.AssumedCost, privacy.BoundedRangeCost)),
    *map(_call, (privacy.FailureCost, privacy.RepeatedCost, SampledGaussianCost, privacy.History)),
    *map(_call, (privacy.Sensitivity, privacy.dump, privacy.load, accounting.adversary.advantage)),
    *map(_call, (accounting.adversary.odds_tail, accounting.adversary.posterior)),
    *map(_call, (accounting.adversary.total_variation, accounting.gaussian.mu, accounting.gaussian.mu_for)),
    *map(_call, (accounting.gaussian.sigma, accounting.loss, accounting.gather, accounting.renyi.epsilon)),
    *map(_call, (accounting.zcdp.epsilon, accounting.zcdp.rho, alerts.best_split, alerts.start, alerts.advance)),
    *map(_call, (audit.judge, audit.attacks.MembershipTest, audit.attacks.MembershipTest(np.eye(4)).log_ratio)),
    *map(_call, (correlated.gaussian_information, correlated.k_sensitivity, correlated.Maximum, correlated.Mean)),
    *map(_call, (correlated.Sum, postprocess.project, postprocess.clip_at_zero, postprocess.clipping_bias)),
    *map(_call, (postprocess.round_whole, postprocess.grow, spectrum.OnlyHarmonics, local.Hybrid, local.OneBit)),
    *map(_call, (local.SymmetricUnary, local.Fresh, local.Memoised, local.estimate, selection.Order)),
    *map(_call, (selection.orders_up_to, selection.MonotoneUtilities, selection.MaximumLikelihood)),
    *map(_call, (temporal.choose_threshold, temporal.derived_budget, temporal.dispatch_probabilities)),
    *map(_call, (temporal.recommend, series.Sum, series.Mean, series.Variance, series.RowMean, series.RowHistogram)),
    *map(_call, (histogram_of, state_space.CausedChange, state_space.MeasuredChange, temporal.UnitCosts)),
    _call(cdp.TimeSeries, every="1D", columns=None),
    _call(_TABLE.sum, clip=(0.0, 5.0)),
    _call(_TABLE.count, at_most=1),
    _call(_TABLE.mean, clip=(0.0, 5.0), people=None),
    _call(_TABLE.variance, clip=(0.0, 5.0)),
    _call(_TABLE.histogram, edges=[0.0, 1.0, 5.0]),
    _call(_TABLE.count().by, site=["north", "south"]),
    _call(_TABLE.count().plan, missing=None),
    _call(cdp.Aggregate, change=5.0, name="load"),
    _call(_TOTALS.plan, tuned_for=cdp.EachPeriod()),
    _call(cdp.compare, horizon=8),
    _call(cdp.solve, workload=cdp.EachPeriod(), unit=cdp.Event(), horizon=8, delta=0.0, epsilon=None, max_periods=None),
    _call(cdp.Filter, weights=(1.0, 0.5)),
    _call(cdp.UserPeriod, every="1D"),
    _call(cdp.Window, periods=3, timezone=None),
    _call(privacy.price, wanted=cdp.Event()),
    _call(Bounds, groups=1),
    _call(Calendar, end="2026-01-02"),
    _call(accounting.gaussian.epsilon, costs=GaussianCost(sensitivity=1.0, sigma=2.0)),
    _call(accounting.compare, costs=PureCost(1.0), slack=None),
    _call(alerts.Comparator, unit=cdp.Event()),
    _call(alerts.plan_alert, threshold=5.0, unit=cdp.Event()),
    _call(selection.Utilities, values=[_SECRET, 1.0]),
    _call(selection.design_choice, unit=cdp.Event()),
    _call(temporal.Threshold, start="printed"),
    _call(temporal.blur_times, mechanism=temporal.BlockShuffle(4, 1.0), values=["kwh"], start=None, end=None),
    _call(correlated.simulate, start=None),
    _call(cdp.Norm, most=2.0),
    _call(local.LocalHashing, choices=40),
    _call(local.RandomizedResponse(1.0, 4).perturb, values=[1, 2]),
    _call(local.Piecewise(1.0, (0.0, 1.0)).perturb, values=[0.5]),
    _call(local.LocalPlan, name="x", mechanism=local.OneBit(1.0)),
    _call(local.Collector, candidates=None),
    _call(local.recommend, clip=None),
    _call(postprocess.kalman_filter, deviation=np.ones(4)),
    _call(windowed.rehearse, example=2 * _EXAMPLE, window=2, delta=0.0, entropy=None),
    _call(spectrum.Spectrum(_EXAMPLE, change=1.0, unit=cdp.Event()).plan, delta=0.0),
    _call(state_space.design_filter, model=_SYSTEM, clip=3.0, delta=0.0),
    _call(federated.Task, model="toy", clip=1.0),
    _call(federated.Federation, weights={"north": 1.0, "south": 2.0}, start=np.zeros(4)),
    _call(aggregation.Terms, task="toy", threshold=3, size=5),
    _call(aggregation.Context, run=_CROWD.terms.digest),
    _call(aggregation.usual_threshold, holders=3),
    _call(aggregation.AggregationClient, name="h01"),
    _call(models.Column, name="pulse"),
    _call(models.Inputs, columns=(_COLUMN,)),
    _call(models.Forecast, column=_COLUMN, horizon=2),
    _call(models.ModelDesign, start=0),
    _call(training.StepDesign, clip=1.0, sigma=1.0),
    _call(live.Limits, at_most=None, groups=("north",)),
    _call(live.stream_design, share=None),
    _call(live.alert_design, above=5.0, max_alerts=1, epsilon=1.0),
    _call(live.terms_of, level="0.95"),
    _call(live.ScaledClock, start=0),
    _call(sources.FileSource, path="rows.jsonl"),
    _call(sinks.CsvSink, path="out.csv"),
    _call(sinks.ParquetSink, path="out"),
    _call(sources.KafkaSource, topic="in", group="me"),
    _call(sources.MqttSource, topic="in"),
    _call(dossier.Owner, **{field.name: field.default for field in dataclasses.fields(dossier.Owner)}),
    _call(dossier.verify_dossier, folder="dossier"),
    _call(schemas.json_schema, name="plan"),
    _call(privacy.Assumption, name="a"),
    _call(privacy.RandomizedResponseCost, choices=2),
    _call(privacy.SequenceCost, costs=(PureCost(1.0),)),
    _call(privacy.Certificate, mechanism="m", seeded=False),
    _call(privacy.Claim, unit=cdp.Event()),
    _call(privacy.Swap, block=3),
    _call(accounting.advanced.epsilon, costs=PureCost(0.1)),
    _call(accounting.advanced.compose, epsilon=0.1, delta=0.0),
    _call(accounting.basic.epsilon, costs=PureCost(1.0), delta=0.0),
    _call(accounting.group, steps=2),
    _call(accounting.optimal.epsilon, costs=PureCost(0.1)),
    _call(accounting.optimal.compose, epsilon=0.1, delta=0.0),
    _call(alerts.Split, threshold=0.5),
    _call(alerts.design_alert, unit=cdp.Event()),
    _call(audit.Allowance, runs=100, error=1e-6),
    _call(audit.AuditCase, **_SUBJECT),
    _call(audit.attacks.membership_advantages, sigma=1.0),
    _call(correlated.snippet_entropy, model=correlated.CouplingMarkovChain([[0.9, 0.2], [0.1, 0.8]], [[1.0]])),
    _call(correlated.LeakageModel, model=correlated.CouplingMarkovChain(np.eye(2), np.eye(1))),
    _call(correlated.WeightedSum, weights=(1.0, 2.0)),
    _call(correlated.Several, queries=(correlated.Sum(),)),
    _call(postprocess.kalman_smoother, deviation=np.ones(4)),
    _call(postprocess.log_likelihood, deviation=np.ones(4)),
    _call(spectrum.Lowest, count=2),
    _call(spectrum.Strongest, count=1, share=0.5),
    _call(spectrum.transform, series=_EXAMPLE),
    _call(spectrum.design_spectrum, horizon=8, delta=0.0),
    _call(ledgers.Budget, timezone=None),
    _call(local.WindowAsked, window=3),
    _call(local.WindowBudget, window=3),
    _call(local.WindowPopulation, window=3),
    _call(local.best_window, most=3),
    _call(local.project_rows, values=[[0.5, 0.6]]),
    _call(selection.Blocks, length=2),
    _call(selection.Panel, series=[_EXAMPLE]),
    _call(selection.ClippedRegret, clip=1.0),
    _call(windowed.design_windowed, mechanism=windowed.Uniform(), unit=cdp.Window(3), delta=0.0),
    _call(temporal.frequency_counting, length=8, share=0.5),
    _call(temporal.moving_average, length=8),
    _call(series.Count, at_most=1),
    _call(series.Discover, share=0.2, most=9),
    _call(series.PanelMean, people=3),
    _call(series.Histogram, at_most=1),
    _call(mean_of, people=None),
    _call(series.Total, name="total"),
    _call(series.Noise, law="laplace", scale=1.0),
    _call(postprocess.RandomWalk, step=1.0),
    _call(postprocess.Trend, step=1.0),
    _call(engines.DuckDB, folder=None),
    _call(ledgers.check_ledger, ledger=None),
)


def spending(ledger: cdp.Ledger) -> dict[str, Call]:
    """Return calls that a ledger pays; each is refused under a name that was used before, so names are given anew."""
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "meters", "analyst": "", "entropy": seeded(1)}
    few: dict[str, Any] = {**paid, "epsilon": 1e-3}
    row: dict[str, Any] = {**few, "change": 1.0, "unit": cdp.Event()}
    totals = cdp.Aggregate(_EXAMPLE, change=1.0, unit=cdp.Event())
    system = state_space.design_filter(_SYSTEM, change=1.0, unit=cdp.Event(), epsilon=1e-3)
    wards, sequences = (few | {"dataset": name} for name in ("wards", "sequences"))
    times = temporal.BlockShuffle(4, 1e-3)
    return _named(
        _call(ledger.open, dataset="others", accepts=(), renews=None, timezone=None),
        _call(ledger.spend, dataset="meters", cost=PureCost(1e-9), unit=cdp.Event(), analyst="", purpose="x"),
        _call(ledger.allot, dataset="meters", analyst="ana", epsilon=0.5, delta=0.0, reserve=None, rule=None),
        _call(ledger.status, dataset="meters", analyst=""),
        _call(dossier.write_dossier, ledger=ledger, dataset="meters", out="dossier", request=None),
        _call(totals.plan(epsilon=1e-3).release, request="one", dates=None, **paid),
        _call(cdp.Stream, horizon=8, delta=0.0, name="stream", max_periods=None, **row),
        _call(windowed.WindowedStream, mechanism=windowed.Sample(), window=2, delta=0.0, name="windowed", **wards),
        _call(cdp.Alert, name="alert", noise=None, **row),
        _call(selection.choose, unit=cdp.Event(), request="two", mechanism=None, **few),
        _call(state_space.PrivateFilter, design=system, name="filter", **paid),
        _call(temporal.BlurredStream, mechanism=times, name="blurred", **paid | {"dataset": "times"}),
        _call(correlated.fit_privately, request="fit", **sequences),
        _call(correlated.Fran, name="fran", unit=cdp.Window(1, "replace"), **sequences),
    )
