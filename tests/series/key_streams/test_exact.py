"""Every outcome of a small stream on the shipped look, and the two mistakes that it must catch.

Three looks, noise C⁻¹ g with two-sided geometric g of ratio e^(-1/2) and C = [[2], [1, 2], [1, 1, 2]]: one person moves
C x by at most 4 in l1, so that all is (2, δ) with δ the chance of a key that one person holds alone. Paths of noise are
taken as so many keys with the same holders, which one call looks at together.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.conftest import GOLDEN, Trials

from chronodp.series.key_streams.look import look_at

EXACT = json.loads((GOLDEN / "keys" / "stream_exact.json").read_text(encoding="utf-8"))
MATRIX = np.array(EXACT["C"])
LOOKS, UNIT = 3, 8  # the inverse of C has eighths
REACH = 26  # draws that are followed
RATIO = float(np.exp(-EXACT["eta"]))
DRAWS = np.array(list(itertools.product(range(-REACH, REACH + 1), repeat=LOOKS)))
SHARES = (1 - RATIO) / (1 + RATIO) * RATIO ** np.abs(DRAWS).astype(float)
CHANCES = SHARES.prod(axis=1)
LOST = 1 - float(CHANCES.sum())
# Noise of the totals, in eighths: A C⁻¹ g.
TOTALS = np.rint(np.cumsum(np.linalg.inv(MATRIX) @ DRAWS.T, axis=0) * UNIT).astype(np.int64)
THRESHOLDS = [round(UNIT * tau) for tau in EXACT["tau"]]
TEXTS = [f"{number:06d}" for number in range(len(DRAWS))]

Counts = tuple[int, int, int]


@dataclass
class Everyone:
    """As many keys as there are paths of noise, all with the same holders."""

    counts: Counts

    @property
    def texts(self) -> list[str]:
        return TEXTS

    def at(self, look: int) -> Any:
        return np.full(len(TEXTS), sum(self.counts[: look + 1]))

    def until(self, look: int, keys: Sequence[int]) -> Any:
        return np.repeat(np.cumsum(self.counts[: look + 1])[:, None], len(keys), axis=1)


class Walked:
    """The noise of each key: its own path."""

    def at(self, look: int, keys: Sequence[str]) -> Any:
        assert len(keys) == len(TEXTS)
        return TOTALS[look]

    def until(self, look: int, keys: Sequence[str]) -> Any:
        return TOTALS[: look + 1, [int(key) for key in keys]]


def told_if_new(counts: Counts) -> Any:
    """The mistake: only keys with new records are looked at."""
    return told_at(counts, only_new=True)


def told_at(counts: Counts, *, only_new: bool = False) -> Any:
    """Return at which look each path is told, LOOKS where never; by the shipped look, which also tells the past."""
    first = np.full(len(TEXTS), LOOKS)
    told: dict[str, int] = {}
    for look in range(LOOKS):
        if not sum(counts[: look + 1]) or (only_new and not counts[look]):  # nobody holds it yet
            continue
        found: Any = look_at(look, THRESHOLDS[look], Everyone(counts), Walked(), told, person=UNIT)
        numbers = [int(key) for key in found.found]
        first[numbers] = look
        expected = np.cumsum(counts[: look + 1])[:, None] * UNIT + TOTALS[: look + 1][:, numbers]
        assert np.array_equal(found.past, expected)  # the past is that of the same path
        told |= {key: int(key) for key in found.found}
    return first


@cache
def first_told(counts: Counts, tell: Callable[[Counts], Any]) -> Any:
    """Return when each path is told, once for all its neighbours."""
    return tell(counts)


def delta(one: Counts, other: Counts, tell: Callable[[Counts], Any]) -> tuple[float, float]:
    """Return two numbers that the larger δ at ε of both directions lies between.

    Told is when, and C x + g: no two paths of one stream show the same.
    """
    factor = float(np.exp(EXACT["eps"]))
    worst = (0.0, 0.0)
    for here, there in ((one, other), (other, one)):
        first, second = first_told(here, tell), first_told(there, tell)
        # The path that shows the same where counts are the other ones, if it is followed.
        draws = DRAWS + np.rint(MATRIX @ (np.array(here) - np.array(there))).astype(np.int64)
        inside = (np.abs(draws) <= REACH).all(axis=1)
        places = np.ravel_multi_index(tuple(np.where(inside[:, None], draws + REACH, 0).T), (2 * REACH + 1,) * LOOKS)
        alike = np.where(inside & (second[places] == first), CHANCES[places], 0.0)
        shown = first < LOOKS
        told = float(np.maximum(0.0, CHANCES - factor * alike)[shown].sum())
        silent, also = float(CHANCES[~shown].sum()), float(CHANCES[second == LOOKS].sum())
        above = told + max(0.0, silent - factor * also)
        worst = max(worst, (above - (1 + factor) * LOST, above + LOST))
    return worst


def neighbours(most: int) -> list[tuple[Counts, Counts]]:
    pairs = []
    for counts in itertools.product(range(most + 1), repeat=LOOKS):
        for look in range(LOOKS):
            more = list(counts)
            more[look] += 1
            pairs.append(((counts[0], counts[1], counts[2]), (more[0], more[1], more[2])))
    return pairs


@pytest.mark.slow
def test_the_worst_of_all_small_streams_is_the_lone_key(trials: Trials) -> None:
    stated = EXACT["delta_sel"]
    crossed = np.any(TOTALS.T + UNIT >= THRESHOLDS, axis=1)
    assert float(CHANCES[crossed].sum()) == pytest.approx(stated, abs=LOST)
    assert delta((0, 0, 0), (1, 0, 0), told_at)[0] == pytest.approx(stated, abs=10 * LOST)
    assert stated > EXACT["one_step_only"]  # the chance of one look alone would not do
    # Each look in turn under other counts; all looks under all of them at stated counts.
    pairs = [*trials.some(neighbours(1), 4), ((4, 4, 0), (4, 4, 1)), ((4, 0, 0), (4, 0, 1)), ((3, 0, 0), (3, 1, 0))]
    for one, other in pairs:
        assert delta(one, other, told_at)[0] <= stated + 1e-12, (one, other)


@pytest.mark.slow
def test_looking_only_at_keys_with_new_records_is_caught() -> None:
    low, high = delta((4, 4, 0), (4, 4, 1), told_if_new)
    assert low > 10 * EXACT["delta_sel"]
    assert low - 1e-4 <= EXACT["on_new_data"]["worst"] <= high + 1e-4
