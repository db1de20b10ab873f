"""How much the last step tells: the least and largest p_j(a | w) / p_j(b | w) over all snapshots w.

Both probabilities are sums over the sequences that j hears, so the least ratio is a separable fractional programme:
θ is below it if and only if Σ_k min_v (α_k(v) - θ β_k(v)) ≥ 0, and Dinkelbach's iteration finds it in a few rounds.

At θ itself the best choice so far gives 0, or what rounding makes of it, and would hide every choice with smaller
probabilities. Choices are therefore made at θ (1 - η), where the best so far gives η α > 0, well above its rounding: if
nothing better than θ turns up, no choice lies below θ (1 - 2η). That is what is returned.

min ρ of *Last step* in ``docs/explanation/proofs/correlated.md``, by Dinkelbach's method; η of "Finite precision" there
keeps it from below.
"""

from __future__ import annotations

import numpy as np

from chronodp.correlated.chain import CouplingMarkovChain, Floats, Integers

__all__ = ["least_ratios", "least_separable_ratio"]

_ROUNDS = 60


def least_ratios(model: CouplingMarkovChain) -> Floats:
    """Return min_w p_j(a | w) / p_j(b | w), as sequences × a × b; the largest ratio is one over it, a and b exchanged.

    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.5, 0.5], [0.5, 0.5]])
    >>> least_ratios(model)[0].round(3).tolist()
    [[1.0, 0.429], [0.429, 1.0]]
    """
    m = model.states
    found = np.ones((model.sequences, m, m))
    for a in range(m):
        for b in range(m):
            if a != b:
                found[:, a, b] = least_separable_ratio(model.moves[:, a], model.moves[:, b], model.starts)
    return found


def least_separable_ratio(above: Floats, below: Floats, starts: Integers) -> Floats:
    """Return min Σ_e above[e, v_e] / Σ_e below[e, v_e] over free choices of v_e, for each stretch of edges e.

    Infinite where the lower sum can only be 0, and 0 where the upper one can be.
    """
    edges = np.arange(len(above))
    degrees = np.diff(starts)
    heads = np.repeat(np.arange(len(degrees)), degrees)
    lower_by = (8 * degrees + 64) * 2.0**-53  # η
    theta = np.full(len(degrees), np.inf)
    better = np.ones(len(degrees), dtype=bool)
    # The first choice makes the lower sum as large as can be, so that a ratio exists wherever one does.
    chosen = below.argmax(axis=1)
    for _ in range(_ROUNDS):
        upper = np.add.reduceat(above[edges, chosen], starts[:-1])
        lower = np.add.reduceat(below[edges, chosen], starts[:-1])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(lower > 0, upper / lower, np.inf)
        better = ratio < theta
        if not better.any():
            break
        theta = np.where(better, ratio, theta)
        tried = np.where(np.isfinite(theta), theta * (1 - lower_by), 0.0)
        chosen = (above - tried[heads, None] * below).argmin(axis=1)
    # Rounds that ran out prove nothing.
    return np.where(better, 0.0, theta * (1 - 2 * lower_by))
