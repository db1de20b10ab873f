"""The bound that needs no model of how sequences move, only of who hears whom: the whole group changes at once.

*Group ceiling* under "Bounds" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain, Floats
from chronodp.correlated.query import QueryTable

__all__ = ["group_spans"]


def group_spans(model: CouplingMarkovChain, outputs: QueryTable) -> Floats:
    """Return for each sequence d: the span of the query over its group, divided by its sensitivity.

    A release with noise ε_C leaks at most d ε_C about anyone in the group, at any age, by group privacy.

    >>> from chronodp.correlated.query import Mean, tabulate
    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1.0]])
    >>> group_spans(model, tabulate(Mean(), 3, 2)).round(9).tolist()
    [2.0, 2.0, 1.0]
    """
    sensitivity = outputs.sensitivity
    low, high = outputs.parts.min(axis=2), outputs.parts.max(axis=2)
    groups = model.components
    total = np.zeros(groups.max() + 1)
    for output, compared in enumerate(outputs.largest):
        if not compared:
            total += np.bincount(groups, (high - low)[output])
            continue
        floor, top = np.full(len(total), -np.inf), np.full(len(total), -np.inf)
        np.maximum.at(floor, groups, low[output])
        np.maximum.at(top, groups, high[output])
        total += np.maximum(0.0, top - low[output].max())
    return np.asarray(total[groups] / sensitivity)
