"""How the truth is supposed to move from one period to the next: a random walk, or a slope that wanders.

These are suppositions about the world, not facts about the noise. Privacy does not rest on them; the intervals do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Floats
from chronodp.privacy import check_number

__all__ = ["Motion", "Pace", "RandomWalk", "Trend", "paces"]

Pace: TypeAlias = float | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RandomWalk:
    """The value moves by an independent step each period (a local level).

    x_{t+1} = x_t + w_t, where w_t is normal with standard deviation ``step``.

    Attributes:
        step: one for all places or one for each; 0 for a value that never moves; None to have it estimated.

    >>> RandomWalk(step=0.5)
    RandomWalk(step=0.5)
    """

    step: Pace | None = None

    def __post_init__(self) -> None:
        _check("step", self.step)


@dataclass(frozen=True, slots=True)
class Trend:
    """The value moves by a slope, and the slope by an independent bend each period (a local linear trend).

    x_{t+1} = x_t + b_t + w_t and b_{t+1} = b_t + u_t, where

    * w_t is normal with standard deviation ``step``,
    * u_t is normal with standard deviation ``bend``.

    Attributes:
        step: one for all places or one for each; 0 for a smooth line; None to have it estimated.
        bend: likewise; 0 for a slope that never changes.

    >>> Trend(step=0.0)
    Trend(step=0.0, bend=None)
    """

    step: Pace | None = None
    bend: Pace | None = None

    def __post_init__(self) -> None:
        _check("step", self.step)
        _check("bend", self.bend)


Motion: TypeAlias = RandomWalk | Trend


def paces(motion: Motion, places: int) -> tuple[Floats, Floats]:
    """Return step and bend for each place; NaN where they are to be estimated, a bend of 0 for a walk.

    >>> [pace.tolist() for pace in paces(RandomWalk(step=(0.5, 1.0)), 2)]
    [[0.5, 1.0], [0.0, 0.0]]
    """
    if not isinstance(motion, Motion):
        raise InvalidArgument("motion", motion, "a RandomWalk or a Trend")
    bend = motion.bend if isinstance(motion, Trend) else 0.0
    return _by_place("step", motion.step, places), _by_place("bend", bend, places)


def _by_place(name: str, pace: Pace | None, places: int) -> Floats:
    if isinstance(pace, tuple) and len(pace) != places:
        raise InvalidArgument(name, f"{len(pace)} numbers", f"one number, or one for each of {places} places")
    return np.broadcast_to(np.array(math.nan if pace is None else pace, dtype=np.float64), (places,))


def _check(name: str, pace: object) -> None:
    allowed = "a finite number of at least 0, a tuple of such numbers (one a place), or None to have it estimated"
    if pace is None:
        return
    for part in pace if isinstance(pace, tuple) and pace else (pace,):
        if check_number(name, part, allowed) < 0:
            raise InvalidArgument(name, part, allowed)
