"""Right calls of small things: costs, theorems, alerts, protocols of devices, times, and a user's own audit."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import chronodp as cdp
from chronodp import (
    accounting,
    alerts,
    audit,
    correlated,
    dossier,
    engines,
    ledger,
    local,
    postprocess,
    privacy,
    schemas,
    selection,
    series,
    spectrum,
    state_space,
    temporal,
)
from chronodp.privacy import GaussianCost, PureCost, SampledGaussianCost
from chronodp.randomness import Entropy, seeded
from chronodp.series import windowed
from chronodp.series.measures.choices import histogram_of, mean_of
from tests.fuzz.calls import Call

__all__ = ["PLAIN"]

_COST = GaussianCost(sensitivity=1.0, sigma=2.0)
_EXAMPLE = [7346281.0, 1.0, 2.0, 3.0]
_PLAN = local.LocalPlan("mode", local.RandomizedResponse(1.0, 4), local.Slots(4, 1))
_ALERT = alerts.design_alert(above=5.0, change=1.0, unit=cdp.Event(), max_alerts=2, epsilon=1.0)
_CLAIM = privacy.Claim(cdp.Event(), PureCost(1.0), "mine")


def _mine(data: int, *, entropy: Entropy) -> int:
    """A mechanism of a user's own: a coin that tells the truth a little more often."""
    return int(data ^ int(entropy.coins(1, 4, 1)[0]))


def _call(door: Any, **arguments: Any) -> Call:
    return Call(door, arguments)


_SUBJECT: dict[str, Any] = {
    "name": "mine",
    "mechanism": _mine,
    "neighbours": ((0, 1), (1, 0)),
    "claim": privacy.Claim(cdp.Event(), PureCost(1.2), "mine"),
    "epsilon": 1.2,
    "delta": 0.0,
    "checks": (audit.Enumerated(),),
}

PLAIN: dict[str, Call] = {
    "Owner": _call(dossier.Owner, **{field.name: field.default for field in dataclasses.fields(dossier.Owner)}),
    "verify_dossier": _call(dossier.verify_dossier, folder="dossier", public_key=None, head=None),
    "json_schema": _call(schemas.json_schema, name="plan"),
    "ApproximateCost": _call(privacy.ApproximateCost, epsilon=1.0, delta=1e-6),
    "Assumption": _call(privacy.Assumption, name="a", statement="b"),
    "AssumedCost": _call(privacy.AssumedCost, cost=PureCost(1.0), assumption=privacy.Assumption("a", "b")),
    "BoundedRangeCost": _call(privacy.BoundedRangeCost, epsilon=1.0),
    "FailureCost": _call(privacy.FailureCost, delta=1e-6),
    "RandomizedResponseCost": _call(privacy.RandomizedResponseCost, epsilon=1.0, choices=2),
    "RepeatedCost": _call(privacy.RepeatedCost, cost=PureCost(1.0), times=3),
    "SampledGaussianCost": _call(SampledGaussianCost, sensitivity=1.0, sigma=2.0, rate=0.1),
    "SequenceCost": _call(privacy.SequenceCost, costs=(PureCost(1.0),)),
    "Certificate": _call(
        privacy.Certificate,
        mechanism="m",
        claim=_CLAIM,
        guarantee=privacy.Guarantee(cdp.Event(), 1.0),
        theorem="t",
        precision="p",
        seeded=False,
        processing=(),
    ),
    "Claim": _call(privacy.Claim, unit=cdp.Event(), cost=PureCost(1.0), argument="docs"),
    "Swap": _call(privacy.Swap, block=3),
    "History": _call(privacy.History, changes="any"),
    "Sensitivity": _call(privacy.Sensitivity, l1=1.0, l2=1.0),
    "dump": _call(privacy.dump, item=PureCost(1.0)),
    "load": _call(privacy.load, text='{"kind":"pure","epsilon":1}', expected=PureCost),
    "advanced.epsilon": _call(accounting.advanced.epsilon, costs=PureCost(0.1), delta=1e-6),
    "advanced.compose": _call(accounting.advanced.compose, epsilon=0.1, delta=0.0, times=3, slack=1e-6),
    "adversary.advantage": _call(accounting.adversary.advantage, costs=_COST),
    "adversary.odds_tail": _call(accounting.adversary.odds_tail, epsilon=1.0, delta=1e-6, beyond=2.0),
    "adversary.posterior": _call(accounting.adversary.posterior, prior=0.5, loss=1.0),
    "adversary.total_variation": _call(accounting.adversary.total_variation, epsilon=1.0, delta=1e-6),
    "basic.epsilon": _call(accounting.basic.epsilon, costs=PureCost(1.0), delta=0.0),
    "gaussian.mu": _call(accounting.gaussian.mu, costs=_COST),
    "gaussian.mu_for": _call(accounting.gaussian.mu_for, epsilon=1.0, delta=1e-6),
    "gaussian.sigma": _call(accounting.gaussian.sigma, epsilon=1.0, delta=1e-6, sensitivity=1.0),
    "group": _call(accounting.group, epsilon=1.0, delta=1e-6, steps=2),
    "loss": _call(accounting.loss, costs=_COST),
    "gather": _call(accounting.gather, costs=_COST),
    "optimal.epsilon": _call(accounting.optimal.epsilon, costs=PureCost(0.1), delta=1e-6),
    "optimal.compose": _call(accounting.optimal.compose, epsilon=0.1, delta=0.0, times=3, slack=1e-6),
    "renyi.epsilon": _call(accounting.renyi.epsilon, costs=_COST, delta=1e-6),
    "zcdp.epsilon": _call(accounting.zcdp.epsilon, costs=_COST, delta=1e-6),
    "zcdp.rho": _call(accounting.zcdp.rho, costs=_COST),
    "Split": _call(alerts.Split, threshold=0.5, alert=0.5),
    "best_split": _call(alerts.best_split, epsilon=1.0, max_alerts=2, monotone=False),
    "design_alert": _call(
        alerts.design_alert,
        above=5.0,
        below=None,
        change=1.0,
        unit=cdp.Event(),
        max_alerts=2,
        epsilon=1.0,
        monotone=False,
        value_epsilon=0.0,
        noise=alerts.Exponential(),
    ),
    "alerts.start": _call(alerts.start, design=_ALERT, entropy=seeded(1)),
    "alerts.advance": _call(
        alerts.advance, design=_ALERT, state=alerts.start(_ALERT, seeded(1)), values=_EXAMPLE, entropy=seeded(1)
    ),
    "Allowance": _call(audit.Allowance, samples=100, seconds=None, runs=100, error=1e-6),
    "AuditCase": _call(audit.AuditCase, **_SUBJECT),
    "judge": _call(audit.judge, case=audit.AuditCase(**_SUBJECT), allowance=audit.Allowance(samples=100, runs=100)),
    "MembershipTest": _call(audit.attacks.MembershipTest, inside=np.eye(2), outside=2 * np.eye(2)),
    "MembershipTest.log_ratio": _call(
        audit.attacks.MembershipTest(np.eye(4)).log_ratio, released=_EXAMPLE, trace=_EXAMPLE
    ),
    "membership_advantages": _call(
        audit.attacks.membership_advantages, trace=_EXAMPLE, background=np.eye(4), sigma=1.0
    ),
    "gaussian_information": _call(correlated.gaussian_information, covariance=np.eye(3), snippet=(0, 1)),
    "snippet_entropy": _call(
        correlated.snippet_entropy, model=correlated.CouplingMarkovChain([[0.9, 0.2], [0.1, 0.8]], [[1.0]]), length=4
    ),
    "k_sensitivity": _call(correlated.k_sensitivity, query=correlated.Sum(), sequences=3, states=2, k=2),
    "LeakageModel": _call(
        correlated.LeakageModel, model=correlated.CouplingMarkovChain(np.eye(2), np.eye(1)), largest=16
    ),
    "Maximum": _call(correlated.Maximum, scores=(0.0, 1.0)),
    "correlated.Mean": _call(correlated.Mean, scores=(0.0, 1.0)),
    "correlated.Sum": _call(correlated.Sum, scores=(0.0, 1.0)),
    "WeightedSum": _call(correlated.WeightedSum, weights=(1.0, 2.0), scores=(0.0, 1.0)),
    "Several": _call(correlated.Several, queries=(correlated.Sum(),)),
    "project": _call(postprocess.project, values=_EXAMPLE, deviation=1.0, total=None),
    "clip_at_zero": _call(postprocess.clip_at_zero, values=_EXAMPLE),
    "clipping_bias": _call(postprocess.clipping_bias, truth=1.0, deviation=1.0, law="gaussian"),
    "round_whole": _call(postprocess.round_whole, values=_EXAMPLE, keep_total=True),
    "grow": _call(postprocess.grow, values=_EXAMPLE, deviation=1.0, least=0.0, whole=False),
    "kalman_smoother": _call(
        postprocess.kalman_smoother, values=_EXAMPLE, deviation=np.ones(4), motion=postprocess.RandomWalk(1.0)
    ),
    "log_likelihood": _call(
        postprocess.log_likelihood, values=_EXAMPLE, deviation=np.ones(4), motion=postprocess.RandomWalk(1.0)
    ),
    "Lowest": _call(spectrum.Lowest, count=2),
    "Only": _call(spectrum.OnlyHarmonics, harmonic=2),
    "Strongest": _call(spectrum.Strongest, count=1, among=3, share=0.5),
    "transform": _call(spectrum.transform, series=_EXAMPLE),
    "design_spectrum": _call(
        spectrum.design_spectrum,
        wanted=spectrum.Lowest(2),
        horizon=8,
        change=1.0,
        unit=cdp.User(),
        max_periods=2,
        epsilon=1.0,
        delta=0.0,
    ),
    "Budget": _call(
        ledger.Budget, unit=cdp.User(), epsilon=1.0, delta=1e-6, rule="gaussian", reserve=0.0, renews=None, accepts=()
    ),
    "Hybrid": _call(local.Hybrid, epsilon=1.0, clip=(0.0, 1.0), grid=16),
    "OneBit": _call(local.OneBit, epsilon=1.0, clip=(0.0, 1.0), grid=16),
    "SymmetricUnary": _call(local.SymmetricUnary, epsilon=1.0, choices=4),
    "Fresh": _call(local.Fresh, horizon=4),
    "Memoised": _call(local.Memoised, permanent_epsilon=1.0, horizon=4, max_values=2),
    "WindowAsked": _call(local.WindowAsked, window=3),
    "WindowBudget": _call(local.WindowBudget, window=3),
    "WindowPopulation": _call(local.WindowPopulation, window=3),
    "estimate": _call(local.estimate, plan=_PLAN, tally=local.Collector(_PLAN).tally, labels=None),
    "best_window": _call(local.best_window, estimates=local.estimate(_PLAN, local.Collector(_PLAN).tally), most=3),
    "project_rows": _call(local.project_rows, values=[[0.5, 0.6]]),
    "Order": _call(selection.Order, autoregressive=1, differences=0, moving_average=1),
    "orders_up_to": _call(selection.orders_up_to, autoregressive=1, differences=0, moving_average=1),
    "MonotoneUtilities": _call(selection.MonotoneUtilities, values=_EXAMPLE, change=1.0),
    "Blocks": _call(selection.Blocks, values=_EXAMPLE, length=2),
    "Panel": _call(selection.Panel, series=[_EXAMPLE]),
    "ClippedRegret": _call(selection.ClippedRegret, clip=1.0),
    "MaximumLikelihood": _call(selection.MaximumLikelihood, iterations=5),
    "design_windowed": _call(
        windowed.design_windowed,
        mechanism=windowed.Uniform(),
        unit=cdp.Window(3),
        change=1.0,
        columns=1,
        max_groups=1,
        epsilon=1.0,
        delta=0.0,
    ),
    "frequency_counting": _call(temporal.frequency_counting, window=4, length=8, share=0.5, other_share=0.25),
    "moving_average": _call(temporal.moving_average, window=4, length=8, variance=1.0),
    "choose_threshold": _call(temporal.choose_threshold, window=4, epsilon=1.0),
    "derived_budget": _call(temporal.derived_budget, window=4, threshold=2),
    "dispatch_probabilities": _call(temporal.dispatch_probabilities, window=4, threshold=2),
    "temporal.recommend": _call(temporal.recommend, window=4, epsilon=1.0, unit_costs=None),
    "Count": _call(series.Count, at_most=1),
    "series.Discover": _call(series.Discover, max_keys=3, delta=1e-6, share=0.2, most=9, longest=64),
    "series.Sum": _call(series.Sum, column="kwh", clip=(0.0, 1.0)),
    "series.Mean": _call(series.Mean, column="kwh", clip=(0.0, 1.0)),
    "PanelMean": _call(series.PanelMean, column="kwh", clip=(0.0, 1.0), people=3),
    "Variance": _call(series.Variance, column="kwh", clip=(0.0, 1.0)),
    "Histogram": _call(series.Histogram, column="kwh", edges=(0.0, 1.0), at_most=1),
    "RowMean": _call(series.RowMean, column="kwh", clip=(0.0, 1.0), at_most=2),
    "RowHistogram": _call(series.RowHistogram, column="kwh", edges=(0.0, 1.0), at_most=2),
    "mean_of": _call(mean_of, column="kwh", clip=(0.0, 1.0), of="rows", at_most=2, people=None),
    "histogram_of": _call(histogram_of, column="kwh", edges=(0.0, 1.0), of="rows", at_most=2),
    "Total": _call(series.Total, change=1.0, name="total"),
    "Noise": _call(series.Noise, law="laplace", sensitivity=1.0, scale=1.0, step=0.5),
    "RandomWalk": _call(postprocess.RandomWalk, step=1.0),
    "Trend": _call(postprocess.Trend, step=1.0, bend=1.0),
    "CausedChange": _call(state_space.CausedChange, most=1.0),
    "MeasuredChange": _call(state_space.MeasuredChange, most=1.0),
    "UnitCosts": _call(temporal.UnitCosts, missing=1.0, repeated=1.0, empty=1.0, delay=1.0),
    "DuckDB": _call(engines.DuckDB, memory=2**32, threads=1, folder=None),
    "check_ledger": _call(ledger.check_ledger, ledger=None),
}
