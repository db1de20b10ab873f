"""How good the choices of `Find` are, without sampling: every outcome is weighed by its exact probability.

The probabilities are those of the library's own steps (`chronodp.series.finding`); only what an engine would count and
add up is computed here, from arrays. One bound on a whole series is chosen by the same steps in plain floats.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import chronodp as cdp
from benchmarks.crowds import Crowd, Floats, Integers
from chronodp.selection import exponents_of, whole_gaps
from chronodp.series.finding import FindDesign, Joint
from chronodp.series.finding.scale import median_utilities

__all__ = ["RARE", "Outcome", "find_clip_and_periods", "find_norm", "softmax"]

RARE = 2e-5  # outcomes of the first two steps below this chance are left out


@dataclass(frozen=True)
class Outcome:
    """One choice that may be made: its chance and the root mean squared error of the release under it."""

    chance: float
    error: float


def softmax(exponents: Floats) -> Floats:
    weights = np.exp(exponents - exponents.max())
    return np.asarray(weights / weights.sum())


@lru_cache
def designed(periods: int, share: float) -> FindDesign:
    """Return the design of a sum whose clip and periods are found, at (1, 1e-6)."""
    start = dt.date(2001, 1, 1)
    series = cdp.TimeSeries(
        "none.csv",
        time="at",
        user="who",
        every="1D",
        start=str(start),
        end=str(start + dt.timedelta(days=periods)),
        unit=cdp.User(),
        max_periods=cdp.Find(share),
    )
    plan: Any = series.sum("x", clip=cdp.Find(share)).plan(epsilon=1.0, delta=1e-6)
    design: FindDesign = plan.design
    return design


def find_clip_and_periods(crowd: Crowd, share: float, *, rare: float = RARE) -> list[Outcome]:
    """Return every choice of a clip and a limit on periods with its chance and its error."""
    design = designed(crowd.periods, share)
    kept: dict[float, Floats] = {}
    squared: dict[float, Floats] = {}
    outcomes = []
    for joint, chance in _scales(crowd, design, rare):
        step, ks = joint.grid.step, np.array(joint.periods)
        held = np.floor(crowd.level * crowd.periods / step)
        weight = np.minimum(1, ks[:, None] / np.maximum(crowd.present, 1)[None, :])
        each = np.empty_like(weight)  # used again: what is allocated anew takes longer than what is computed
        losses = np.empty((len(ks), len(joint.sizes)))
        errors = np.empty_like(losses)
        for column, size in enumerate(joint.sizes):
            clip = size * step
            if clip not in kept:
                kept[clip], squared[clip] = crowd.kept(clip) * crowd.periods, crowd.squared_error(clip, ks)
            np.floor(np.multiply(weight, np.floor(kept[clip] / step), out=each), out=each)
            losses[:, column] = _weighed(joint, np.subtract(held, each, out=each)).sum(1)
            errors[:, column] = np.sqrt(squared[clip] + (clip * np.sqrt(ks) / design.split.noise) ** 2)
        chances = chance * _chances(joint.choice, joint.utilities([int(loss) for loss in losses.ravel()]))
        outcomes += [Outcome(*pair) for pair in zip(chances, errors.ravel(), strict=True)]
    return outcomes


def find_norm(crowd: Crowd, share: float, *, rare: float = RARE) -> list[Outcome]:
    """Return every choice of one l2 bound on a person's series with its chance and its error."""
    design = designed(crowd.periods, share)
    half = round(2 * np.log2(crowd.periods))
    over = np.where(crowd.norm > 0, crowd.norm, 1)
    squared: dict[float, float] = {}
    outcomes = []
    for joint, chance in _scales(crowd, design, rare):
        cap = joint.cap * joint.grid.step / crowd.periods
        bounds = joint.end * 2.0 ** (np.arange(half - 12, 2 * half + 9) / 4)
        losses = [crowd.level * (1 - np.minimum(1, bound / over)) for bound in bounds]
        lost = np.array([np.minimum(cap, one + 3 * np.maximum(0, one - cap / 10)).sum() for one in losses])
        noise = bounds / design.split.noise
        chances = chance * softmax(-joint.epsilon * np.maximum(lost, noise) / cap)
        for bound in bounds:
            if bound not in squared:
                squared[bound] = crowd.squared_error_of_norm(bound)
        errors = np.sqrt([squared[bound] for bound in bounds] + noise**2)
        outcomes += [Outcome(*pair) for pair in zip(chances, errors, strict=True)]
    return outcomes


def _scales(crowd: Crowd, design: FindDesign, rare: float) -> Iterator[tuple[Joint, float]]:
    """Yield the choice of bounds after each median and upper end that the first two steps may find, with its chance."""
    scale = design.scale
    held = np.sort(np.floor(crowd.level[crowd.level > 0] * crowd.periods / scale.grid.step))
    above = _counts(held, scale.sizes)
    medians = tuple(above[scale.before : scale.before + len(scale.first)])
    for place, chance in enumerate(_chances(scale.median, median_utilities(medians, len(held)))):
        if chance < rare:
            continue
        tail = tuple(above[place : place + len(scale.tail.candidates)])
        for step, then in enumerate(_chances(scale.tail, scale.tail_utilities(tail))):
            if chance * then > rare:
                median = scale.first[place]
                yield design.joint(median, median + int(scale.tail.candidates[step])), float(chance * then)


def _counts(held: Floats, sizes: tuple[int, ...]) -> list[int]:
    places: Integers = np.searchsorted(held, np.array(sizes, dtype=np.float64), side="right")
    return [len(held) - int(place) for place in places]


def _chances(choice: Any, utilities: list[int]) -> Floats:
    return softmax(-exponents_of(choice, whole_gaps(choice, utilities)))


def _weighed(joint: Joint, lost: Floats) -> Floats:
    """What is lost, four times beyond a tenth of the cap, at most the cap; of whole numbers below 2^53, so exact."""
    return np.minimum(joint.cap, np.maximum(lost, 4 * lost - 3 * (joint.cap // 10)), out=lost)
