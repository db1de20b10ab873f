"""What a ratio of two noisy numbers may be: Fieller's sets, exact however small the denominator is.

All ρ stay for which N - ρ D, of the two numbers as released, is within the noise of this very difference.
``docs/explanation/proofs/ratios.md`` has the argument.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Floats
from chronodp.postprocess.crossings import Reach, cross
from chronodp.postprocess.tails import mixed_quantiles

__all__ = ["FiellerSets", "Within", "kept_within", "mixed_sets", "quadratic_sets", "reach_sets"]

Within: TypeAlias = tuple[ArrayLike, ArrayLike]
Bools: TypeAlias = NDArray[np.bool_]

_DIRECTIONS = 1024  # of (a, b) in which the noise of a - ρ b is tabulated: chords are 1.2e-6 too far out at most
_SAME = 2.0**-44  # two readings that differ by less, relative, differ by rounding alone


@dataclass(frozen=True, slots=True)
class FiellerSets:
    """What ratios may be, arrays of one shape.

    Attributes:
        kind: "interval"; "outside" the open gap from ``not_above`` to ``not_below``; the whole "line"; or "empty",
            where nothing in the public range is within the noise.
        value: the ratio of the two numbers, inside the public range; NaN where the denominator cannot be told from 0.
        lower, upper: the ends of the set, or of what holds both its pieces; where it has no end, those of the public
            range or infinite. An empty set is shown as the end of the public range that is nearer.
        not_above, not_below: for "outside" the ratio is not above the first or not below the second; else NaN.
    """

    kind: NDArray[np.str_]
    value: Floats
    lower: Floats
    upper: Floats
    not_above: Floats
    not_below: Floats

    def contain(self, ratio: ArrayLike) -> Bools:
        """Return whether each set holds a ratio."""
        rho = np.asarray(ratio, np.float64)
        ends = (self.lower <= rho) & (rho <= self.upper) & (self.kind != "empty")
        found: Bools = ends & ~((self.not_above < rho) & (rho < self.not_below))
        return found


def quadratic_sets(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    aa: ArrayLike,
    ab: ArrayLike,
    bb: ArrayLike,
    multiplier: ArrayLike,
    within: Within | None = None,
) -> FiellerSets:
    """Return all ρ with |N - ρ D| <= multiplier * sqrt(aa - 2 ρ ab + ρ² bb), where aa, ab, bb are (co)variances.

    With the normal quantile as multiplier this is exact for Gaussian noise. With ``deviations("laplace", level)`` it
    holds for sums of Laplace draws with any weights.

    >>> sets = quadratic_sets([8, 8, 0.5], [3, 1, 1], aa=1, ab=0, bb=1, multiplier=1.959964)
    >>> sets.kind.tolist(), sets.lower.round(4).tolist(), sets.not_below.round(4).tolist()
    (['interval', 'outside', 'line'], [1.4928, -inf, -inf], [nan, 2.5788, nan])
    """
    given = (numerator, denominator, aa, ab, bb, multiplier)
    n, d, v_aa, v_ab, v_bb, z = np.broadcast_arrays(*(np.asarray(one, np.float64) for one in given))
    noise = z * np.sqrt(v_bb)
    # Written as products of sums and differences: D² and z² bb may agree in most digits, |D| and z √bb then differ
    # exactly (Sterbenz), so the sign, which decides whether the set is bounded, is that of the numbers as given.
    lead = (np.abs(d) - noise) * (np.abs(d) + noise)
    cross_term, rest = n * d - z**2 * v_ab, (np.abs(n) - z * np.sqrt(v_aa)) * (np.abs(n) + z * np.sqrt(v_aa))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = np.where(v_bb > 0, v_ab / v_bb, 0.0)  # a = slope * b + what is independent of b
        apart = n - slope * d
        alone = np.maximum(
            (np.sqrt(v_aa) - np.abs(slope) * np.sqrt(v_bb)) * (np.sqrt(v_aa) + np.abs(slope) * np.sqrt(v_bb)), 0
        )
        # B² - A Γ = z² (bb (N - slope D)² + A (aa - ab²/bb)): where A > 0 nothing is subtracted, so nothing cancels.
        inside = v_bb * apart**2 + lead * alone
        root = z * np.sqrt(np.maximum(inside, 0.0))
        # The larger root by its sum, the smaller from the product of both.
        sum_ = cross_term + np.where(cross_term < 0, -root, root)
        far = sum_ / lead
        near = np.where(sum_ == 0, far, rest / sum_)
        value = n / d
    bounded = (lead > 0) & (d != 0)
    gap = ~bounded & (inside > 0) & (v_bb > 0)
    low, high = np.minimum(near, far), np.maximum(near, far)
    # Proportional weights: N = c D as released and in truth, whatever the noise was.
    same = (v_bb > 0) & (alone <= _SAME * v_aa) & (np.abs(apart) <= _SAME * np.abs(n))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(d != 0, value, slope)
    return _assemble(bounded | same, np.where(same, ratio, value), (low, high), gap & ~same, same, within)


def mixed_sets(
    numerator: ArrayLike,
    denominator: ArrayLike,
    kinds: Sequence[tuple[float, float, int]],
    *,
    scale: ArrayLike,
    level: float,
    within: Within | None = None,
) -> FiellerSets:
    """Return all ρ that independent Laplace noise of scale ``scale`` does not contradict, exactly.

    Each kind is (weight in the numerator, weight in the denominator, how many such draws). All cells share them.

    >>> sets = mixed_sets([8, 70], [5, 100], [(1, 0, 1), (0, 1, 1)], scale=1, level=0.95)
    >>> sets.lower.round(4).tolist(), sets.upper.round(4).tolist()
    ([0.84, 0.665], [4.1164, 0.7362])
    """
    unit = np.asarray(scale, np.float64)
    n, d = np.asarray(numerator, np.float64) / unit, np.asarray(denominator, np.float64) / unit
    least, most = kept_within(within)
    reach, share = _laplace_reach(tuple(kinds), level, float(np.min(least)), float(np.max(most)))
    same = np.zeros(np.broadcast_shapes(n.shape, d.shape), bool)
    if share is not None:
        same = np.abs(n - share * d) <= _SAME * np.abs(n)
    return reach_sets(n, d, reach, within=within, same=same, share=share or 0.0)


def reach_sets(
    numerator: ArrayLike,
    denominator: ArrayLike,
    reach: Reach,
    *,
    within: Within | None = None,
    same: Bools | None = None,
    share: float = 0.0,
) -> FiellerSets:
    """Return all ρ with |N - ρ D| <= reach(ρ); where ``same``, N is ``share`` times D for sure."""
    n, d = np.broadcast_arrays(np.asarray(numerator, np.float64), np.asarray(denominator, np.float64))
    known = np.zeros(n.shape, bool) if same is None else same
    bounded, gap, low, high = cross(n, d, reach)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = n / d
        value = np.where(known & (d == 0), share, value)
    return _assemble(bounded | known, value, (low, high), gap & ~known, known, within)


def kept_within(within: Within | None) -> tuple[Floats, Floats]:
    """Return the ends of a public range, all numbers if there is none."""
    low, high = (-np.inf, np.inf) if within is None else within
    ends = np.asarray(low, np.float64), np.asarray(high, np.float64)
    if not np.all(ends[0] <= ends[1]):
        raise InvalidArgument("within", within, "a pair (low, high) with low <= high")
    return ends


def _assemble(
    bounded: Bools, value: Floats, ends: tuple[Floats, Floats], gap: Bools, exact: Bools, within: Within | None
) -> FiellerSets:
    """The sets inside the public range: ``ends`` are of the interval where bounded, of the gap where there is one."""
    least, most = kept_within(within)
    # The value is in every bounded set. Rounding may put it beside an end: then it is the end.
    low = np.where(exact, value, np.where(bounded, np.fmin(ends[0], value), ends[0]))
    high = np.where(exact, value, np.where(bounded, np.fmax(ends[1], value), ends[1]))
    lower = np.where(bounded, np.maximum(low, least), least)
    upper = np.where(bounded, np.minimum(high, most), most)
    # A gap that reaches over an end of the range moves this end to its other side.
    lower = np.where(gap & (low < least), high, lower)
    upper = np.where(gap & (high > most), low, upper)
    beside = gap & ((high <= least) | (low >= most))  # the gap is not in the range: nothing of it is left out
    gap &= ~beside
    lower, upper = np.where(beside, least, lower), np.where(beside, most, upper)
    empty = np.where(gap, (low < least) & (high > most), bounded & (lower > upper))
    with np.errstate(invalid="ignore"):  # inf - inf, where there is no gap or no range
        above = np.where(gap, high - most < least - low, low > most)  # which end of the range is nearer
    end = np.where(above, most, least)
    kind = np.select([empty, bounded, gap], ["empty", "interval", "outside"], "line")
    nothing = np.full(value.shape, np.nan)
    shown = gap & ~empty
    return FiellerSets(
        kind,
        np.where(bounded, np.clip(value, least, most), nothing),
        np.where(empty, end, lower),
        np.where(empty, end, upper),
        np.where(shown, low, nothing),
        np.where(shown, high, nothing),
    )


@lru_cache(maxsize=64)
def _laplace_reach(
    kinds: tuple[tuple[float, float, int], ...], level: float, least: float, most: float
) -> tuple[Reach, float | None]:
    """The reach of the noise of a - ρ b as a function of ρ, and the c of a = c b if there is one."""
    a, b, counts = np.array([kind for kind in kinds if kind[2] > 0], np.float64).reshape(-1, 3).T
    bb = float(counts @ b**2)
    share = float(counts @ (a * b)) / bb if bb else 0.0
    apart = a - share * b
    parallel = bool(bb) and bool(np.all(np.abs(apart) <= _SAME * np.abs(a)))
    if parallel:
        apart = np.zeros(len(apart))
    spread = float(np.sqrt(counts @ apart**2))
    if not bb or not spread:
        # The reach is the same for all ρ, or |ρ - c| times that of b.
        rest = mixed_quantiles("laplace", np.stack((apart, b)), counts, level)
        return Reach(np.array([share]), rest[:1], float(rest[1])), share if parallel else None
    width = spread / math.sqrt(bb)  # in these units the noise's deviation is the same in all directions
    steps = np.arange(1 - _DIRECTIONS // 2, _DIRECTIONS // 2)
    low, high = (math.atan((end - share) / width) * _DIRECTIONS / math.pi for end in (least, most))
    # Outside the public range nobody asks where exactly the reach is, so every 16th direction is enough.
    steps = steps[((steps >= low - 1) & (steps <= high + 1)) | (steps % 16 == 0)]
    # Where the reach is even about c, as it is when numerator and denominator share no draw, one half is computed.
    asked = np.unique(np.abs(steps)) if _even(apart, b, counts) else steps
    rows = apart - (width * np.tan(asked * (np.pi / _DIRECTIONS)))[:, None] * b
    found = mixed_quantiles("laplace", np.concatenate((rows, b[None, :])), counts, level)
    values = found[np.searchsorted(asked, np.abs(steps) if len(asked) < len(steps) else steps)]
    return Reach(share + width * np.tan(steps * (np.pi / _DIRECTIONS)), values, float(found[-1])), None


def _even(apart: Floats, b: Floats, counts: Floats) -> bool:
    """Whether turning the sign of b gives the same draws, each up to its sign."""
    turned = [
        sorted(zip(np.abs(apart), np.abs(b), side * np.sign(apart * b), counts, strict=True)) for side in (1.0, -1.0)
    ]
    return turned[0] == turned[1]
