"""Trying a combination: planned, released where it can be, and what came of it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas
from tests.contracts.combinations.features import FEATURES, Feature
from tests.contracts.combinations.questions import Unsaid, plan_of, question_of
from tests.contracts.combinations.tables import dataset_of

import chronodp as cdp
from chronodp.errors import ChronodpError
from chronodp.privacy.units import RecordUnit
from chronodp.randomness import seeded

__all__ = ["Combination", "Outcome", "check_numbers", "combinations", "named", "planned", "released", "tried"]

State = Literal["works", "refused", "unsaid"]
Combination = tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a combination: it works, it is refused with a sentence, or there are no words for it."""

    state: State
    sentence: str = ""
    plan: Any = field(default=None, compare=False, repr=False)


def combinations() -> Iterator[Combination]:
    """Yield every feature alone, and every pair."""
    yield from ((feature,) for feature in FEATURES)
    yield from itertools.combinations(FEATURES, 2)


def named(features: Sequence[Feature]) -> str:
    """Return what a combination is called, as a request and in tests."""
    return " with ".join("-".join(re.findall(r"\w+", one.name)) for one in features)


def tried(ask: Any) -> Outcome:
    """Return what came of asking; whatever is no refusal of the library's is let through, and so fails."""
    try:
        return Outcome("works", plan=ask())
    except Unsaid as none:
        return Outcome("unsaid", str(none))
    except ChronodpError as refusal:
        return Outcome("refused", str(refusal))


def planned(
    features: Sequence[Feature], unit: RecordUnit, data: object = "none.parquet", engine: Any = None
) -> Outcome:
    """Plan a combination by the library's front door."""
    return tried(lambda: plan_of(question_of(features, unit), data, engine))


def released(plan: Any, ledger: cdp.Ledger, unit: RecordUnit, request: str) -> pandas.DataFrame:
    """Release a plan with seeded noise, and return its table, checked."""
    made = plan.release(ledger, dataset=dataset_of(unit), request=request, entropy=seeded(1))
    shown: pandas.DataFrame = made.to_pandas()
    check_numbers(shown, found=getattr(made, "keys", None) is not None)
    return shown


def check_numbers(shown: pandas.DataFrame, *, found: bool = False) -> None:
    """Numbers are sane: there are some, finite unless too few people are told, and within intervals if there are any.

    Where keys are ``found``, of so few people there may be none, and then no numbers.
    """
    assert len(shown) or found
    for name in (name for name in map(str, shown) if name in ("value", "value_all")):
        value = shown[name].to_numpy(float)
        if name == "value_all" and np.all(np.isnan(value)):
            continue  # nothing is told of single periods where limits may have removed something
        few = shown["why"].eq("too few").to_numpy(bool) if "value_to" in shown else np.zeros(len(value), bool)
        assert np.array_equal(np.isfinite(value), ~few)
        lower, upper = (name.replace("value", end) for end in ("lower", "upper"))
        if lower in shown:  # a bin that is drawn has none
            assert not np.any(value < shown[lower].to_numpy(float))
            assert not np.any(value > shown[upper].to_numpy(float))
