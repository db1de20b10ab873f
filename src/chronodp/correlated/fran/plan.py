"""From a model to a design: a noise that is given, or the least that keeps leakage about the present under a target."""

from __future__ import annotations

import math
from dataclasses import replace

from chronodp.correlated.ageing import Ages, check_ages
from chronodp.correlated.bounds import log_ranges
from chronodp.correlated.chain import CouplingMarkovChain
from chronodp.correlated.exact import Adversary, check_adversary
from chronodp.correlated.fran.design import FranDesign, finest_step
from chronodp.correlated.fran.present import ONE_RECORD, AboutThePresent
from chronodp.correlated.leakage_model import LeakageModel, Released
from chronodp.correlated.query import Query, check_query
from chronodp.errors import InvalidArgument
from chronodp.privacy import User, Window, check_epsilon, check_positive, check_whole

__all__ = ["about_the_present", "design_fran", "largest_epsilon"]

_SMALLEST, _LARGEST = 1e-3, 50.0
_HALVINGS = 40


def design_fran(
    model: CouplingMarkovChain | LeakageModel,
    *,
    query: Query,
    ages: Ages,
    epsilon: float | tuple[float, ...] | None = None,
    target: float | None = None,
    adversary: Adversary = "knows_others",
    unit: Window | User = ONE_RECORD,
    horizon: int | None = None,
) -> FranDesign:
    """Return a design from public parameters and a public model; no data is read.

    Args:
        model: the chain, or a `LeakageModel` of it.
        query: what is asked of the aged states.
        ages: how many periods ago sequences are read, for all or for each.
        epsilon: of each release (ε_C), or several to be used in turn; or
        target: the most that one release may reveal about the present; the largest epsilon that keeps it is taken.
        adversary: against whom the target holds.
        unit: whom the price is for; one record if not given.
        horizon: how many periods; None if not known.

    >>> from chronodp.correlated.query import Mean
    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
    >>> design_fran(model, query=Mean(), ages=3, target=0.05).epsilons[0] > 0.8
    True
    """
    gauge = model if isinstance(model, LeakageModel) else LeakageModel(model)
    chain = gauge.model
    if horizon is not None:
        horizon = check_whole("horizon", horizon)
    each = check_ages(ages, chain.sequences, horizon=horizon)
    if (epsilon is None) == (target is None):
        raise InvalidArgument("epsilon", epsilon, "given, or a target instead: one of the two")
    if target is not None:
        epsilon = largest_epsilon(gauge, query=query, ages=ages, target=target, adversary=adversary)
    given = epsilon if isinstance(epsilon, tuple) else (check_epsilon(epsilon),)
    if not given:
        raise InvalidArgument("epsilon", given, "a number, or several to be used in turn")
    shown = (int(each[0]),) if len(set(each.tolist())) == 1 else tuple(each.tolist())
    parts = tuple(check_epsilon(part) for part in given)
    step = finest_step(check_query(query), chain.sequences, chain.states, parts)
    design = FranDesign(query, chain.sequences, chain.states, shown, parts, unit, horizon, step)
    return replace(design, present=about_the_present(gauge, design))


def about_the_present(model: CouplingMarkovChain | LeakageModel, design: FranDesign) -> AboutThePresent:
    """Return what one release of a design reveals about the present, at its largest epsilon, on its grid."""
    gauge = model if isinstance(model, LeakageModel) else LeakageModel(model)
    if (gauge.model.sequences, gauge.model.states) != (design.sequences, design.states):
        raise InvalidArgument(
            "model", gauge.model, f"a model of {design.sequences} sequences of {design.states} states"
        )
    released = Released(design.outputs, design.reading_ages, max(design.epsilons))
    others, by_others = gauge.certify(released, "knows_others")
    none, by_none = gauge.certify(released, "knows_none")
    # The last step limits what any number of releases can tell.
    always = float(gauge.sound(log_ranges(gauge.least) + released.direct).max())
    limit = always if math.isfinite(always) else None
    later = gauge.certify_any_pair(released)
    return AboutThePresent(gauge.model.fingerprint, others, by_others, none, by_none, limit, later)


def largest_epsilon(
    model: CouplingMarkovChain | LeakageModel, *, query: Query, ages: Ages, target: float, adversary: Adversary
) -> float:
    """Return the largest ε_C, up to 50, whose certified leakage about the present is at most ``target``.

    It follows from public parameters only, and is rounded down.
    """
    gauge = model if isinstance(model, LeakageModel) else LeakageModel(model)
    check_positive("target", target)
    check_adversary(adversary)
    chain = gauge.model
    each = check_ages(ages, chain.sequences)

    def kept(epsilon: float) -> bool:
        step = finest_step(check_query(query), chain.sequences, chain.states, (epsilon,))
        outputs = FranDesign(
            query, chain.sequences, chain.states, tuple(each.tolist()), (epsilon,), ONE_RECORD, None, step
        ).outputs
        return gauge.certify(Released(outputs, each, epsilon), adversary)[0] <= target

    low, high = _SMALLEST, _LARGEST
    if not kept(low):
        raise InvalidArgument("target", target, f"larger, or the ages: at ε_C = {low} more is still told")
    if kept(high):
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) else (low, middle)
        if high - low <= 1e-4 * low:
            break
    return low
