"""A ledger with every kind of release that the product makes, small: for tests of dossiers and of their formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import chronodp as cdp
from chronodp import spectrum, state_space
from chronodp.alerts import Comparator, design_alert
from chronodp.correlated import CouplingMarkovChain, Mean, design_fran, release_aged
from chronodp.selection import MonotoneUtilities, choose
from chronodp.temporal import BlockShuffle, release_times

__all__ = ["KINDS", "QUIET", "fill", "meters", "town"]

QUIET: dict[str, Any] = {"progress": lambda _: None}
PRICE: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}

KINDS = (
    *("plain", "groups", "histogram", "quantiles", "mean", "variance", "places", "active", "norm", "clips"),
    *("where", "found", "missing", "keys", "together", "spectrum", "choice", "check", "issue"),
)
"""The requests of the dataset ``meters``, in the order of its chain."""


def town(people: int = 40) -> pd.DataFrame:
    """Return two rows a day of every person over four days, in two regions."""
    days = pd.Timestamp("2026-01-01", tz="UTC") + pd.to_timedelta(np.tile([1, 9, 25, 33, 49, 57, 73, 81], people), "h")
    who = np.repeat(np.arange(people), 8)
    return pd.DataFrame(
        {
            "who": [f"p{one}" for one in who],
            "at": days,
            "kwh": (who * 7 % 16 + 1) / 8,
            "region": np.where(who % 2, "north", "south"),
        }
    )


def meters(**terms: Any) -> cdp.TimeSeries:
    """Return a series of the town's days."""
    options: dict[str, Any] = {
        "time": "at",
        "user": "who",
        "every": "1D",
        "start": "2026-01-01",
        "end": "2026-01-05",
        "unit": cdp.User(),
        "max_periods": 4,
    }
    return cdp.TimeSeries(town(), **(options | terms))


def fill(folder: Path) -> cdp.Ledger:
    """Return a ledger with all of `KINDS`, streams and alerts, blurred times and a budget that renews."""
    ledger = cdp.Ledger(folder / "budget.db")
    ledger.open("meters", unit=cdp.User(), epsilon=1e4, delta=1e-2, reserve=5e-3)
    _tables(ledger)
    _others(ledger)
    _life(ledger, folder)
    _streams(ledger)
    _elsewhere(ledger)
    return ledger


def _tables(ledger: cdp.Ledger) -> None:
    load = meters().sum("kwh", clip=(0.0, 3.0))
    edges, clips = (0.0, 1.0, 2.0, 3.0), {"north": (0.0, 1.0), "south": (0.0, 3.0)}
    land = pd.DataFrame({"land": ["all", "all"], "region": ["north", "south"]})
    asked: dict[str, Any] = {
        "plain": load.plan(**PRICE),
        "groups": load.by(region=["north", "south"]).plan(**PRICE),
        "histogram": meters().histogram("kwh", edges=edges).plan(**PRICE),
        "quantiles": meters().quantiles("kwh", [0.25, 0.5], edges=edges).plan(epsilon=1.0),
        "mean": meters().mean("kwh", clip=(0.0, 3.0), of="rows", at_most=2).plan(**PRICE),
        "variance": meters().variance("kwh", clip=(0.0, 3.0)).plan(**PRICE),
        "places": meters().count().by(cdp.Places(land, "land", "region")).plan(**PRICE),
        "active": meters().active("2D", max_stays=2).plan(**PRICE),
        "norm": meters().sum("kwh", bound=cdp.Norm(4.0)).plan(**PRICE),
        "clips": meters().sum("kwh", clip=clips).by(region=["north", "south"]).plan(**PRICE),
        "where": meters().count().where("kwh > 0.5").plan(**PRICE),
        "found": meters().sum("kwh", clip=cdp.Find()).plan(epsilon=20.0, delta=1e-6),
        "missing": load.plan(**PRICE, missing=cdp.Missing()),
        "keys": meters().count().by(region=cdp.Discover(max_keys=2)).plan(epsilon=20.0, delta=1e-3),
        "together": cdp.plan_together(
            {
                "load": load,
                "peak": load.peak(every="2D"),
                "total": load.total(every="2D"),
                "alarm": design_alert(above=90.0, change=3.0, unit=cdp.User(), max_alerts=3, epsilon=1.0),
            },
            epsilon=4.0,
            delta=1e-6,
        ),
    }
    for request, plan in asked.items():
        plan.release(ledger, dataset="meters", request=request, **QUIET)


def _others(ledger: cdp.Ledger) -> None:
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "meters"}
    waves = spectrum.Spectrum(10 + np.sin(np.arange(24) / 4), change=1.0, unit=cdp.User(), max_periods=4)
    waves.plan(spectrum.Lowest(3), **PRICE).release(ledger, dataset="meters", request="spectrum", **QUIET)
    votes = MonotoneUtilities([310, 940], change=1)
    choose(("morning", "evening"), votes, epsilon=0.5, unit=cdp.User(), request="choice", **paid)
    watched = Comparator(above=500.0, change=1.0, unit=cdp.User(), epsilon=1.0)
    watched.check(900.0, request="check", **paid)


def _life(ledger: cdp.Ledger, folder: Path) -> None:
    plan = meters().count().lifetime(**PRICE, max_periods=8)
    load = plan.open(ledger, dataset="meters", name="life", tally=folder / "life.tally")
    load.issue(town(), request="issue", start="2026-01-01", end="2026-01-05", **QUIET)


def _streams(ledger: cdp.Ledger) -> None:
    options: dict[str, Any] = {"change": 1.0, "unit": cdp.User(), "epsilon": 1.0, "ledger": ledger, "dataset": "meters"}
    cdp.Stream(cdp.RunningTotal(), horizon=8, max_periods=8, name="door", **options).steps(np.full(5, 3.0))
    cdp.Alert(above=500.0, max_alerts=2, name="peak", **options).steps([900.0, 100.0])


def _elsewhere(ledger: cdp.Ledger) -> None:
    ledger.open("watch", unit=cdp.privacy.Swap(4), epsilon=50.0)
    table = pd.DataFrame({"who": ["ann"] * 8 + ["bo"] * 8, "at": [*range(8)] * 2, "pulse": np.arange(16)})
    blur = BlockShuffle(block=4, epsilon=5.0)
    release_times(table, blur, time="at", user="who", values=["pulse"], ledger=ledger, dataset="watch", request="blur")
    ledger.open("renewed", unit=cdp.User(), epsilon=4.0, delta=1e-6, renews="1mo")
    plan = meters().count().plan(**PRICE)
    plan.release(ledger, dataset="renewed", request="january", **QUIET)
    ledger.open("building", unit=cdp.Event(), epsilon=4.0, delta=1e-6)
    model = state_space.StateSpace(
        transition=[[0.9]], observation=[[1.0]], process_noise=[[0.01]], measurement_noise=[[0.01]]
    )
    design = state_space.design_filter(model, change=0.2, unit=cdp.Event(), epsilon=2.0, delta=1e-6)
    state_space.PrivateFilter(design, ledger=ledger, dataset="building", name="air").steps(np.full((3, 1), 0.3))
    ledger.open("ward", unit=cdp.Window(1, relation="replace"), epsilon=9.0)
    chain = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
    aged = design_fran(chain, query=Mean(), ages=2, epsilon=1.0, horizon=4)
    release_aged([[0, 1], [1, 1], [1, 0], [0, 0]], aged, ledger=ledger, dataset="ward", request="aged")
    ledger.open("empty", unit=cdp.User(), epsilon=1.0)
