"""The result of temporal perturbation: exact values at blurred times."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import Certificate
from chronodp.temporal.damage import Damage, count_damage
from chronodp.temporal.statement import DispatchStatement

__all__ = ["Blurred", "Promise", "Values", "check_panel", "check_series", "released"]

Values: TypeAlias = np.ma.MaskedArray[Any, np.dtype[Any]]
"""Values at their blurred times; masked where nothing is released."""

Promise: TypeAlias = Certificate | DispatchStatement
"""A certificate of differential privacy, or the statement of a mechanism that gives none."""


@dataclass(frozen=True, eq=False)
class Blurred:
    """A series, or a panel of series, after temporal perturbation.

    Attributes:
        values: what is released at each time, values unchanged; masked where nothing is.
        promise: what holds of it.
        source: the index of the value released at each time, -1 for none. FOR THE OWNER ONLY: it undoes the blurring.
    """

    values: Values
    promise: Promise
    source: NDArray[np.int64] = field(repr=False)

    @cached_property
    def damage(self) -> Damage:
        """What was lost and moved. FOR THE OWNER ONLY: it is computed from ``source``."""
        return count_damage(self.source)

    def __repr__(self) -> str:
        return f"Blurred(values of shape {self.values.shape})"


def check_series(values: ArrayLike) -> NDArray[Any]:
    """Return one person's series: times, or times by channels."""
    return _check(values, (1, 2), "one value a time, or times by channels")


def check_panel(values: ArrayLike) -> NDArray[Any]:
    """Return many persons' series: persons by times, or persons by times by channels."""
    return _check(values, (2, 3), "persons by times, or persons by times by channels")


def released(values: NDArray[Any], source: NDArray[np.int64], *, complete: bool) -> Values:
    """Return the value of each source; masked where there is none, of which ``complete`` sources have no case."""
    wanted = source if complete else np.maximum(source, 0)
    if source.ndim == 2 and source.size:
        rows, length = source.shape
        flat = wanted + np.arange(0, rows * length, length)[:, None]
        moved = values.reshape(rows * length, *values.shape[2:]).take(flat, axis=0)
    else:
        moved = values.take(wanted, axis=0) if source.size else values
    if complete:
        return np.ma.MaskedArray(moved)
    mask = source < 0
    return np.ma.MaskedArray(
        moved, mask if moved.ndim == source.ndim else np.repeat(mask[..., None], moved.shape[-1], -1)
    )


def _check(values: ArrayLike, dimensions: tuple[int, int], allowed: str) -> NDArray[Any]:
    try:
        found = np.asarray(values)
    except (ValueError, TypeError):
        raise InvalidArgument("values", values, allowed, private=True) from None
    if found.ndim not in dimensions:
        raise InvalidArgument("values", values, allowed, private=True)
    return found
