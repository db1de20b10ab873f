"""Hours, days and months that add up: the best estimate from noisy numbers at several levels of a hierarchy.

Released apart, the hours of a day do not add up to the day. The estimate that does, and that weighs all of them by
their precision, is that of generalised least squares; for nested blocks two passes find it, one from the finest
blocks up and one back down.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Floats, NormalEstimates, as_columns, as_deviations

__all__ = ["Tier", "add_up"]


@dataclass(frozen=True, slots=True)
class Tier:
    """Noisy numbers for blocks of one kind, such as days.

    Attributes:
        value: sums over each block, blocks × places.
        deviation: of their noise, independent of all the others: one for all, one a block, or one each. Of a coarser
            tier, 0 where a sum is known exactly and infinity where it is not known.
        lengths: how many of the finest periods each block has, as ``Windows.lengths`` tells; none for the finest tier.
            Blocks stand one after the other from the first period on; periods that are left over at the end are free.
    """

    value: ArrayLike
    deviation: ArrayLike
    lengths: Sequence[int] | NDArray[np.int64] = ()


def add_up(tiers: Sequence[Tier]) -> tuple[NormalEstimates, ...]:
    """Return estimates of every tier that add up, and their deviations: the best that are linear in the values.

    Up, for each block: e = b + w / (w + σ²) (y - b) with variance u = w σ² / (w + σ²). Down, for each part of a block:
    h = e + u / w (H - b) with variance u (1 - u / w) + (u / w)² V, where

    * y is the block's noisy value and σ² its variance,
    * b and w are the sums of e and u over the parts of the block,
    * H and V are the final estimate and variance of the block that a part belongs to.

    Bias: none; every estimate stays unbiased. Deviations are exact, and none grows. For Gaussian noise so are the
    normal intervals made from them. Estimates of one hierarchy are correlated: a sum of hours has the deviation of
    its day, not that of the hours added up.

    Args:
        tiers: the finest first, each coarser one made of whole blocks of the one before.

    Guarantee: free, and exactly as private as the values together.

    >>> hours, days = add_up([Tier([4.0, 2.0, 1.0, 5.0], 1.0), Tier([9.0, 6.0], 1.0, lengths=(2, 2))])
    >>> hours.value.ravel().tolist(), days.value.ravel().tolist()
    ([5.0, 3.0, 1.0, 5.0], [8.0, 6.0])
    >>> (days.deviation[0] ** 2).round(4).tolist(), (hours.deviation[0] ** 2).round(4).tolist()
    ([0.6667], [0.6667])

    References:
        Hay, Rastogi, Miklau, Suciu (2010), Boosting the accuracy of differentially private histograms through
        consistency. Chou, Willsky, Benveniste (1994), Multiscale recursive estimation, data fusion, and regularization.
    """
    if not tiers:
        raise InvalidArgument("tiers", "none", "at least one Tier, the finest first")
    values = as_columns("value", tiers[0].value)
    shape = (values.shape[0], values.shape[1])
    if len(tiers[0].lengths):
        raise InvalidArgument("lengths", "some", "left out for the finest tier, which comes first")
    known = [_Known(values, as_deviations("deviation", tiers[0].deviation, shape) ** 2, *_NOTHING_BELOW)]
    edges: NDArray[np.int64] = np.arange(len(values) + 1)
    for number, tier in enumerate(tiers[1:], start=1):
        upper = _edges(number, tier, edges)
        known.append(_rise(tier, known[-1], np.searchsorted(edges, upper)))
        edges = upper
    value, variance = known[-1].value, known[-1].variance
    found = [(value, variance)]
    for above, below in itertools.pairwise(reversed(known)):
        value, variance = _fall(value, variance, above, below)
        found.append((value, variance))
    counts = [len(values)] + [len(tier.lengths) for tier in tiers[1:]]
    return tuple(
        NormalEstimates(value[:count], np.sqrt(variance[:count]))
        for count, (value, variance) in zip(counts, reversed(found), strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What a tier's own values and all finer ones say of its blocks, and what the finer ones say alone."""

    value: Floats
    variance: Floats
    parts: NDArray[np.int64]
    sums: Floats
    spread: Floats


_NOTHING_BELOW = (np.empty(0, np.int64), np.empty((0, 0)), np.empty((0, 0)))


def _edges(number: int, tier: Tier, finer: NDArray[np.int64]) -> NDArray[np.int64]:
    """The period before which each block begins, and the end; what is left over at the end makes one more block."""
    allowed = (
        f"whole numbers that fill whole blocks of tier {number - 1} and at most {finer[-1]} periods, in tier {number}"
    )
    lengths = np.asarray(tier.lengths)
    if lengths.ndim != 1 or not len(lengths) or lengths.dtype.kind not in "iu" or lengths.min() < 1:
        raise InvalidArgument("lengths", tier.lengths, allowed)
    edges: NDArray[np.int64] = np.concatenate(([0], np.cumsum(lengths)))
    if not np.isin(edges, finer).all():
        raise InvalidArgument("lengths", f"{len(lengths)} blocks of {edges[-1]} periods in all", allowed)
    return edges if edges[-1] == finer[-1] else np.append(edges, finer[-1])


def _rise(tier: Tier, below: _Known, bounds: NDArray[np.int64]) -> _Known:
    own = as_columns("value", tier.value)
    if own.shape != (len(tier.lengths), below.value.shape[1]):
        allowed = f"{len(tier.lengths)} blocks × {below.value.shape[1]} places, as lengths and the finest tier have it"
        raise InvalidArgument("value", f"shape {own.shape}", allowed)
    noise = as_deviations("deviation", tier.deviation, (own.shape[0], own.shape[1]), exact=True, absent=True) ** 2
    rest = ((0, len(bounds) - 1 - len(own)), (0, 0))
    own, noise = np.pad(own, rest), np.pad(noise, rest, constant_values=np.inf)
    sums, spread = np.add.reduceat(below.value, bounds[:-1]), np.add.reduceat(below.variance, bounds[:-1])
    # Parts that are all known exactly stand against everything above them.
    gain = np.divide(spread, spread + noise, out=np.zeros_like(spread), where=spread > 0)
    left = np.where(np.isinf(noise), spread, gain * np.where(np.isinf(noise), 0.0, noise))
    return _Known(sums + gain * (own - sums), left, np.diff(bounds), sums, spread)


def _fall(value: Floats, variance: Floats, above: _Known, below: _Known) -> tuple[Floats, Floats]:
    excess, spread, given = (np.repeat(of, above.parts, axis=0) for of in (value - above.sums, above.spread, variance))
    share = np.divide(below.variance, spread, out=np.zeros_like(spread), where=spread > 0)
    return below.value + share * excess, below.variance * (1 - share) + share**2 * given
