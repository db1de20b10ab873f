"""What a snippet of a series tells about the rest of it, and about itself.

Correlation works both ways. The more a series remembers, the more a snippet tells about the *rest*; and the less there
is in the snippet to know, so that it tells less about the whole series, itself included: I(snippet; series) is its
entropy, and singles a person out the less the lower that is.

"What a snippet tells" of ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from chronodp.correlated.chain import CouplingMarkovChain, Floats
from chronodp.correlated.joint import JointChain
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_number, check_positive, check_whole

__all__ = ["autoregressive_covariance", "gaussian_information", "snippet_entropy"]

_LONGEST = 10_000  # readings whose covariance is written out


def autoregressive_covariance(length: int, *, memory: float, deviation: float = 1.0) -> Floats:
    """Return the covariance of a stationary autoregression of order one: deviation² · memory^|i - j|.

    >>> autoregressive_covariance(3, memory=0.5, deviation=2.0).tolist()
    [[4.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 4.0]]
    """
    check_whole("length", length, most=_LONGEST)
    if not -1 < check_number("memory", memory) < 1:
        raise InvalidArgument("memory", memory, "above -1 and below 1")
    apart = np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    covariance: Floats = check_positive("deviation", deviation) ** 2 * np.power(float(memory), apart)
    return covariance


def gaussian_information(covariance: ArrayLike, snippet: Sequence[int]) -> float:
    """Return I(snippet; the rest) in nats, of readings that are jointly Gaussian: ½ ln(det Σ_S det Σ_R / det Σ).

    Args:
        covariance: Σ, of all readings.
        snippet: which readings it is, from 0; not all of them.

    >>> round(gaussian_information(autoregressive_covariance(48, memory=0.9), range(21, 27)), 3)
    1.531
    """
    try:
        table = np.asarray(covariance, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise InvalidArgument("covariance", covariance, "a square matrix of numbers") from None
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.allclose(table, table.T):
        raise InvalidArgument("covariance", table.shape, "a square matrix that equals its transpose")
    if not isinstance(snippet, Sequence | np.ndarray) or getattr(snippet, "ndim", 1) != 1:
        raise InvalidArgument("snippet", snippet, "numbers of readings, from 0")
    chosen = sorted({check_whole("snippet", place, least=0, most=len(table) - 1) for place in snippet})
    if not 0 < len(chosen) < len(table):
        raise InvalidArgument("snippet", len(chosen), f"numbers of some of the {len(table)} readings, not all of them")
    rest = np.setdiff1d(np.arange(len(table)), chosen)
    apart = _log_determinant(table[chosen][:, chosen]) + _log_determinant(table[rest][:, rest])
    return max(0.0, (apart - _log_determinant(table)) / 2)


def snippet_entropy(model: CouplingMarkovChain, length: int) -> float:
    """Return the entropy of so many snapshots in a row, in nats: all that they tell about the series they are cut from.

    H(π) + (length - 1) Σ_x π(x) H(K(· | x)), for a chain in its stationary law.

    >>> import math
    >>> chain = CouplingMarkovChain([[0.9, 0.1], [0.1, 0.9]], [[1.0]])
    >>> round(snippet_entropy(chain, 6) / math.log(2), 3)                           # in bits
    3.345
    """
    if not isinstance(model, CouplingMarkovChain):
        raise InvalidArgument("model", model, "a CouplingMarkovChain")
    joint = JointChain(model)
    if not joint.has_law:
        raise InvalidArgument("model", model, "a chain with one stationary law that floats can hold")
    step = float(_entropies(joint.kernel) @ joint.stationary)
    return float(_entropies(joint.stationary[:, None])[0]) + (check_whole("length", length) - 1) * step


def _log_determinant(table: Floats) -> float:
    sign, size = np.linalg.slogdet(table)
    if not sign > 0 or not np.isfinite(size):
        raise InvalidArgument("covariance", table.shape, "positive definite: no reading a sum of multiples of others")
    return float(size)


def _entropies(laws: Floats) -> Floats:
    """Return the entropy of each column."""
    entropies: Floats = -np.sum(laws * np.log(np.where(laws > 0, laws, 1.0)), axis=0)
    return entropies
