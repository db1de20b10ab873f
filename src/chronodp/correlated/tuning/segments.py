"""Sequence segmentation: groups of sequences with ages and noise of their own, released together and added up."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain, Floats, Integers
from chronodp.correlated.exact import Adversary, check_adversary
from chronodp.correlated.leakage_model import LeakageModel, Released
from chronodp.correlated.query import Mean, QueryTable, Several, Sum, WeightedSum, tabulate
from chronodp.correlated.tuning.ages import tune_each
from chronodp.correlated.tuning.choice import certified_leakage
from chronodp.correlated.tuning.freshness import freshness
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_positive, check_whole

__all__ = ["Segments", "segment"]

_MOST_GROUPS = 64
_ROUNDS = 16
_LOUDEST, _QUIETEST = 50.0, 1e-3
_GRID = np.geomspace(_QUIETEST, _LOUDEST, 40)


@dataclass(frozen=True, slots=True)
class Segments:
    """A sum released as one part a group, each with its own age and noise.

    Attributes:
        groups: the sequences of each part.
        ages: of each sequence.
        epsilons: of each group (ε_g).
        leakage: about the present of any sequence, certified.
        undivided: the same, if one noise serves the whole sum and only ages differ by group; it may be the smaller.
        error: mean squared error of the parts added up.
        query: what to release: the parts, scaled so that noise of one scale serves them all.
        epsilon: to release it with: the largest of the groups'.
        weights: to add the released parts up with, which is free.
    """

    groups: tuple[tuple[int, ...], ...]
    ages: tuple[int, ...]
    epsilons: tuple[float, ...]
    leakage: float
    undivided: float
    error: float
    query: Several
    epsilon: float
    weights: tuple[float, ...]

    def read(self, released: Floats) -> float:
        """Return the sum from the released parts."""
        return float(np.asarray(self.weights) @ np.asarray(released))


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    members: Integers
    gauge: LeakageModel
    outputs: QueryTable
    stale: tuple[float, ...]


def segment(
    model: CouplingMarkovChain,
    *,
    query: Mean | Sum | WeightedSum,
    error: float,
    oldest: int = 10,
    adversary: Adversary = "knows_others",
) -> Segments:
    """Return ages and noise for each group of sequences that hear of each other, with the least largest leakage.

    Groups are independent, so their errors add up, and what a group's noise must hide is its own. For a common
    leakage each group takes the age with the least error; the leakage is lowered as far as the errors together allow.

    Every part carries noise of its own, so that parts make sense where they are wanted by themselves, or are used
    with very different weights; for the sum alone one noise with an age for each group (`tune_each`) is nearly always
    as good: compare ``leakage`` with ``undivided``.

    Args:
        model: the chain.
        query: Mean(), Sum() or WeightedSum((…)).
        error: the mean squared error that is allowed.
        oldest: the largest age to try.
        adversary: against whom.

    >>> from chronodp.correlated.query import Sum
    >>> slow, fast = [[0.98, 0.02], [0.02, 0.98]], [[0.6, 0.4], [0.4, 0.6]]
    >>> model = CouplingMarkovChain([slow, fast], [[1.0, 0.0], [0.0, 1.0]])
    >>> parts = segment(model, query=Sum(), error=1.0, oldest=2)
    >>> len(parts.groups), parts.epsilons[0] != parts.epsilons[1]
    (2, True)
    """
    if not isinstance(query, Mean | Sum | WeightedSum):
        raise InvalidArgument("query", query, "Mean(), Sum() or WeightedSum((…)): only a sum falls into parts")
    check_positive("error", error)
    check_adversary(adversary)
    whole = _weighted(query, model.sequences)
    groups = _groups(model, whole, check_whole("oldest", oldest, least=0))
    low, high = math.log(_QUIETEST / 10), math.log(_LOUDEST * model.sequences)
    curves = [[_curve(group, age, adversary) for age in range(oldest + 1)] for group in groups]
    if _read(groups, curves, math.exp(high))[1] > error:
        raise InvalidArgument("error", error, "larger: even the freshest answer with hardly any noise errs by more")
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if _read(groups, curves, math.exp(middle))[1] <= error else (middle, high)
    ages = _read(groups, curves, math.exp(high))[0]
    epsilons, reached = _settled(groups, ages, math.exp(high), error, adversary)
    try:
        objective = certified_leakage(adversary)
        undivided = tune_each(model, query=whole, error=error, oldest=oldest, objective=objective).leakage
    except InvalidArgument:
        undivided = math.inf
    return _segments(model, whole, groups, ages, epsilons, reached, undivided, adversary)


def _weighted(query: Mean | Sum | WeightedSum, sequences: int) -> WeightedSum:
    if isinstance(query, WeightedSum):
        return query
    return WeightedSum((1.0 if isinstance(query, Sum) else 1 / sequences,) * sequences, query.scores)


def _groups(model: CouplingMarkovChain, whole: WeightedSum, oldest: int) -> list[_Group]:
    members = LeakageModel(model).groups
    if len(members) > _MOST_GROUPS:
        raise InvalidArgument("model", model, f"a model of at most {_MOST_GROUPS} groups; take one Fran for each kind")
    made = []
    for sequences in members:
        weights = tuple(np.asarray(whole.weights)[sequences].tolist())
        if any(weights):
            part, own = model.part(sequences), WeightedSum(weights, whole.scores)
            stale = tuple(freshness(part, query=own, ages=age).stale for age in range(oldest + 1))
            made.append(_Group(sequences, LeakageModel(part), tabulate(own, len(sequences), model.states), stale))
    return made


def _curve(group: _Group, age: int, adversary: Adversary) -> Floats:
    """Certified leakage at every ε of the grid."""
    each = np.full(len(group.members), age)
    return np.asarray(
        [group.gauge.certify_quickly(Released(group.outputs, each, float(epsilon)), adversary)[0] for epsilon in _GRID]
    )


def _read(groups: list[_Group], curves: list[list[Floats]], target: float) -> tuple[list[int], float]:
    """Return the age of each group with the least error at a leakage, read off the curves, and the errors together."""
    ages, total = [], 0.0
    for group, by_age in zip(groups, curves, strict=True):
        errors = []
        for stale, curve in zip(group.stale, by_age, strict=True):
            loudest = np.exp(np.interp(math.log(target), np.log(curve), np.log(_GRID), left=-math.inf))
            errors.append(stale + 2 * (group.outputs.sensitivity / loudest) ** 2 if loudest > 0 else math.inf)
        ages.append(int(np.argmin(errors)))
        total += min(errors)
    return ages, total


def _settled(
    groups: list[_Group], ages: list[int], near: float, error: float, adversary: Adversary
) -> tuple[list[float], float]:
    """Return the noise of each group at the least leakage that keeps the error, computed and not read off."""
    low, high = near / 2, near * 2
    found: tuple[list[float], float] | None = None
    while found is None:
        found = _at(groups, ages, high, error, adversary)
        high *= 2
    for _ in range(_ROUNDS):
        middle = math.sqrt(low * high)
        better = _at(groups, ages, middle, error, adversary)
        low, high, found = (middle, high, found) if better is None else (low, middle, better)
    return found


def _at(
    groups: list[_Group], ages: list[int], target: float, error: float, adversary: Adversary
) -> tuple[list[float], float] | None:
    epsilons = [_loudest(group, age, target, adversary) for group, age in zip(groups, ages, strict=True)]
    if None in epsilons:
        return None
    known = [epsilon for epsilon in epsilons if epsilon is not None]
    total = sum(
        group.stale[age] + 2 * (group.outputs.sensitivity / epsilon) ** 2
        for group, age, epsilon in zip(groups, ages, known, strict=True)
    )
    return (known, total) if total <= error else None


def _loudest(group: _Group, age: int, target: float, adversary: Adversary) -> float | None:
    """Return the largest ε that leaks at most the target, or None if none does."""
    each = np.full(len(group.members), age)

    def kept(epsilon: float) -> bool:
        return group.gauge.certify_quickly(Released(group.outputs, each, epsilon), adversary)[0] <= target

    if kept(_LOUDEST):
        return _LOUDEST
    low, high = _QUIETEST, _LOUDEST
    if not kept(low):
        return None
    for _ in range(_ROUNDS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low


def _segments(
    model: CouplingMarkovChain,
    whole: WeightedSum,
    groups: list[_Group],
    ages: list[int],
    epsilons: list[float],
    error: float,
    undivided: float,
    adversary: Adversary,
) -> Segments:
    each, parts, weights = np.zeros(model.sequences, dtype=np.int64), [], []
    for group, age, epsilon in zip(groups, ages, epsilons, strict=True):
        each[group.members] = age
        scale = epsilon / group.outputs.sensitivity
        own = np.zeros(model.sequences)
        own[group.members] = np.asarray(whole.weights)[group.members] * scale
        parts.append(WeightedSum(tuple(own.tolist()), whole.scores))
        weights.append(1 / scale)
    query, loudest = Several(tuple(parts)), max(epsilons)
    outputs = tabulate(query, model.sequences, model.states)
    return Segments(
        groups=tuple(tuple(group.members.tolist()) for group in groups),
        ages=tuple(each.tolist()),
        epsilons=tuple(epsilons),
        leakage=LeakageModel(model).certify(Released(outputs, each, loudest), adversary)[0],
        undivided=undivided,
        error=error,
        query=query,
        epsilon=loudest,
        weights=tuple(weights),
    )
