"""Mistakes that samples alone must catch: mechanisms that take their randomness from elsewhere, or too fine to walk."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import gaussian
from chronodp.audit.case import Many
from chronodp.audit.statistical import Sampled
from chronodp.privacy import Claim, Event, GaussianCost, LaplaceCost
from chronodp.randomness import Entropy, secure
from tests.audit.registry import Mutant

Floats: TypeAlias = NDArray[np.floating[Any]]

_NOISE = "docs/explanation/proofs/noise.md"
_FINE = 2.0**-12
_SIGMA = gaussian.sigma(1.0, 1e-5)


def many_on_grid(value: float, count: int, *, entropy: Entropy) -> Floats:
    """Add Laplace noise on a grid."""
    return value + entropy.laplace(1 / _FINE, count) * _FINE


def many_by_numpy(value: float, count: int, *, entropy: Entropy) -> Floats:  # noqa: ARG001 (the mistake)
    """Add numpy's Laplace noise: which floats can come out tells what went in."""
    return value + np.random.default_rng().laplace(0.0, 1.0, count)


def many_thin(value: float, count: int, *, entropy: Entropy) -> Floats:
    """Add Laplace noise of eight tenths of the scale."""
    return value + entropy.laplace(0.8 / _FINE, count) * _FINE


def many_gaussian(value: float, count: int, *, entropy: Entropy) -> Floats:
    """Add Gaussian noise on a grid."""
    return value + entropy.gaussian(_SIGMA / _FINE, count) * _FINE


def many_by_classical_formula(value: float, count: int, *, entropy: Entropy) -> Floats:
    """Add Gaussian noise of 1 / epsilon, forgetting the logarithm."""
    return value + entropy.gaussian(1 / _FINE, count) * _FINE


def many_pairs(values: tuple[float, float], count: int, *, entropy: Entropy) -> Floats:
    """Release two values, each with noise of its own for half the budget."""
    return np.asarray(np.array(values) + entropy.laplace(2 / _FINE, (count, 2)) * _FINE)


def many_pairs_with_one_draw(values: tuple[float, float], count: int, *, entropy: Entropy) -> Floats:
    """Release two values with one draw of noise: their difference is published."""
    return np.asarray(np.array(values) + entropy.laplace(2 / _FINE, (count, 1)) * _FINE)


def many_without_the_rest(value: float, count: int, *, entropy: Entropy) -> Floats:
    """Add Laplace noise from flat steps under the density, and forget what lies between them and the curve."""
    widths = _step_widths()
    shares = entropy.integers(2**21, count) - 2**20
    noise = widths[entropy.integers(len(widths), count)] * shares / 2**20
    return np.asarray(value + np.rint(noise / _FINE) * _FINE)


@cache
def _step_widths(layers: int = 16) -> Floats:
    """Return half the widths of steps, each of mass 1 / layers, that lie under the Laplace density on each other."""
    widths: list[float] = []
    level, width = 0.0, 4.0
    while True:
        for _ in range(50):
            height = level + 1 / (2 * layers * width)
            if height >= 0.5:  # the density's own at 0
                return np.array(widths)
            width = -math.log(2 * height)
        widths.append(width)
        level += 1 / (2 * layers * width)


def release_by_numpy(value: float) -> object:
    """Add numpy's noise once: nothing of it comes from the entropy that mechanisms are given."""
    return many_by_numpy(value, 1, entropy=secure()).tolist()[0]


def _one_of(many: Many) -> Callable[..., object]:
    """Return a mechanism that makes one of what the other makes many of."""

    def release(data: object, *, entropy: Entropy) -> object:
        (made,) = np.asarray(many(data, 1, entropy=entropy)).tolist()
        return tuple(made) if isinstance(made, list) else made

    return release


def _mutant(name: str, sound: Many, broken: Many, neighbours: Any = ((0.0, 1.0),), **options: Any) -> Mutant:
    one, other = _one_of(sound), release_by_numpy if broken is many_by_numpy else _one_of(broken)
    options = {"claim": Claim(Event(), LaplaceCost(1.0, 1.0), _NOISE), "checks": (Sampled(),), **options}
    return Mutant(
        name=name, sound=one, broken=other, neighbours=neighbours, sound_many=sound, broken_many=broken, **options
    )


_GAUSSIAN = Claim(Event(), GaussianCost(1.0, _SIGMA), _NOISE)
_PAIRS = (((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0), (1.0, 1.0)))

MUTANTS: tuple[Mutant, ...] = (
    _mutant("numpy's floating-point noise", many_on_grid, many_by_numpy),
    _mutant("noise times 0.8 on a fine grid", many_on_grid, many_thin),
    _mutant("noise on stairs under the curve, without the rest", many_on_grid, many_without_the_rest),
    _mutant(
        "Gaussian noise without its logarithm", many_gaussian, many_by_classical_formula, claim=_GAUSSIAN, delta=1e-5
    ),
    _mutant("reused noise", many_pairs, many_pairs_with_one_draw, _PAIRS),
)
