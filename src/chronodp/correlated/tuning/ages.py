"""Choosing ages and noise: the least leakage about the present with an error that is still allowed (the paper's P1)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain
from chronodp.correlated.leakage_model import LeakageModel
from chronodp.correlated.query import Query, check_query, tabulate
from chronodp.correlated.tuning.choice import Objective, Tuned, certified_leakage, notes_on
from chronodp.correlated.tuning.freshness import freshness
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_positive, check_whole

__all__ = ["tune", "tune_affine", "tune_each"]

_MOST_LISTED = 4_096
_OLDEST = 10
_OLDEST_TRIED = 10_000


def tune(
    model: CouplingMarkovChain | LeakageModel,
    *,
    query: Query,
    error: float,
    oldest: int = _OLDEST,
    objective: Objective | None = None,
) -> Tuned:
    """Return one age for all sequences and the noise with the least leakage about the present (P1).

    Mean squared error = B(A) + 2 n (Δ_f / ε_C)², where B(A) is the error of age, n the number of outputs. So ε_C(A) =
    Δ_f √(2 n / (error - B(A))) is the least noise allowed at an age. Every age is tried: of several sequences an older
    release may tell more than a younger one.

    Args:
        model: the chain, or a `LeakageModel` of it.
        query: what is asked.
        error: the mean squared error that is allowed, as an answer about the present.
        oldest: the largest age to try.
        objective: what is made small; certified leakage against an adversary who knows all others if not given.

    >>> from chronodp.correlated.query import Mean
    >>> model = CouplingMarkovChain([[0.95, 0.05], [0.05, 0.95]], [[1.0]])
    >>> tune(model, query=Mean(), error=0.2).ages
    (4,)
    """
    gauge = _gauge(model)
    candidates = [
        (age,) * gauge.model.sequences for age in range(check_whole("oldest", oldest, least=0, most=_OLDEST_TRIED) + 1)
    ]
    return _best(gauge, query, error, candidates, objective)


def tune_each(
    model: CouplingMarkovChain | LeakageModel,
    *,
    query: Query,
    error: float,
    oldest: int = _OLDEST,
    objective: Objective | None = None,
) -> Tuned:
    """Return an age for each sequence: all combinations where they are few, else one sequence after another.

    One after another means, from the best common age on, that each sequence in turn takes the age that is best while
    the others keep theirs, until none gains: it may end short of the best. Every age is tried, since an older one may
    leak more than both its neighbours.
    """
    gauge = _gauge(model)
    s, top = gauge.model.sequences, check_whole("oldest", oldest, least=0, most=_OLDEST_TRIED)
    if (top + 1) ** s <= _MOST_LISTED:
        return _best(gauge, query, error, itertools.product(range(top + 1), repeat=s), objective)
    best = tune(gauge, query=query, error=error, oldest=oldest, objective=objective)
    while True:
        before = best.leakage
        for j in range(s):
            others = [(*best.ages[:j], age, *best.ages[j + 1 :]) for age in range(top + 1) if age != best.ages[j]]
            best = _best(gauge, query, error, [best.ages, *others], objective)
        if best.leakage >= before * (1 - 1e-9):
            return best


def tune_affine(
    model: CouplingMarkovChain | LeakageModel,
    *,
    query: Query,
    error: float,
    oldest: int = _OLDEST,
    objective: Objective | None = None,
) -> Tuned:
    """Return one age and the noise, if the answer may be shrunk towards its mean afterwards, which is free.

    With V the variance of the answer and ρ_A its correlation with the aged one, the best affine reading errs by V (1
    - ρ_A² V / (V + 2b²)), so that ε_C = Δ_f √(2 / (V (ρ_A² / (1 - error / V) - 1))), possible iff ρ_A² > 1 - error /
    V. If error ≥ V a constant will do.
    """
    gauge = _gauge(model)
    model = gauge.model
    outputs = tabulate(check_query(query), model.sequences, model.states)
    if len(outputs.largest) > 1:
        raise InvalidArgument("query", query, "a single query: several have no one variance")
    check_positive("error", error)
    measure = objective or certified_leakage()
    found: list[Tuned] = []
    for age in range(check_whole("oldest", oldest, least=0, most=_OLDEST_TRIED) + 1):
        fresh = freshness(model, query=query, ages=age)
        notes = notes_on((age,), variance=fresh.variance, error=error)
        if error >= fresh.variance:
            return Tuned((age,) * model.sequences, 0.0, 0.0, 0.0, fresh.variance, fresh.variance, notes[:1])
        told = fresh.correlation**2 / (1 - error / fresh.variance) - 1
        if told <= 0:
            continue
        epsilon = outputs.sensitivity * math.sqrt(2 / (fresh.variance * told))
        each = np.full(model.sequences, age)
        lost = fresh.variance * (1 - fresh.correlation**2)
        leaked = measure(gauge, outputs, each, epsilon)
        found.append(Tuned((age,) * model.sequences, epsilon, leaked, epsilon, error, lost, notes))
    if not found:
        raise InvalidArgument("error", error, "larger: no age and noise reach it")
    return min(found, key=lambda choice: choice.leakage)


def _best(
    gauge: LeakageModel, query: Query, error: float, candidates: Iterable[tuple[int, ...]], objective: Objective | None
) -> Tuned:
    model = gauge.model
    outputs = tabulate(check_query(query), model.sequences, model.states)
    check_positive("error", error)
    measure = objective or certified_leakage()
    best: Tuned | None = None
    for ages in candidates:
        fresh = freshness(model, query=query, ages=ages)
        if fresh.stale >= error * (1 - 1e-12):  # what rounding leaves of an error that is used up is no room for noise
            continue
        epsilon = outputs.sensitivity * math.sqrt(2 * len(outputs.largest) / (error - fresh.stale))
        leaked = measure(gauge, outputs, np.asarray(ages), epsilon)
        if best is None or leaked < best.leakage:
            notes = notes_on(ages, variance=fresh.variance, error=error)
            best = Tuned(tuple(ages), epsilon, leaked, epsilon, error, fresh.stale, notes)
    if best is None:
        raise InvalidArgument("error", error, "larger: even the freshest answer errs by more")
    return best


def _gauge(model: CouplingMarkovChain | LeakageModel) -> LeakageModel:
    return model if isinstance(model, LeakageModel) else LeakageModel(model)
