"""Mistakes about lives where noise is shaped, or where a life is renewed: why issues have white noise and lives end."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import toeplitz

from chronodp.accounting import gaussian
from chronodp.audit.numerical import Linear
from chronodp.engines import WholePrice
from chronodp.privacy import Claim, GaussianCost, Unit, User, Window
from chronodp.randomness import Entropy
from chronodp.series import RunningTotal
from chronodp.series.shapes import SquareRoot
from tests.audit.issues import Row, Table, Terms, booked
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS", "roll"]

Floats = NDArray[np.float64]
Series = tuple[float, ...]
Months = tuple[bool, ...]
"""In which months a person is there."""

_ARGUMENT = "docs/explanation/proofs/lifetime.md"
_DELTA = 1e-5
_MU = gaussian.mu_for(1.0, _DELTA)
_STEP = 2.0**-20  # the grid of these releases
_ISSUES, _LONG, _WINDOW = 12, 120, 2


def _shape(length: int) -> Floats:
    column = SquareRoot(RunningTotal()).coefficients(length)
    return np.asarray(np.tril(toeplitz(column)), np.float64)


def _released(matrix: Floats, scales: Floats) -> Callable[..., Series]:
    """Release C x + noise, of which all else is computed, each number with noise of its own scale."""

    def release(series: Series, *, entropy: Entropy) -> Series:
        exact = matrix @ np.array(series)
        drawn = [int(entropy.gaussian(float(scale) / _STEP, 1)[0]) * _STEP for scale in scales]
        return tuple((exact + np.array(drawn)).tolist())

    return release


def _mutant(
    name: str, unit: Unit, reach: float, sound: object, broken: object, changed: tuple[object, object]
) -> Mutant:
    return Mutant(
        name=name,
        claim=Claim(unit, GaussianCost(reach, reach / _MU), _ARGUMENT),
        epsilon=1.0,
        delta=_DELTA,
        sound=sound,  # type: ignore[arg-type]  # mechanisms of inputs of their own kinds
        broken=broken,  # type: ignore[arg-type]  # as above
        neighbours=(changed,),
        checks=(Linear(),),
    )


def _less_noise_later() -> Mutant:
    """A person in the first issue, whose noise reaches into all later ones: there it is divided by ten."""
    matrix = _shape(_ISSUES)
    reach = float(np.linalg.norm(matrix[:, 0]))
    honest = np.full(_ISSUES, reach / _MU * (1 + 1e-9))
    thin = np.where(np.arange(_ISSUES) > 0, honest / 10, honest)
    someone = (1.0, *(0.0,) * (_ISSUES - 1))
    return _mutant(
        "noise shaped across issues that is less from the second on",
        User(),
        reach,
        _released(matrix, honest),
        _released(matrix, thin),
        ((0.0,) * _ISSUES, someone),
    )


@lru_cache(maxsize=16)
def roll(months: Months, rolling: bool) -> tuple[int, ...]:
    """Return in which months someone counts: always, or only where none of the last w - 1 months did."""
    terms = Terms(WholePrice((1,)))
    counted: list[int] = []
    for here in months:
        table: Table = (Row("ann"),) if here else ()
        # The life of a window: what is used comes back when it is w months old.
        used = sum(counted[-(_WINDOW - 1) :]) if rolling else 0
        known = tuple((entry, used) for entry, _ in booked((Row("ann"),), terms, 1, (), "any", _itself)[1])
        counted.append(booked(table, terms, 1, known, "any", _itself)[0][0])
    return tuple(counted)


def _itself(entry: tuple[int, int]) -> tuple[int, int]:
    return entry


def _rolling_life() -> Mutant:
    """A life of one month in any two, priced for a window of two; the sound one counts all, and pays for two cells."""
    scale = _MU / math.sqrt(_WINDOW)

    def release(rolling: bool) -> Callable[..., Series]:
        def noisy(months: Months, *, entropy: Entropy) -> Series:
            drawn = entropy.gaussian((1 + 1e-9) / scale / _STEP, _LONG) * _STEP
            return tuple((np.array(roll(months, rolling)) + drawn).tolist())

        return noisy

    always = (True,) * _LONG
    without = (False, *always[1:])
    unit = Window(_WINDOW)
    return _mutant(
        "a life that comes back month by month, priced for a window",
        unit,
        math.sqrt(_WINDOW),
        release(rolling=False),
        release(rolling=True),
        (always, without),
    )


MUTANTS: tuple[Mutant, ...] = (_less_noise_later(), _rolling_life())
