"""The result of temporal perturbation: exact values at blurred times."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import Certificate
from chronodp.randomness import Entropy, check_entropy
from chronodp.temporal.damage import Damage, count_damage
from chronodp.temporal.published.statement import DispatchStatement

__all__ = ["Blurred", "Draw", "Promise", "Tell", "Values", "blur_panel", "blur_series"]

Values: TypeAlias = np.ma.MaskedArray[Any, np.dtype[Any]]
"""Values at their blurred times; masked where nothing is released."""

Promise: TypeAlias = Certificate | DispatchStatement
"""A certificate of differential privacy, or the statement of a mechanism that gives none."""


class Draw(Protocol):
    """How a mechanism chooses: the index released at each time, -1 for none, persons by times."""

    def __call__(self, rows: int, length: int, entropy: Entropy, /) -> NDArray[np.int64]:
        """Return the sources of so many persons' series of one length."""
        ...


class Tell(Protocol):
    """How a mechanism states what holds of a run."""

    def __call__(self, *, seeded: bool) -> Promise:
        """Return the certificate or statement."""
        ...


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


def blur_series(values: ArrayLike, entropy: Entropy | None, draw: Draw, promise: Tell, *, complete: bool) -> Blurred:
    """Return one person's series, times or times by channels, with the sources that ``draw`` gives."""
    series = _check(values, (1, 2), "one value a time, or times by channels")
    bits = check_entropy(entropy)
    source = draw(1, len(series), bits)[0]
    return Blurred(_released(series, source, complete=complete), promise(seeded=bits.seeded), source)


def blur_panel(values: ArrayLike, entropy: Entropy | None, draw: Draw, promise: Tell, *, complete: bool) -> Blurred:
    """Return many persons' series, persons by times or persons by times by channels, each with sources of its own."""
    panel = _check(values, (2, 3), "persons by times, or persons by times by channels")
    bits = check_entropy(entropy)
    source = draw(panel.shape[0], panel.shape[1], bits)
    return Blurred(_released(panel, source, complete=complete), promise(seeded=bits.seeded), source)


def _released(values: NDArray[Any], source: NDArray[np.int64], *, complete: bool) -> Values:
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
    moved[mask] = _blank(moved.dtype)  # under a mask, a value that was never released would still be there
    return np.ma.MaskedArray(
        moved, mask if moved.ndim == source.ndim else np.repeat(mask[..., None], moved.shape[-1], -1)
    )


def _blank(kind: np.dtype[Any]) -> object:
    match kind.kind:
        case "f" | "c":
            return np.nan
        case "O":
            return None
        case "M" | "m":
            return np.array("NaT", kind)[()]
    return np.zeros((), kind)[()]


def _check(values: ArrayLike, dimensions: tuple[int, int], allowed: str) -> NDArray[Any]:
    if np.ma.isMaskedArray(values):
        raise InvalidArgument(
            "values", values, f"{allowed}, without a mask: what it hides would be released", private=True
        )
    try:
        found = np.asarray(values)
    except (ValueError, TypeError):
        raise InvalidArgument("values", values, allowed, private=True) from None
    if found.ndim not in dimensions:
        raise InvalidArgument("values", values, allowed, private=True)
    return found
