"""A bound from the last step alone, whatever was released before it.

Let w be the snapshot one step ago and ρ(w) = p_i(a | w) / p_i(b | w). Whatever reads only snapshots up to w, and the
present of the others, leaks at most the log range of ρ about sequence i: h = ln max ρ - ln min ρ. If the release
moreover changes its density by at most e^L over all that it reads, it leaks at most

    2 ln (cosh((h + L) / 4) / cosh((h - L) / 4)),

where L = (span of the query over the group / sensitivity) · epsilon. That is below both h and L.

*Last step* under "Bounds" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

import numpy as np

from chronodp.correlated.chain import Floats

__all__ = ["blunted", "log_range", "log_ranges", "one_step"]


def log_ranges(least: Floats) -> Floats:
    """Return h of each sequence from its least ratios: the largest, over pairs of states, of ln max ρ - ln min ρ.

    >>> log_ranges(np.array([[[1.0, 0.5], [0.25, 1.0]]])).round(4).tolist()      # ln 8
    [2.0794]
    """
    return np.asarray(log_range(least, np.swapaxes(least, 1, 2)).max(axis=(1, 2)))


def log_range(least: Floats, least_back: Floats) -> Floats:
    """Return ln max ρ - ln min ρ from the least ratios of two states both ways; 0 if one of them is never entered.

    Such a state (its least ratio is infinite) is nobody's present: there is nothing to tell apart.

    >>> log_range(np.array([0.5, np.inf]), np.array([0.25, 0.0])).round(4).tolist()
    [2.0794, 0.0]
    """
    entered = np.isfinite(least) & np.isfinite(least_back)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(entered, -np.log(least) - np.log(least_back), 0.0)


def blunted(told: Floats, heard: Floats) -> Floats:
    """Return the most that a release can leak: ``told`` is the log range of ρ (h), ``heard`` that of its density (L).

    >>> blunted(np.array([1.0, 0.1]), np.array([np.inf, 0.1])).round(5).tolist()
    [1.0, 0.0025]
    """
    small, large = np.minimum(told, heard), np.maximum(told, heard)
    with np.errstate(invalid="ignore"):
        # cosh written with its larger exponential taken out, and nothing subtracted that could cancel.
        over, under = np.exp(-(small + large) / 2), np.exp(-(large - small) / 2)
        made = small + 2 * (np.log1p(over) - np.log1p(under))
        # For a small range the two logarithms nearly cancel the first term: ln cosh(A+B)/cosh(A-B) by tanh instead.
        tilt = np.tanh(small / 4) * np.tanh(large / 4)
    return np.asarray(np.where(np.isinf(large), small, np.where(np.isinf(small), np.inf, _stable(made, tilt))))


def one_step(least: Floats, *, heard: Floats, direct: Floats) -> Floats:
    """Return the bound for every sequence.

    Args:
        least: the least ratios of `least_ratios`.
        heard: L of each sequence's group: span / sensitivity · epsilon.
        direct: what a sequence that is released without age leaks by itself, w_i · epsilon; 0 for the others.
    """
    return blunted(log_ranges(least), heard) + direct


def _stable(made: Floats, tilt: Floats) -> Floats:
    # cosh(A+B) / cosh(A-B) = (1 + tanh A tanh B) / (1 - tanh A tanh B)
    with np.errstate(divide="ignore"):
        return np.where(tilt < 0.99, 2 * (np.log1p(tilt) - np.log1p(-tilt)), made)
