"""Mutants on devices: what goes wrong with local privacy, most of it over time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from chronodp.audit.devices import report_history
from chronodp.local import WHOLE, Fresh, LocalPlan, Memoised, OptimizedUnary, RandomizedResponse
from chronodp.privacy import Claim, History, PureCost, Report
from chronodp.randomness import Entropy
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_ARGUMENT = "docs/explanation/proofs/local.md"
_BITS = tuple(itertools.combinations(itertools.product((0, 1), repeat=3), 2))


def _reports(compiled: dict[str, Any]) -> Callable[..., object]:
    def tell(history: tuple[int, ...], *, entropy: Entropy) -> object:
        return report_history(compiled, history, entropy=entropy)

    return tell


def _response(epsilon: float) -> RandomizedResponse:
    return RandomizedResponse(epsilon, choices=2)


def _unary(**changes: int) -> dict[str, Any]:
    compiled = LocalPlan("unary", OptimizedUnary(1.0, choices=3), Fresh(horizon=1)).compiled
    return {**compiled, "mechanism": {**compiled["mechanism"], **changes}}


def toss_exactly(bit: int, *, entropy: Entropy) -> int:
    """Tell the truth with probability e/(e + 1), by a coin of whole numbers."""
    table = _response(1.0).table
    return bit if entropy.coins(table["keep"], table["whole"]) else 1 - bit


def toss_in_floats(bit: int, *, entropy: Entropy) -> int:
    """Compare a float of eight random bits with e/(e + 1): 188 of 256 fall below it, which is more."""
    uniform = int(entropy.integers(256, size=1)[0]) / 256
    return bit if uniform < math.e / (math.e + 1) else 1 - bit


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="fresh answers over time at the price of one",
        claim=Claim(History(), PureCost(1.0), _ARGUMENT),
        sound=_reports(LocalPlan("split", _response(1 / 3), Fresh(horizon=3)).compiled),
        broken=_reports(LocalPlan("unsplit", _response(1.0), Fresh(horizon=3)).compiled),
        neighbours=_BITS,
    ),
    Mutant(
        name="kept answers said to protect any two histories",
        claim=Claim(History(), PureCost(2.0), _ARGUMENT),
        sound=_reports(LocalPlan("two levels", _response(0.5), Memoised(1.0, horizon=3)).compiled),
        broken=_reports(LocalPlan("one level", _response(1.0), Memoised(1.0, horizon=3)).compiled),
        neighbours=_BITS,
    ),
    Mutant(
        name="a coin decided by comparing floats",
        claim=Claim(Report(), PureCost(1.0), _ARGUMENT),
        sound=toss_exactly,
        broken=toss_in_floats,
        neighbours=((0, 1),),
    ),
    Mutant(
        name="unary encoding with all of epsilon for each of the two bits that differ",
        claim=Claim(Report(), PureCost(1.0), _ARGUMENT),
        sound=_reports(_unary()),
        broken=_reports(_unary(held=WHOLE - OptimizedUnary(1.0, choices=3).numerators[1])),
        neighbours=(((0,), (1,)), ((1,), (2,))),
    ),
)
