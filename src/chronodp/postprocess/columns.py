"""Series side by side: periods down, places across, checked once and the same way everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument

__all__ = ["Estimates", "Floats", "NormalEstimates", "as_columns", "as_deviations"]

_LEAST, _MOST = 1e-100, 1e100  # variances are squares

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimates:
    """Values with lower and upper ends, one row a stretch of periods and one column a place."""

    value: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True)
class NormalEstimates:
    """Estimates with their standard deviations, periods × places."""

    value: Floats
    deviation: Floats


def as_columns(name: str, values: ArrayLike, *, gaps: bool = False) -> Floats:
    """Return values as periods × places; a plain series is one place. With ``gaps``, missing samples are NaN.

    >>> as_columns("values", [3.0, 1.0, 2.0]).shape
    (3, 1)
    """
    allowed = "numbers, periods × places, none of them missing" if not gaps else "numbers or NaN, periods × places"
    try:
        columns = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(name, values, allowed, private=True) from None
    if columns.ndim == 1:
        columns = columns[:, None]
    if columns.ndim != 2 or columns.size == 0:
        raise InvalidArgument(name, f"shape {columns.shape}", "at least one period, in one or two dimensions")
    usable = np.isfinite(columns) | np.isnan(columns) if gaps else np.isfinite(columns)
    if not usable.all():
        raise InvalidArgument(name, values, allowed, private=True)
    return columns


def as_deviations(
    name: str, deviation: ArrayLike, shape: tuple[int, int], *, exact: bool = False, absent: bool = False
) -> Floats:
    """Return standard deviations of noise, one for each value.

    Args:
        name: the argument, as the caller wrote it.
        deviation: one for all, one a period, or periods × places.
        shape: of the values.
        exact: whether 0 is allowed, for what is known exactly.
        absent: whether infinity is allowed, for what is not known at all.

    >>> as_deviations("deviation", 2.0, (2, 1)).tolist()
    [[2.0], [2.0]]
    """
    allowed = (
        f"{'at least' if exact else 'above'} 0{'' if absent else ' and finite'} (from {_LEAST:g} to {_MOST:g}), one "
        f"for all or {shape[0]} periods"
    )
    try:
        given = np.array(deviation, dtype=np.float64)
        wide = np.broadcast_to(given[:, None] if given.ndim == 1 else given, shape)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(name, deviation, allowed) from None
    fits = (wide >= _LEAST) & (wide <= _MOST) | (exact & (wide == 0)) | (absent & (wide == np.inf))
    if not fits.all():
        raise InvalidArgument(name, deviation, allowed)
    return wide
