"""Mutants of drawn quantiles: utilities taken to move by less than they do, of bins or of "too few"."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.walked import Known
from chronodp.privacy import BoundedRangeCost
from chronodp.randomness import Entropy
from chronodp.selection import pick_whole
from chronodp.series.quantiles import ByChoice
from tests.audit.cases.quantiles import Counts, DrawnBins
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]


class _Halved(ByChoice):
    def change(self, q: Fraction) -> Fraction:
        del q
        return Fraction(1, 2)


class _Mistaken(DrawnBins):
    def __call__(self, counts: Counts, *, entropy: Entropy) -> tuple[int, ...]:
        return tuple(pick_whole(*self.choice(q, counts), entropy) for q in self.quantiles)


class _Steep(_Mistaken):
    def utilities(self, counts: NDArray[np.int64], q: Fraction, allowance: int) -> NDArray[Any]:
        found = super().utilities(counts, q, allowance)
        found[:, -1] = allowance - q.denominator * counts.sum(axis=1)
        return found


def _mutant(name: str, q: float, broken: DrawnBins) -> Mutant:
    sound = DrawnBins((q,), epsilon=1.0)
    return Mutant(
        name=name,
        claim=replace(sound.claim, cost=BoundedRangeCost(1.0)),
        epsilon=1.0,
        sound=sound,
        broken=broken,
        neighbours=(((4, 1, 0), (4, 1, 1)), ((0, 0, 1), (0, 0, 2)), ((1, 0, 2), (2, 0, 2))),
        checks=(Known(),),
    )


MUTANTS: tuple[Mutant, ...] = (
    _mutant("the ninth decile drawn as if it were the median", 0.9, _Mistaken((0.9,), epsilon=1.0, way=_Halved)),
    _mutant("too few people told by twice what one of them may move", 0.5, _Steep((0.5,), epsilon=1.0)),
)
