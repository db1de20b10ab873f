"""What all rows of this paper share: their source, and broken twins for exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from experiments.claims import Claim

__all__ = ["always_nothing", "larger_fractions", "row"]

row = partial(Claim, source="temporal")
"""A claim of the paper."""


def larger_fractions(function: Callable[..., Any]) -> Callable[..., Any]:
    """Put in place of a computation of fractions one whose results are a tenth too large."""
    return lambda *args, **kwargs: _larger(function(*args, **kwargs))


def always_nothing(_: Callable[..., Any]) -> Callable[..., Any]:
    """Put in place of a computation of a share one that never sees anything."""
    return lambda *_args, **_kwargs: 0.0


def _larger(value: Fraction | tuple[Fraction, ...]) -> Fraction | tuple[Fraction, ...]:
    return tuple(map(_larger, value)) if isinstance(value, tuple) else value * Fraction(11, 10)  # type: ignore[arg-type]
