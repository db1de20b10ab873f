"""Trying a combination: planned, released where it can be, and what came of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.contracts.combinations.features import FEATURES, UNITS, Feature
from tests.contracts.combinations.questions import Unsaid, plan_of, question_of

from chronodp.errors import ChronodpError
from chronodp.privacy.units import RecordUnit

__all__ = ["Outcome", "combinations", "planned"]

State = Literal["works", "refused", "unsaid"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a combination: it works, it is refused with a sentence, or there are no words for it."""

    state: State
    sentence: str = ""
    plan: Any = None


def combinations() -> Iterator[tuple[tuple[Feature, ...], RecordUnit]]:
    """Yield every feature alone and every pair, under every unit."""
    for unit in UNITS:
        for feature in FEATURES:
            yield (feature,), unit
        for pair in itertools.combinations(FEATURES, 2):
            yield pair, unit


def planned(features: Sequence[Feature], unit: RecordUnit, data: object = "rows.parquet") -> Outcome:
    """Plan a combination by the library's front door; what is no refusal of ours is let through."""
    try:
        return Outcome("works", plan=plan_of(question_of(features, unit), data))
    except Unsaid as none:
        return Outcome("unsaid", str(none))
    except ChronodpError as refusal:
        return Outcome("refused", str(refusal))
