"""Mistakes about what one person changes on the levels of a hierarchy of places."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import gaussian
from chronodp.audit.numerical import Linear
from chronodp.privacy import Claim, GaussianCost, User
from chronodp.randomness import Entropy
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_DELTA = 1e-5
_MU = gaussian.mu_for(1.0, _DELTA)
_STEPS = 2.0**-20
_STATES, _COUNTIES, _HELD = 3, 4, 4


def _levels() -> NDArray[np.float64]:
    """The matrix from counties to the country, its states and the counties themselves."""
    counties = np.eye(_STATES * _COUNTIES)
    states = np.repeat(np.eye(_STATES), _COUNTIES, axis=1)
    return np.vstack([states.sum(axis=0, keepdims=True), states, counties])


def _noisy(sensitivity: float) -> Callable[..., tuple[float, ...]]:
    def release(counties: tuple[float, ...], *, entropy: Entropy) -> tuple[float, ...]:
        exact = _levels() @ np.array(counties)
        return tuple((exact + entropy.gaussian(sensitivity / _MU / _STEPS, len(exact)) * _STEPS).tolist())

    return release


def _at_the_number_of_leaves() -> Mutant:
    """A person in four counties, each level said to change by four ones: but a state of four changes by 4 itself."""
    honest = math.sqrt(16 + 16 + 4)
    places = _STATES * _COUNTIES
    nobody = (0.0,) * places
    held = [range(_HELD), range(0, 2 * _HELD, 2), *itertools.combinations(range(5), _HELD)]
    changes = [tuple(float(place in some) for place in range(places)) for some in held]
    return Mutant(
        name="levels of places priced at the number of leaves",
        claim=Claim(User(), GaussianCost(honest, honest / _MU), "docs/explanation/proofs/places.md"),
        epsilon=1.0,
        delta=_DELTA,
        sound=_noisy(honest * (1 + 1e-9)),
        broken=_noisy(math.sqrt(3 * _HELD)),
        neighbours=tuple((nobody, change) for change in changes),
        checks=(Linear(),),
    )


MUTANTS: tuple[Mutant, ...] = (_at_the_number_of_leaves(),)
