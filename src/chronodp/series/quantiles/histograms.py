"""Quantiles from a noisy histogram whose noise is shaped along values, so that counts below an edge err little.

"Shaped along values" of ``docs/explanation/proofs/quantiles.md``: the square root for Gaussian noise, block sums for
Laplace's, independent bins where there are few.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from chronodp.postprocess import Floats, deviations, mixed_quantile
from chronodp.privacy import Cost, document
from chronodp.randomness import Entropy
from chronodp.series.noise import Noise
from chronodp.series.quantiles.block_sums import BlockSums
from chronodp.series.shapes.toeplitz import SquareRoot, White
from chronodp.series.shaping import filter_draws

__all__ = ["Along", "ByHistogram"]

Wholes = NDArray[np.int64]

Along: TypeAlias = White | SquareRoot | BlockSums
"""How the noise of one bin hangs together with that of others."""


@document("quantiles_by_histogram")
@dataclass(frozen=True)
class ByHistogram:
    """Every quantile is read from noisy counts by bin.

    Attributes:
        shape: of the noise along bins.
        noise: on every bin, or block of bins, before it is shaped.
    """

    shape: Along
    noise: Noise

    def cost(self, quantiles: int) -> Cost:
        """Return what the histogram costs, however many quantiles are read from it."""
        del quantiles
        return self.noise.cost

    def draw(self, counts: Wholes, entropy: Entropy) -> Wholes:
        """Return noisy counts (cells, bins) in steps of the grid, from exact ones."""
        draw = self.noise.draws(entropy)
        match self.shape:
            case White():
                return counts + draw(counts.shape)
            case SquareRoot():
                return counts + filter_draws(self.shape, draw(counts.shape[::-1])).T
            case BlockSums():
                noisy = [(part + draw(part.shape)).astype(np.float64) for part in self.shape.sums(counts)]
                return np.rint(self.shape.reconcile(noisy, counts.shape[1])).astype(np.int64)

    def variances(self, q: float, bins: int) -> Floats:
        """Return the variance of D_j = (below edge j) - q (all), j = 1 … bins, for draws of variance 1."""
        return _variances(self.shape, q, bins)

    def half_widths(self, q: float, bins: int, periods: int, level: float) -> Floats:
        """Return how far noise carries D_j of so many periods together, j = 1 … bins - 1, at a level."""
        if self.noise.law == "laplace" and isinstance(self.shape, White):
            return self.noise.scale * np.array([_exact(q, edge, bins, periods, level) for edge in range(1, bins)])
        spread = np.sqrt(self.variances(q, bins)[:-1] * periods)
        return np.asarray(deviations(self.noise.law, level) * self.noise.deviation * spread)

    def rank_error(self, quantiles: tuple[float, ...], bins: int) -> float:
        """Return the mean error of ranks that noise brings, over quantiles and edges: √(2/π) deviations."""
        roots = [_errors(self.shape, q, bins)[0] for q in quantiles]
        return math.sqrt(2 / math.pi) * self.noise.deviation * math.fsum(roots) / len(roots)

    def rank_rmse(self, quantiles: tuple[float, ...], bins: int) -> float:
        """Return the root mean squared error of ranks that noise brings, over quantiles and edges."""
        means = [_errors(self.shape, q, bins)[1] for q in quantiles]
        return self.noise.deviation * math.sqrt(math.fsum(means) / len(means))

    def __str__(self) -> str:
        noise = {"laplace": "Laplace", "gaussian": "Gaussian"}[self.noise.law]
        if isinstance(self.shape, White):
            return f"a histogram with {noise} noise on every bin"
        shape = "the square root along values" if isinstance(self.shape, SquareRoot) else str(self.shape)
        return f"a histogram with {noise} noise, {shape}"


def _variances(shape: Along, q: float, bins: int) -> Floats:
    match shape:
        case White():
            inside = np.arange(1.0, bins + 1)
            return np.asarray((1 - q) ** 2 * inside + q**2 * (bins - inside))
        case SquareRoot():
            return _square_root_variances(shape, q, bins)
        case BlockSums():
            return shape.variances(q, bins)


@lru_cache(maxsize=2**12)  # whoever plans asks again for every law, price and share, on which they do not hang
def _errors(shape: Along, q: float, bins: int) -> tuple[float, float]:
    """Return the mean deviation, and the mean variance, over inner edges, for draws of variance 1."""
    inner = _variances(shape, q, bins)[: max(1, bins - 1)]
    return float(np.sqrt(inner).mean()), float(inner.mean())


def _exact(q: float, edge: int, bins: int, periods: int, level: float) -> float:
    """Return the quantile of the noise of ``edge`` bins with weight 1 - q and of the others with weight q."""
    return mixed_quantile("laplace", (1 - q, periods * edge), (q, periods * (bins - edge)), level)


def _square_root_variances(shape: SquareRoot, q: float, bins: int) -> Floats:
    # Counts below edge j err by Σ_{s<j} c_{j-1-s} z_s: two of them share Σ_i c_i c_{i+b-j}.
    column = shape.coefficients(bins)
    squares = np.cumsum(column**2)
    size = next_fast_len(2 * bins, real=True)
    shared = irfft(np.abs(rfft(column, size)) ** 2, size)[:bins][::-1]  # by lag, that of b - j for j = 1 … b
    return np.asarray(np.maximum(squares + q * q * squares[-1] - 2 * q * shared, 0.0))
