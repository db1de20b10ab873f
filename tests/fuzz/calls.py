"""Calls of the public API that are right; a fuzzer puts wrong things in the place of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import chronodp as cdp
from chronodp import alerts, correlated, local, postprocess, selection, spectrum, state_space, temporal
from chronodp.dossier import write_dossier
from chronodp.privacy import Bounds, Calendar, GaussianCost, Grid, Guarantee, LaplaceCost, PureCost
from chronodp.randomness import seeded
from chronodp.series import windowed

__all__ = ["FREE", "MARK", "Call", "spending"]

MARK = "7346281"
"""Stands in private data, and must stand in no message."""
_SECRET = float(MARK)


@dataclass(frozen=True)
class Call:
    """A public function or class, and arguments that it takes."""

    door: Callable[..., Any]
    arguments: Mapping[str, Any]


def _call(door: Callable[..., Any], **arguments: Any) -> Call:
    return Call(door, arguments)


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

FREE: dict[str, Call] = {
    "TimeSeries": _call(
        cdp.TimeSeries,
        data=ROWS,
        time="at",
        user="who",
        every="1D",
        start="2026-01-01",
        end="2026-01-05",
        timezone="UTC",
        unit=cdp.User(),
        max_periods=2,
        engine=None,
    ),
    "TimeSeries.sum": _call(_TABLE.sum, column="kwh", clip=(0.0, 5.0)),
    "TimeSeries.count": _call(_TABLE.count, at_most=1),
    "TimeSeries.mean": _call(_TABLE.mean, column="kwh", clip=(0.0, 5.0), of="rows", at_most=2),
    "TimeSeries.variance": _call(_TABLE.variance, column="kwh", clip=(0.0, 5.0)),
    "TimeSeries.histogram": _call(_TABLE.histogram, column="kwh", edges=[0.0, 1.0, 5.0], of="rows", at_most=2),
    "Query.by": _call(_TABLE.count().by, site=["north", "south"], max_groups=1),
    "Query.plan": _call(_TABLE.count().plan, epsilon=1.0, delta=1e-6, tuned_for=cdp.RunningTotal()),
    "Aggregate": _call(
        cdp.Aggregate,
        totals=_EXAMPLE,
        change=5.0,
        unit=cdp.User(),
        max_periods=2,
        every="1h",
        start="2026-01-01",
        timezone="UTC",
        name="load",
    ),
    "Aggregate.plan": _call(_TOTALS.plan, epsilon=1.0, delta=1e-6, tuned_for=cdp.EachPeriod()),
    "plan_together": _call(
        cdp.plan_together, queries={"people": _TABLE.count()}, epsilon=1.0, delta=1e-6, weights={"people": 1.0}
    ),
    "compare": _call(
        cdp.compare, workload=cdp.RunningTotal(), unit=cdp.User(), horizon=8, max_periods=2, epsilon=1.0, delta=1e-6
    ),
    "solve": _call(cdp.solve, workload=cdp.EachPeriod(), unit=cdp.Event(), rmse=2.0, horizon=8, delta=0.0, change=1.0),
    "Rolling": _call(cdp.Rolling, periods=7),
    "Ewm": _call(cdp.Ewm, alpha=0.1),
    "Filter": _call(cdp.Filter, weights=(1.0, 0.5)),
    "Hierarchy": _call(cdp.Hierarchy, levels=(2, 4)),
    "Event": _call(cdp.Event, relation="replace"),
    "User": _call(cdp.User, relation="replace"),
    "UserPeriod": _call(cdp.UserPeriod, every="1D", relation="replace"),
    "Window": _call(cdp.Window, periods=3, relation="replace"),
    "price": _call(cdp.privacy.price, held=cdp.User(), wanted=cdp.Event(), max_rows=3, horizon=4, span=2),
    "Bounds": _call(Bounds, horizon=4, max_periods=2, max_groups=1),
    "Calendar": _call(Calendar, every="1h", start="2026-01-01", end="2026-01-02", timezone="UTC"),
    "Grid": _call(Grid, step=0.5),
    "Guarantee": _call(Guarantee, unit=cdp.User(), epsilon=1.0, delta=1e-6),
    "GaussianCost": _call(GaussianCost, sensitivity=1.0, sigma=2.0),
    "LaplaceCost": _call(LaplaceCost, sensitivity=1.0, scale=2.0),
    "PureCost": _call(PureCost, epsilon=1.0),
    "gaussian.epsilon": _call(
        cdp.accounting.gaussian.epsilon, costs=GaussianCost(sensitivity=1.0, sigma=2.0), delta=1e-6
    ),
    "accounting.compare": _call(cdp.accounting.compare, costs=PureCost(1.0), delta=1e-6, slack=1e-7),
    "seeded": _call(seeded, seed=1),
    "Comparator": _call(alerts.Comparator, above=5.0, change=1.0, unit=cdp.Event(), epsilon=1.0, step=0.5),
    "plan_alert": _call(
        alerts.plan_alert,
        quiet=1.0,
        loud=9.0,
        threshold=5.0,
        change=1.0,
        unit=cdp.Event(),
        max_alerts=2,
        false_alarms=0.1,
        power=0.9,
        steps=4,
        within=1,
        monotone=False,
        value_epsilon=0.0,
    ),
    "Utilities": _call(selection.Utilities, values=[_SECRET, 1.0], change=1.0),
    "design_choice": _call(
        selection.design_choice,
        mechanism=selection.PermuteAndFlip(),
        candidates=["a", "b"],
        unit=cdp.Event(),
        change=1.0,
        monotone=False,
        epsilon=1.0,
        purpose="",
    ),
    "BlockShuffle": _call(temporal.BlockShuffle, block=4, epsilon=1.0),
    "BlockShuffle.perturb": _call(temporal.BlockShuffle(4, 1.0).perturb, values=_EXAMPLE, entropy=seeded(1)),
    "NoisySort": _call(temporal.NoisySort, window=4, epsilon=1.0),
    "Backward": _call(temporal.Backward, window=4, epsilon=1.0),
    "Forward": _call(temporal.Forward, window=4, epsilon=1.0),
    "Threshold": _call(temporal.Threshold, window=4, epsilon=1.0, start="printed"),
    "blur_times": _call(
        temporal.blur_times,
        data=ROWS,
        mechanism=temporal.BlockShuffle(4, 1.0),
        time="at",
        user="who",
        values=["kwh"],
        start=None,
        end=None,
        entropy=seeded(1),
    ),
    "CouplingMarkovChain": _call(
        correlated.CouplingMarkovChain, transitions=np.array([[0.9, 0.2], [0.1, 0.8]]), coupling=np.array([[1.0]])
    ),
    "leakage": _call(
        correlated.leakage,
        model=_CHAIN,
        query=correlated.Sum(),
        ages=1,
        epsilon=1.0,
        adversary="knows_others",
        releases=1,
        targets=None,
    ),
    "fit": _call(correlated.fit, series=np.array([[0], [1], [1], [0]]), states=2, hears=np.array([[True]])),
    "tune_affine": _call(correlated.tune_affine, model=_CHAIN, query=correlated.Sum(), error=0.2, oldest=3),
    "compare_definitions": _call(
        correlated.compare_definitions, model=_CHAIN, query=correlated.Sum(), ages=1, epsilon=1.0
    ),
    "simulate": _call(correlated.simulate, model=_CHAIN, length=4, seed=1, runs=1, warm_up=2, start=None),
    "Find": _call(cdp.Find, share=0.1, between=(1.0, 2.0)),
    "Missing": _call(cdp.Missing, share=0.1, assume="even loss"),
    "Norm": _call(cdp.Norm, most=2.0, signed=True),
    "RandomizedResponse": _call(local.RandomizedResponse, epsilon=1.0, choices=4),
    "OptimizedUnary": _call(local.OptimizedUnary, epsilon=1.0, choices=4),
    "LocalHashing": _call(local.LocalHashing, epsilon=1.0, choices=40),
    "Piecewise": _call(local.Piecewise, epsilon=1.0, clip=(0.0, 1.0), grid=16),
    "LaplaceNumber": _call(local.LaplaceNumber, epsilon=1.0, clip=(0.0, 1.0), grid=16),
    "RandomizedResponse.perturb": _call(local.RandomizedResponse(1.0, 4).perturb, values=[1, 2], entropy=seeded(1)),
    "Piecewise.perturb": _call(local.Piecewise(1.0, (0.0, 1.0)).perturb, values=[0.5], entropy=seeded(1)),
    "LocalPlan": _call(local.LocalPlan, name="x", mechanism=local.OneBit(1.0), protocol=local.Fresh(2)),
    "Slots": _call(local.Slots, horizon=4, reports=2),
    "Collector": _call(local.Collector, plan=_DEVICES, slots=range(4), part=(0, 1)),
    "local.recommend": _call(local.recommend, epsilon=1.0, choices=4),
    "local.simulate": _call(local.simulate, plan=_DEVICES, histories=np.zeros((3, 4), dtype=int), entropy=seeded(1)),
    "smooth": _call(postprocess.smooth, values=_EXAMPLE, deviation=1.0, method=postprocess.NonNegative(), level=0.9),
    "kalman_filter": _call(
        postprocess.kalman_filter, values=_EXAMPLE, deviation=np.ones(4), motion=postprocess.RandomWalk(1.0)
    ),
    "rehearse": _call(
        windowed.rehearse, example=_EXAMPLE, window=2, change=1.0, epsilon=1.0, delta=0.0, max_groups=1, runs=1
    ),
    "Spectrum": _call(spectrum.Spectrum, values=_EXAMPLE, change=1.0, unit=cdp.User(), max_periods=2),
    "Spectrum.plan": _call(
        spectrum.Spectrum(_EXAMPLE, change=1.0, unit=cdp.Event()).plan,
        wanted=spectrum.Lowest(2),
        epsilon=1.0,
        delta=0.0,
    ),
    "StateSpace": _call(
        state_space.StateSpace,
        transition=[[0.9]],
        observation=[[1.0]],
        process_noise=[[0.1]],
        measurement_noise=[[0.5]],
        cause=[[1.0]],
        initial_mean=[0.0],
        initial_covariance=[[1.0]],
    ),
    "design_filter": _call(
        state_space.design_filter,
        model=_SYSTEM,
        change=1.0,
        unit=cdp.User(),
        horizon=4,
        max_periods=2,
        clip=3.0,
        epsilon=1.0,
        delta=0.0,
    ),
}


def spending(ledger: cdp.Ledger) -> dict[str, Call]:
    """Return calls that a ledger pays; each is refused under a name that was used before, so names are given anew."""
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "meters", "analyst": "", "entropy": seeded(1)}
    return {
        "Ledger.open": _call(
            ledger.open, dataset="others", unit=cdp.User(), epsilon=1.0, delta=1e-6, rule="gaussian", reserve=0.0
        ),
        "Ledger.spend": _call(
            ledger.spend, dataset="meters", cost=PureCost(1e-9), unit=cdp.Event(), analyst="", dates=None, purpose="x"
        ),
        "Ledger.allot": _call(ledger.allot, dataset="meters", analyst="ana", epsilon=0.5, delta=0.0),
        "Ledger.status": _call(ledger.status, dataset="meters", analyst="", period=""),
        "write_dossier": _call(write_dossier, ledger=ledger, dataset="meters", out="dossier", request=None, owner=None),
        "Plan.release": _call(
            cdp.Aggregate(_EXAMPLE, change=1.0, unit=cdp.Event()).plan(epsilon=1e-3).release, request="one", **paid
        ),
        "Stream": _call(
            cdp.Stream,
            workload=cdp.RunningTotal(),
            horizon=8,
            change=1.0,
            unit=cdp.Event(),
            epsilon=1e-3,
            delta=0.0,
            name="stream",
            keys=1,
            max_groups=1,
            **paid,
        ),
        "WindowedStream": _call(
            windowed.WindowedStream,
            mechanism=windowed.Sample(),
            window=2,
            change=1.0,
            epsilon=1e-3,
            columns=1,
            max_groups=1,
            name="windowed",
            **paid | {"dataset": "wards"},
        ),
        "Alert": _call(
            cdp.Alert,
            above=5.0,
            change=1.0,
            unit=cdp.Event(),
            max_alerts=2,
            epsilon=1e-3,
            monotone=False,
            value_epsilon=0.0,
            name="alert",
            **paid,
        ),
        "choose": _call(
            selection.choose,
            candidates=["a", "b"],
            utilities=selection.Utilities([_SECRET, 1.0], change=1.0),
            epsilon=1e-3,
            unit=cdp.Event(),
            request="two",
            purpose="",
            **paid,
        ),
        "PrivateFilter": _call(
            state_space.PrivateFilter,
            design=state_space.design_filter(_SYSTEM, change=1.0, unit=cdp.Event(), epsilon=1e-3),
            name="filter",
            **paid,
        ),
        "BlurredStream": _call(
            temporal.BlurredStream,
            mechanism=temporal.BlockShuffle(4, 1e-3),
            name="blurred",
            **paid | {"dataset": "times"},
        ),
        "fit_privately": _call(
            correlated.fit_privately,
            series=np.array([[0], [1], [1], [0]]),
            states=2,
            hears=np.array([[True]]),
            epsilon=1e-3,
            request="fit",
            **paid | {"dataset": "sequences"},
        ),
        "Fran": _call(
            correlated.Fran,
            model=_CHAIN,
            query=correlated.Sum(),
            ages=1,
            epsilon=1e-3,
            horizon=4,
            name="fran",
            **paid | {"dataset": "sequences"},
        ),
    }
