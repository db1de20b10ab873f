"""Counts with Laplace noise, each with a draw of its own: what many mutants do right."""

from __future__ import annotations

from collections.abc import Iterable

from chronodp.randomness import Entropy

__all__ = ["noisy"]


def noisy(counts: Iterable[int], scale: float, entropy: Entropy) -> tuple[int, ...]:
    """Return counts plus Laplace noise of the given scale."""
    exact = tuple(counts)
    return tuple(count + draw for count, draw in zip(exact, entropy.laplace(scale, len(exact)).tolist(), strict=True))
