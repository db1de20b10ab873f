"""How fast the truth moves, read from the noisy values themselves: maximum likelihood with noise of known size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Floats
from chronodp.postprocess.kalman import Samples, samples
from chronodp.postprocess.motion import Motion, RandomWalk, Trend, paces
from chronodp.postprocess.recursions import filter_variances, pass_forward

__all__ = ["likeliest", "log_likelihood"]

# Logarithms of likelihoods (candidates × places) from variances of what moves the state (candidates × places × d).
_Judge: TypeAlias = Callable[[Floats], Floats]

Indices: TypeAlias = NDArray[np.int64]

_POINTS = 13  # candidates a round, in each direction
_ROUNDS = 8
_FAINT = 1e-3  # moves that raise the logarithm by less are not told from none


def log_likelihood(values: ArrayLike, deviation: ArrayLike, motion: Motion) -> Floats:
    """Return how likely the values of each place are under a motion, as a logarithm, whatever their start.

    -1/2 (sum of ln F_t + ln det S + sum of v_t² / F_t - b' S⁻¹ b + (m - d) ln 2π), where

    * v_t is a value's surprise in the filter from a start at 0, F_t its variance, E_t what a start of 1 adds to it,
    * S is the sum of E_t' E_t / F_t and b that of E_t' v_t / F_t,
    * m is the number of samples and d the numbers that make a start.

    >>> round(float(log_likelihood([0.0, 1.0], 1.0, RandomWalk(step=1.0))[0]), 4)
    -1.6349

    References:
        de Jong (1991), The diffuse Kalman filter.
    """
    given = samples(values, deviation, motion)
    moves = np.stack(paces(motion, given.values.shape[1]), axis=1)[None, :, : given.order] ** 2
    if np.isnan(moves).any():
        raise InvalidArgument("motion", str(motion), "one whose paces are given")
    found: Floats = _judge_by_filter(given)(moves)[0]
    return found


def likeliest(values: ArrayLike, deviation: ArrayLike, motion: Motion) -> Motion:
    """Return the motion with the paces that were None set to the most likely ones, for each place by itself.

    It maximises `log_likelihood`, to about a thousandth of each pace. Moves that make no difference are returned as 0.
    Of a short series the estimate is rough, and often 0 though the truth moves: intervals that take it for known are
    then too narrow. A `RandomWalk` without missing samples takes a few milliseconds a place (744 periods), another
    single pace a tenth of a second, both paces of a `Trend` one to five seconds.

    Args:
        values: noisy numbers, periods × places; NaN where a sample is missing.
        deviation: of their noise: one for all, one a period, or one each.
        motion: a `RandomWalk` or a `Trend`; None for each pace to estimate.

    Guarantee: free, and exactly as private as the values.

    >>> noise = np.random.default_rng(1)
    >>> truth = np.cumsum(noise.normal(scale=0.5, size=2000))
    >>> likeliest(truth + noise.normal(size=2000), 1.0, RandomWalk())
    RandomWalk(step=0.4865)
    """
    given = samples(values, deviation, motion)
    places = given.values.shape[1]
    known = np.stack(paces(motion, places), axis=1)[:, : given.order] ** 2
    unknown = np.flatnonzero(np.isnan(known[0]))
    if not len(unknown):
        return motion
    if np.any(np.isfinite(given.noise).sum(axis=0) < given.order + len(unknown)):
        least = given.order + len(unknown)
        raise InvalidArgument("values", "too few", f"at least {least} samples in every place to estimate a {motion}")
    full = given.order == 1 and bool(np.all(np.isfinite(given.noise) & (given.noise == given.noise[:1])))
    judge = _judge_by_transform(given) if full else _judge_by_filter(given)
    low, high = (np.log(end[:, unknown]) for end in _range(given))
    rough = _climb(given, known, unknown, low, high) if len(unknown) > 1 else _search(judge, known, unknown, low, high)
    best = _without_faint(judge, rough, unknown)
    found = [tuple(float(f"{math.sqrt(pace):.4g}") for pace in column) for column in best.T]
    chosen = [pace[0] if places == 1 else pace for pace in found]
    step = chosen[0] if motion.step is None else motion.step
    if isinstance(motion, Trend):
        return Trend(step, chosen[1] if motion.bend is None else motion.bend)
    return RandomWalk(step)


def _search(judge: _Judge, known: Floats, unknown: Indices, low: Floats, high: Floats) -> Floats:
    """Return variances, places × d: a grid of logarithms that narrows around the best of each place."""
    centre, reach = (low + high) / 2, (high - low) / 2
    grid = np.array(list(itertools.product(np.linspace(-1, 1, _POINTS), repeat=len(unknown))))
    for _ in range(_ROUNDS if len(unknown) == 1 else 1):
        tried = np.clip(centre + grid[:, None, :] * reach, low, high)
        best = np.argmax(judge(_with(known, unknown, np.exp(tried))), axis=0)
        centre = np.take_along_axis(tried, best[None, :, None], axis=0)[0]
        reach = reach * 2 / (_POINTS - 1)
    found: Floats = _with(known, unknown, np.exp(centre)[None])[0]
    return found


def _climb(given: Samples, known: Floats, unknown: Indices, low: Floats, high: Floats) -> Floats:
    """Return variances, places × d, by simplices in two directions: the way to the top may be a narrow ridge."""
    found = _search(_judge_by_filter(given), known, unknown, low, high)
    for place in range(len(known)):
        alone = Samples(given.values[:, [place]], given.noise[:, [place]], given.order)
        starts = (np.log(found[place]), np.clip(_moments(alone), low[place], high[place]))
        tops = [_top(_judge_by_filter(alone), start, low[place], high[place]) for start in starts]
        found[place] = np.exp(max(tops, key=lambda top: top[0])[1])
    return found


def _top(judge: _Judge, start: Floats, low: Floats, high: Floats) -> tuple[float, Floats]:
    from scipy.optimize import Bounds, minimize

    def cost(logarithms: Floats) -> float:
        return -float(judge(np.exp(logarithms)[None, None, :])[0, 0])

    options: Any = {"xatol": 1e-3, "fatol": 1e-6}
    found = minimize(cost, start, method="Nelder-Mead", bounds=Bounds(low, high), options=options)
    return -float(found.fun), found.x


def _moments(given: Samples) -> Floats:
    """Logarithms of rough variances of step and bend, from the covariances of second differences.

    These are u + 2 w + 6 R in one period and -w - 4 R in neighbours, where u and w are the variances of bend and step.
    """
    there = np.isfinite(given.noise[:, 0])
    noise = float(given.noise[there, 0].mean())
    second = np.diff(given.values[there, 0], n=2)
    step = max(-float(np.mean(second[1:] * second[:-1])) - 4 * noise, 0.0)
    bend = max(float(np.mean(second**2)) - 2 * step - 6 * noise, 0.0)
    return np.log(np.array([step, bend]) + 1e-6 * noise)


def _without_faint(judge: _Judge, found: Floats, unknown: Indices) -> Floats:
    """Return the variances with those set to 0 that the values do not ask for."""
    for number in unknown:
        still = found.copy()
        still[:, number] = 0.0
        best, other = judge(np.stack((found, still)))
        found = np.where((other >= best - _FAINT)[:, None], still, found)
    return found


def _with(known: Floats, unknown: Indices, moves: Floats) -> Floats:
    filled = np.repeat(known[None], len(moves), axis=0)
    filled[:, :, unknown] = moves
    return filled


def _range(given: Samples) -> tuple[Floats, Floats]:
    """The least and the greatest variance that need to be tried, places × d."""
    periods, places = given.values.shape
    low, high = np.empty((places, given.order)), np.empty((places, given.order))
    for place in range(places):
        there = np.isfinite(given.noise[:, place])
        size = float(given.noise[there, place].mean())
        differences = given.values[there, place]
        for number in range(given.order):
            differences = np.diff(differences)
            # Over all periods such moves add up to less than the noise of the mean, or of the slope.
            low[place, number] = 1e-3 * size / periods ** (2 * number + 2)
            high[place, number] = 4 * float(np.mean(differences**2)) + 8 * low[place, number]
    return low, high


def _judge_by_filter(given: Samples) -> _Judge:
    def judge(moves: Floats) -> Floats:
        found = np.empty(moves.shape[:2])
        for place in range(moves.shape[1]):
            noise = np.repeat(given.noise[:, place, None], len(moves), axis=1)
            for candidate, variances in enumerate(filter_variances(noise, moves[:, place])):
                passage = pass_forward(given.values[:, place, None], variances)
                seen = variances.precision > 0
                precision, surprise = variances.precision[seen], passage.surprises[seen, 0]
                responses = passage.responses[seen]
                weighted = (responses * precision[:, None]).T
                information, evidence = weighted @ responses, weighted @ surprise
                found[candidate, place] = -0.5 * (
                    -np.log(precision).sum()
                    + np.linalg.slogdet(information)[1]
                    + (surprise**2 * precision).sum()
                    - evidence @ np.linalg.solve(information, evidence)
                    + (len(surprise) - given.order) * math.log(2 * math.pi)
                )
        return found

    return judge


def _judge_by_transform(given: Samples) -> _Judge:
    """The same for a walk with every sample there and even noise.

    Differences of such values have the covariance Q I + R (2 on the diagonal, -1 beside it), which the sine transform
    makes diagonal, with Q + 4 R sin²(πk / 2n) for k from 1 to n - 1.
    """
    from scipy.fft import dst

    periods = len(given.values)
    powers = dst(np.diff(given.values, axis=0), type=1, axis=0, norm="ortho") ** 2
    noise = 4 * given.noise[0] * np.sin(np.pi * np.arange(1, periods) / (2 * periods))[:, None] ** 2

    def judge(moves: Floats) -> Floats:
        found = np.empty(moves.shape[:2])
        for candidate, move in enumerate(moves[:, :, 0]):
            expected = move + noise
            found[candidate] = -0.5 * (np.log(2 * np.pi * expected) + powers / expected).sum(axis=0)
        return found

    return judge
