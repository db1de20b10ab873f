"""One look at all keys that anyone holds: which are told now, and what is told of them.

The rule of "What is told" in ``docs/explanation/proofs/key-streams.md``: whether a key is told depends on its own noisy
total and a public threshold, at every public look, whether or not anything new came under it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from chronodp.series.key_streams.paths import Paths
from chronodp.series.recursion import Integers

__all__ = ["Held", "Told", "look_at"]


@dataclass(frozen=True, slots=True)
class Told:
    """What a look tells, in steps of the grid.

    Attributes:
        look: its number, from 0.
        before: the keys that were told before, in the order they were.
        values: of each of these its total at this look.
        found: the keys that are told now, by the bytes of their texts.
        past: of each of these its totals from the first look to this one, looks by keys.
    """

    look: int
    before: tuple[str, ...]
    values: Integers
    found: tuple[str, ...]
    past: Integers

    def to_json(self) -> dict[str, Any]:
        """Return what the ledger keeps of it; ``before`` follows from earlier looks."""
        found = [[key, path] for key, path in zip(self.found, self.past.T.tolist(), strict=True)]
        return {"found": found, "values": self.values.tolist()}

    @classmethod
    def from_json(cls, look: int, before: Sequence[str], content: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        paths = [path for _, path in content["found"]]
        past = np.array(paths, dtype=np.int64).reshape(len(paths), look + 1).T
        values = np.array(content["values"], dtype=np.int64)
        return cls(look, tuple(before), values, tuple(key for key, _ in content["found"]), past)


class Held(Protocol):
    """How many people hold each key."""

    @property
    def texts(self) -> list[str]:
        """Every key that anyone holds, by its number."""
        ...

    def at(self, look: int) -> Integers:
        """Return how many people have met each key by a look."""
        ...

    def until(self, look: int, keys: Sequence[int]) -> Integers:
        """Return how many people have met some keys by each look up to this one, looks by keys."""
        ...


def look_at(look: int, threshold: int, holders: Held, paths: Paths, told: Mapping[str, int], *, person: int) -> Told:
    """Return what is told at a look.

    Args:
        look: its number, from 0.
        threshold: of the look, in steps of the grid.
        holders: who holds what.
        paths: the noise of keys.
        told: the keys that were told before, with their numbers, in the order they were.
        person: one person in steps of the grid.
    """
    totals = holders.at(look) * person + paths.at(look, holders.texts)
    # Every key that anyone holds, also without new records: to leave those out would tell that nothing came.
    passed, texts = set(np.flatnonzero(totals >= threshold).tolist()) - set(told.values()), holders.texts
    numbers = sorted(passed, key=lambda number: texts[number].encode("utf-8", "surrogatepass"))
    found = [texts[number] for number in numbers]
    past = holders.until(look, numbers) * person + paths.until(look, found)
    return Told(look, tuple(told), totals[list(told.values())], tuple(found), past)
