"""Many candidates, two passes: the cheap bound accepts what it can, and only the rest is measured with care.

A bound above the target proves nothing against a candidate, so none is thrown out by it: the paper's screening would
lose good ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from chronodp.correlated.ageing import Ages, check_ages
from chronodp.correlated.chain import CouplingMarkovChain
from chronodp.correlated.exact import Adversary, check_adversary
from chronodp.correlated.leakage_model import LeakageModel, Released
from chronodp.correlated.query import Query, check_query, tabulate
from chronodp.privacy import check_epsilon, check_positive

__all__ = ["Screened", "screen"]


@dataclass(frozen=True, slots=True)
class Screened:
    """A candidate, its certified leakage about the present, what certified it, and whether it keeps the target."""

    ages: tuple[int, ...]
    epsilon: float
    certified: float
    certified_by: str
    kept: bool


def screen(
    model: CouplingMarkovChain | LeakageModel,
    *,
    query: Query,
    candidates: Iterable[tuple[Ages, float]],
    target: float,
    adversary: Adversary = "knows_others",
) -> list[Screened]:
    """Return every candidate (ages and ε_C) with a verdict.

    >>> from chronodp.correlated.query import Mean
    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
    >>> found = screen(model, query=Mean(), candidates=[(0, 0.01), (2, 1.0), (0, 1.0)], target=0.2)
    >>> [(one.kept, one.certified_by) for one in found]
    [(True, 'one step'), (True, 'exact'), (False, 'exact')]
    """
    gauge = model if isinstance(model, LeakageModel) else LeakageModel(model)
    check_positive("target", target)
    check_adversary(adversary)
    outputs = tabulate(check_query(query), gauge.model.sequences, gauge.model.states)
    found = []
    for ages, epsilon in candidates:
        each = check_ages(ages, gauge.model.sequences)
        released = Released(outputs, each, check_epsilon(epsilon))
        bounds = gauge.cheap_bounds(released, adversary)
        certified, by = min((float(np.max(bound)), name) for name, bound in bounds.items())
        if certified > target:
            certified, by = gauge.certify(released, adversary)
        found.append(Screened(tuple(each.tolist()), epsilon, certified, by, certified <= target))
    return found
