"""A keystream whose words a test has chosen, and words worth choosing."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.randomness import SeededKeystream
from chronodp.randomness.variates import exponential, gaussian, laplace

FAMILIES = {"laplace": laplace(), "exponential": exponential(), "gaussian": gaussian()}
by_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


class Replay:
    """Gives out chosen words first, then always the same one, so that two paths see the same further bits."""

    seeded: ClassVar[bool] = True

    def __init__(self, *words: NDArray[np.int64]) -> None:
        self._words = np.concatenate([np.zeros(0, dtype=np.int64), *words])

    def words(self, count: int) -> NDArray[np.int64]:
        head, self._words = self._words[:count], self._words[count:]
        return np.concatenate([head, np.full(count - len(head), 0x1F3A5C7E9B2D4680, dtype=np.int64)])


class Continued:
    """Gives out chosen words first, then those of a seed: what draws until it is content comes to an end."""

    seeded: ClassVar[bool] = True

    def __init__(self, *words: NDArray[np.int64], seed: int = 0) -> None:
        self._words = np.concatenate([np.zeros(0, dtype=np.int64), *words])
        self._further = SeededKeystream(seed)

    def words(self, count: int) -> NDArray[np.int64]:
        head, self._words = self._words[:count], self._words[count:]
        return np.concatenate([head, self._further.words(count - len(head))])


def edge_words() -> NDArray[np.int64]:
    """Words at and around every power of two, zero, the extremes and the filter's own limits."""
    powers = [1 << bit for bit in range(63)]
    near = {power + step for power in powers for step in (-2, -1, 0, 1, 2)} | set(range(-64, 65))
    near |= {2**63 - 1 - step for step in range(64)}
    limit = int((1 - 2.0**-20) * 2**63)
    near |= {limit + step for step in range(-2048, 2049, 512)}
    both = near | {-word for word in near} | {-(2**63) + step for step in range(64)}
    return np.array(sorted(word for word in both if -(2**63) <= word < 2**63), dtype=np.int64)


def random_words(count: int, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(-(2**63), 2**63, count, dtype=np.int64)
