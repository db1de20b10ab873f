"""Draws and twins that Fieller's sets are held against."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.conftest import GOLDEN

from chronodp.postprocess import FiellerSets, Law, mixed_sets, quadratic_sets, quantiles

Floats = NDArray[np.float64]
ONE_EACH = ((1.0, 0.0, 1), (0.0, 1.0, 1))


def golden(name: str) -> Any:
    return json.loads((GOLDEN / "published" / f"{name}.json").read_text())


def draw(law: Law, rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.normal(size=shape) if law == "gaussian" else rng.laplace(size=shape)


def normal(level: float) -> float:
    return float(quantiles("gaussian", [1], level)[0])


def sets_of(law: Law, numerator: Floats, denominator: Floats, level: float) -> FiellerSets:
    """The sets of a ratio of two numbers with one draw each."""
    if law == "gaussian":
        return quadratic_sets(numerator, denominator, aa=1, ab=0, bb=1, multiplier=normal(level))
    return mixed_sets(numerator, denominator, ONE_EACH, scale=1.0, level=level)


def delta_method(law: Law, numerator: Floats, denominator: Floats, level: float) -> tuple[Floats, Floats]:
    """The broken twin of many textbooks: a straight line through the estimate."""
    value = numerator / denominator
    variance = (1 + value**2) / denominator**2
    half = normal(level) * np.sqrt(variance * (1 if law == "gaussian" else 2))
    return value - half, value + half


def errors(seen: float, trials: int, *, expected: float, of: float = math.inf) -> float:
    """How many standard errors a share is away from what is expected of it, itself seen in ``of`` trials."""
    spread = math.sqrt(expected * (1 - expected) * (1 / trials + 1 / of))
    return abs(seen - expected) / max(spread, 1 / trials)
