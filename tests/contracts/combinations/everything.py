"""All trials of the page: every combination planned, and each feature released at every door."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.contracts.combinations.commands import Commands
from tests.contracts.combinations.curators import Curators
from tests.contracts.combinations.features import FEATURES, MEASURES, UNITS, Feature
from tests.contracts.combinations.page import page
from tests.contracts.combinations.questions import question_of
from tests.contracts.combinations.streams import LiveStreams
from tests.contracts.combinations.tables import InMemory, ledger_in, rows
from tests.contracts.combinations.trying import Combination, Outcome, combinations, named, planned, tried

import chronodp as cdp
from chronodp.privacy.units import RecordUnit

__all__ = ["SPARK", "every_door", "every_plan", "unit_for", "written_page"]

Doors = dict[str, dict[Feature, Outcome]]

SPARK: tuple[tuple[str, ...], ...] = (
    ("sum", "`Find` of clip", "`Find` of max_periods", "`Find` of max_groups", "`Missing`", "public keys"),
    ("count of rows", "`Find` of at_most", "`where`"),
    ("sum within a norm", "`Find` of a norm", "a derived column"),
    ("mean of rows", "`Discover`"),
    ("mean of people", "public keys", "a clip for each key"),
    ("mean of totals", "variance"),
    ("mean of totals, `people=`",),
    ("histogram of people", "`Places`"),
    ("histogram of rows", "quantiles of people"),
    ("histogram of rows", "`Find` of edges"),
    ("quantiles of rows", "`where`"),
    ("active people", "`plan_together` with a count"),
    ("count of people", "tuned for running totals"),
    ("sum", "peaks of blocks"),
    ("sum", "totals of blocks"),
    ("sum", "a lifetime series"),
)
"""What Spark is asked: few questions, since it compiles each one, that have every feature between them."""


def every_plan(units: int = len(UNITS)) -> dict[RecordUnit, dict[Combination, Outcome]]:
    """Return what came of planning each feature under every unit, and each pair under ``units`` of them, by turns.

    Whatever breaks is raised.
    """
    data, engine = rows(), InMemory()
    return {
        unit: {
            one: planned(one, unit, data, engine)
            for number, one in enumerate(combinations())
            if len(one) == 1 or (number + place) % len(UNITS) < units
        }
        for place, unit in enumerate(UNITS)
    }


def unit_for(features: Sequence[Feature]) -> RecordUnit:
    """Return the unit for which other doors and engines are tried: whole persons, replaced where that is needed."""
    public = any("people" in feature.says.get("measure", {}) for feature in features)
    return cdp.User("replace") if public else cdp.User()


def every_door(askers: int = 2) -> Doors:
    """Return what came of each feature at the doors: released there, refused, or without words.

    Of commands and the curator, which release nearly all, each feature is asked at ``askers``, by turns; live streams
    refuse most at once.
    """
    folder = Path(tempfile.mkdtemp())
    try:
        ledger_in(folder).close_connection()
        curators = Curators(folder)
        doors: dict[str, Any] = {"commands": Commands(folder), "curator": curators, "live": LiveStreams(folder)}
        found = {
            name: {
                one: _at(door, one)
                for number, one in enumerate(FEATURES)
                if name == "live" or (number + place) % 2 < askers
            }
            for place, (name, door) in enumerate(doors.items())
        }
        curators.close()
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _at(door: Any, feature: Feature) -> Outcome:
    """Return what came of a feature at a door; a change is tried on a count where a sum does not take it."""
    unit = unit_for([feature])
    first = tried(lambda: door.release(question_of([feature], unit), named([feature])))
    if first.state == "works" or feature.measures or feature.needs:
        return first
    counted = [MEASURES[1], feature]
    second = tried(lambda: door.release(question_of(counted, unit), named(counted)))
    return second if second.state == "works" else first


def written_page(plans: dict[RecordUnit, dict[Combination, Outcome]], doors: Doors) -> str:
    """Return the page as it should be, of all plans and all doors."""
    library = {one: plans[unit_for([one])][(one,)] for one in FEATURES}
    asked = {name for names in SPARK for name in names}
    spark = {one: library[one] for one in FEATURES if one.name in asked}
    return page(plans, {"DuckDB": library, "Spark": spark, "plain Python": library, **doors})
