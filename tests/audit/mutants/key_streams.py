"""Mistakes with streams of keys: when a key's noise begins, and which keys are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.privacy import Claim, FailureCost, LaplaceCost, SequenceCost, User
from chronodp.randomness import Entropy
from chronodp.series.key_streams import look_at
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

Newcomers = tuple[int, int]
"""How many people meet the one key for the first time by each of two looks."""

_PAGE = "docs/explanation/proofs/key-streams.md"
_KEY = "page"
_SCALE = 0.5
_THRESHOLD = 5


@dataclass(frozen=True, slots=True)
class _Key:
    """One key, its holders and its noise, as a look wants to see them."""

    people: NDArray[np.int64]
    noise: NDArray[np.int64]

    @property
    def texts(self) -> list[str]:
        return [_KEY]

    def number(self, text: str) -> int:
        return self.texts.index(text)

    def at(self, look: int, keys: Sequence[str] | None = None) -> NDArray[np.int64]:
        return (self.people if keys is None else self.noise)[look : look + 1]

    def until(self, look: int, keys: Sequence[str | int]) -> NDArray[np.int64]:
        column = self.noise if _KEY in keys else self.people
        return np.repeat(column[: look + 1, None], len(keys), axis=1)


def _tell(new: Newcomers, draws: NDArray[np.int64], looked_at: Callable[[int], bool]) -> tuple[int, ...]:
    """Return the look at which the key is told and its noisy totals from there on; nothing if it never is."""
    key = _Key(np.cumsum(new), np.cumsum(draws))
    told: dict[str, int] = {}
    out: list[int] = []
    for look in range(len(new)):
        if key.people[look] and (told or looked_at(look)):
            found = look_at(look, _THRESHOLD, key, key, told, person=1)
            out += [look, int(found.past[-1, 0])] if found.found else found.values.tolist()
            told |= dict.fromkeys(found.found, 0)
    return tuple(out)


def look_at_every_key(new: Newcomers, *, entropy: Entropy) -> tuple[int, ...]:
    """Look at the key at both looks, with noise that began before anyone held it."""
    return _tell(new, entropy.laplace(_SCALE, len(new)), lambda _: True)


def look_where_records_came(new: Newcomers, *, entropy: Entropy) -> tuple[int, ...]:
    """Look at the key only if someone met it since the last look."""
    return _tell(new, entropy.laplace(_SCALE, len(new)), lambda look: bool(new[look]))


def begin_noise_at_first_sight(new: Newcomers, *, entropy: Entropy) -> tuple[int, ...]:
    """Draw noise for the key from the look on by which someone holds it."""
    draws = entropy.laplace(_SCALE, len(new))
    return _tell(new, np.where(np.cumsum(new) > 0, draws, 0), lambda _: True)


def _chance() -> float:
    """Return how likely a key that one person holds alone is told, by all pairs of draws within 60 deviations."""
    sizes = np.arange(-60, 61)
    tails = 0.5 * np.exp(-np.maximum(np.abs(sizes) - 0.5, 0) / _SCALE)  # P(draw >= size), for sizes above 0
    law = np.where(sizes == 0, 1 - 2 * tails[61], tails - 0.5 * np.exp(-(np.abs(sizes) + 0.5) / _SCALE))
    first, second = np.meshgrid(sizes, sizes, indexing="ij")
    passed = (1 + first >= _THRESHOLD) | (1 + first + second >= _THRESHOLD)
    return float((np.outer(law, law) * passed).sum()) * (1 + 1e-9)


_LONE = _chance()
_NEIGHBOURS = (((4, 0), (4, 1)), ((0, 0), (1, 0)), ((0, 6), (1, 6)))
_CLAIM = Claim(User(), SequenceCost((LaplaceCost(sensitivity=1.0, scale=_SCALE), FailureCost(_LONE))), _PAGE)

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="keys looked at only where new records came",
        claim=_CLAIM,
        epsilon=1 / _SCALE,
        delta=_LONE,
        sound=look_at_every_key,
        broken=look_where_records_came,
        neighbours=_NEIGHBOURS,
    ),
    Mutant(
        name="noise of a key that begins when it is first seen",
        claim=_CLAIM,
        epsilon=1 / _SCALE,
        delta=_LONE,
        sound=look_at_every_key,
        broken=begin_noise_at_first_sight,
        neighbours=_NEIGHBOURS,
    ),
)
