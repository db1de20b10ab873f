"""Mistakes about how far one person reaches through shaped noise."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import gaussian
from chronodp.audit.numerical import Linear
from chronodp.privacy import Claim, Event, GaussianCost, User
from chronodp.randomness import Entropy
from chronodp.series import RunningTotal
from chronodp.series.shapes import SquareRoot
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

Series = tuple[float, ...]
Floats = NDArray[np.float64]
Mechanism = Callable[..., tuple[float, ...]]

_DELTA = 1e-5
_MU = gaussian.mu_for(1.0, _DELTA)
_STEPS = 2.0**-20  # the grid of these releases
_LENGTH = 12


def _noisy(matrix: Floats, sensitivity: float) -> Mechanism:
    """Release a linear map of a series with Gaussian noise for the sensitivity that is said to be its own."""

    def release(series: Series, *, entropy: Entropy) -> tuple[float, ...]:
        scale = sensitivity / _MU / _STEPS
        return tuple((matrix @ np.array(series) + entropy.gaussian(scale, len(matrix)) * _STEPS).tolist())

    return release


def _mutant(name: str, matrix: Floats, honest: float, wrong: float, user: tuple[Series, ...], argument: str) -> Mutant:
    length = matrix.shape[1]
    claim = Claim(User() if len(user[0]) == _LENGTH else Event(), GaussianCost(honest, honest / _MU), argument)
    return Mutant(
        name=name,
        claim=claim,
        epsilon=1.0,
        delta=_DELTA,
        sound=_noisy(matrix, honest * (1 + 1e-9)),
        broken=_noisy(matrix, wrong),
        neighbours=tuple(((0.0,) * length, change) for change in user),
        checks=(Linear(),),
    )


def _spaced() -> Mutant:
    """A person in two periods six apart, seen through the root of a moving average of six, which rises again."""
    column = _root_of_moving_average(6, _LENGTH)
    matrix = np.array([[column[row - at] if row >= at else 0.0 for at in range(_LENGTH)] for row in range(_LENGTH)])
    changes = [_at(one, two) for one in range(_LENGTH) for two in range(one + 6, _LENGTH)]
    honest = max(float(np.linalg.norm(matrix @ np.array(change))) for change in changes)
    formula = float(np.linalg.norm(matrix @ np.array(_at(0, 6))))  # exact only for columns that never rise
    return _mutant(
        "the spacing formula on a shape that rises again",
        matrix,
        honest,
        formula,
        tuple(changes),
        "docs/explanation/proofs/shapes.md",
    )


def _skipped_root() -> Mutant:
    """A person in three periods of the square-root shape, charged for one."""
    length = _LENGTH
    column = SquareRoot(RunningTotal()).coefficients(length)
    matrix = np.array([[column[row - at] if row >= at else 0.0 for at in range(length)] for row in range(length)])
    changes = tuple(_at(one, one + 1, one + 2) for one in range(length - 2))
    honest = max(float(np.linalg.norm(matrix @ np.array(change))) for change in changes)
    return _mutant(
        "three periods of a person at the root of three",
        matrix,
        honest,
        math.sqrt(3) * float(np.linalg.norm(column)),
        changes,
        "docs/explanation/proofs/shapes.md",
    )


def _at(*places: int) -> Series:
    return tuple(float(place in places) for place in range(_LENGTH))


def _root_of_moving_average(width: int, length: int) -> Floats:
    """Return the column whose square, as a filter, is the moving average."""
    target = np.where(np.arange(length) < width, 1.0 / width, 0.0)
    column = np.zeros(length)
    column[0] = math.sqrt(target[0])
    for place in range(1, length):
        column[place] = (target[place] - column[1:place] @ column[1:place][::-1]) / (2 * column[0])
    return column


MUTANTS: tuple[Mutant, ...] = (_spaced(), _skipped_root())
