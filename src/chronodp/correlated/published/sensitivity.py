"""How many sequences hang together directly, and how much more of them change a query than one: Definitions 7 and 8.

They are what the paper's Theorem 1 multiplies. Neither makes a bound: a group that hangs together through others
changes as a whole, and only the span of the whole group (`group_spans`) is sound.

References:
    Luo, Zhang, Xu, Chen, Huang, Correlated-sequence differential privacy.
"""

from __future__ import annotations

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain, Integers
from chronodp.correlated.query import Query, QueryTable, check_query, tabulate
from chronodp.privacy import check_whole

__all__ = ["correlation_degree", "k_sensitivity", "partner_pairs"]

_MOST_SEQUENCES, _MOST_STATES = 100_000, 1_000


def correlation_degree(model: CouplingMarkovChain) -> int:
    """Return k of Definition 7: one more than the most others that any sequence hears or is heard by.

    Sequences that hear only themselves have k = 1. An edge whose matrix has equal columns carries nothing and makes no
    partners, as in `CouplingMarkovChain.components`.

    >>> path = [[0.6, 0.4, 0, 0], [0.3, 0.4, 0.3, 0], [0, 0.3, 0.4, 0.3], [0, 0, 0.4, 0.6]]
    >>> correlation_degree(CouplingMarkovChain([[0.8, 0.2], [0.2, 0.8]], path))
    3
    """
    return 1 + int(np.bincount(partner_pairs(model).ravel(), minlength=1).max())


def partner_pairs(model: CouplingMarkovChain) -> Integers:
    """Return which two sequences hang together directly, one pair a column; two that hear each other are one pair."""
    telling = (np.ptp(model.moves, axis=2).max(axis=1) > 0) & (model.heads != model.tails)
    return np.unique(np.sort(np.stack([model.heads[telling], model.tails[telling]]), axis=0), axis=1)


def k_sensitivity(query: Query, sequences: int, states: int, k: int) -> float:
    """Return d(k) of Definition 8: the most that k sequences change a query, over the most that one does.

    k for means and sums, 1 for a maximum; for a weighted sum the k largest changes over the largest. Of several
    queries each counts with its most, as in their sensitivity.

    >>> from chronodp.correlated.query import Maximum, Mean, WeightedSum
    >>> k_sensitivity(Mean(), 6, 2, 3), k_sensitivity(Maximum(), 6, 2, 3)
    (3.0, 1.0)
    >>> k_sensitivity(WeightedSum((4.0, -2.0, 1.0)), 3, 2, 2)
    1.5
    """
    check_whole("sequences", sequences, most=_MOST_SEQUENCES)
    check_whole("states", states, least=2, most=_MOST_STATES)
    outputs = tabulate(check_query(query), sequences, states)
    return _largest_change(outputs, check_whole("k", k, most=sequences)) / _largest_change(outputs, 1)


def _largest_change(outputs: QueryTable, k: int) -> float:
    apart = np.ptp(outputs.parts, axis=2)  # outputs × sequences
    compared = np.asarray(outputs.largest)
    # Every sequence has the same scores in a maximum: one that goes from the least to the largest moves it all the way.
    whole = float(apart[compared].max(axis=1).sum()) if compared.any() else 0.0
    each = np.sort(apart[~compared].sum(axis=0))[::-1]
    return whole + float(each[:k].sum())
