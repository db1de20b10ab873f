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
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

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


_LAPLACE = Claim(Event(), LaplaceCost(1.0, 1.0), _NOISE)
_ONE_APART = ((0.0, 1.0),)

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="numpy's floating-point noise",
        claim=_LAPLACE,
        sound=_one_of(many_on_grid),
        sound_many=many_on_grid,
        broken=release_by_numpy,
        broken_many=many_by_numpy,
        neighbours=_ONE_APART,
        checks=(Sampled(),),
    ),
    Mutant(
        name="noise times 0.8 on a fine grid",
        claim=_LAPLACE,
        sound=_one_of(many_on_grid),
        sound_many=many_on_grid,
        broken=_one_of(many_thin),
        broken_many=many_thin,
        neighbours=_ONE_APART,
        checks=(Sampled(),),
    ),
    Mutant(
        name="noise on stairs under the curve, without the rest",
        claim=_LAPLACE,
        sound=_one_of(many_on_grid),
        sound_many=many_on_grid,
        broken=_one_of(many_without_the_rest),
        broken_many=many_without_the_rest,
        neighbours=_ONE_APART,
        checks=(Sampled(),),
    ),
    Mutant(
        name="Gaussian noise without its logarithm",
        claim=Claim(Event(), GaussianCost(1.0, _SIGMA), _NOISE),
        sound=_one_of(many_gaussian),
        sound_many=many_gaussian,
        broken=_one_of(many_by_classical_formula),
        broken_many=many_by_classical_formula,
        neighbours=_ONE_APART,
        delta=1e-5,
        checks=(Sampled(),),
    ),
    Mutant(
        name="reused noise",
        claim=_LAPLACE,
        sound=_one_of(many_pairs),
        sound_many=many_pairs,
        broken=_one_of(many_pairs_with_one_draw),
        broken_many=many_pairs_with_one_draw,
        neighbours=(((0.0, 0.0), (1.0, 0.0)), ((0.0, 0.0), (1.0, 1.0))),
        checks=(Sampled(),),
    ),
)
