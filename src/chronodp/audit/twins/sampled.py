"""Mistakes that samples alone must catch: mechanisms that take their randomness from elsewhere, or too fine to walk."""

from __future__ import annotations

import numpy as np

from chronodp.accounting import gaussian
from chronodp.audit.statistical import Sampled
from chronodp.audit.twins.twin import Twin
from chronodp.privacy import Claim, Event, GaussianCost, LaplaceCost
from chronodp.randomness import Entropy

__all__ = ["TWINS"]

_NOISE = "docs/explanation/proofs/noise.md"
_FINE = 2.0**-12
_SIGMA = gaussian.sigma(1.0, 1e-5)


def release_on_grid(value: float, *, entropy: Entropy) -> float:
    """Add Laplace noise on a grid."""
    return value + float(entropy.laplace(1 / _FINE, 1)[0]) * _FINE


def release_by_numpy(value: float) -> float:
    """Add numpy's Laplace noise: which floats can come out tells what went in."""
    return value + float(np.random.default_rng().laplace(0.0, 1.0))


def release_thin(value: float, *, entropy: Entropy) -> float:
    """Add Laplace noise of eight tenths of the scale."""
    return value + float(entropy.laplace(0.8 / _FINE, 1)[0]) * _FINE


def release_gaussian(value: float, *, entropy: Entropy) -> float:
    """Add Gaussian noise on a grid."""
    return value + float(entropy.gaussian(_SIGMA / _FINE, 1)[0]) * _FINE


def release_by_classical_formula(value: float, *, entropy: Entropy) -> float:
    """Add Gaussian noise of 1 / epsilon, forgetting the logarithm."""
    return value + float(entropy.gaussian(1 / _FINE, 1)[0]) * _FINE


def release_pair(values: tuple[float, float], *, entropy: Entropy) -> tuple[float, float]:
    """Release two values, each with noise of its own for half the budget."""
    first, second = (entropy.laplace(2 / _FINE, 2) * _FINE).tolist()
    return values[0] + first, values[1] + second


def release_pair_with_one_draw(values: tuple[float, float], *, entropy: Entropy) -> tuple[float, float]:
    """Release two values with one draw of noise: their difference is published."""
    noise = float(entropy.laplace(2 / _FINE, 1)[0]) * _FINE
    return values[0] + noise, values[1] + noise


_LAPLACE = Claim(Event(), LaplaceCost(1.0, 1.0), _NOISE)
_ONE_APART = ((0.0, 1.0),)

TWINS: tuple[Twin, ...] = (
    Twin(
        name="numpy's floating-point noise",
        claim=_LAPLACE,
        sound=release_on_grid,
        broken=release_by_numpy,
        neighbours=_ONE_APART,
        checks=(Sampled(),),
    ),
    Twin(
        name="noise times 0.8 on a fine grid",
        claim=_LAPLACE,
        sound=release_on_grid,
        broken=release_thin,
        neighbours=_ONE_APART,
        checks=(Sampled(),),
    ),
    Twin(
        name="Gaussian noise without its logarithm",
        claim=Claim(Event(), GaussianCost(1.0, _SIGMA), _NOISE),
        sound=release_gaussian,
        broken=release_by_classical_formula,
        neighbours=_ONE_APART,
        delta=1e-5,
        checks=(Sampled(),),
    ),
    Twin(
        name="reused noise",
        claim=_LAPLACE,
        sound=release_pair,
        broken=release_pair_with_one_draw,
        neighbours=(((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0), (1.0, 1.0))),
        checks=(Sampled(),),
    ),
)
