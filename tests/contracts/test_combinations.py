"""Every pair of features either works, planned and released, or is refused with a sentence; a table says which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas
import pytest
from tests.conftest import SCALE
from tests.contracts.combinations.asking import (
    Combination,
    InMemory,
    Outcome,
    combinations,
    ledger_in,
    named,
    planned,
    question_of,
    released,
    rows,
    same_ledger,
    table,
    tried,
)
from tests.contracts.combinations.doors import SPARK, Commands, Curators, every_door, every_plan, unit_for, written_page
from tests.contracts.combinations.features import ALONE, AT_DOORS, FEATURES, PAIRS, UNITS, Feature

import chronodp as cdp
from chronodp.privacy.units import RecordUnit

ARGUMENTS = (
    *("at_most", "bound", "by", "clip", "edges", "lifetime", "max_groups", "max_periods", "measure", "missing", "peak"),
    *("people", "query", "total", "tuned_for", "unit", "window"),
)
OF_ROWS = ("mean of rows", "`Find` of clip")
Plans = dict[RecordUnit, dict[Combination, Outcome]]


# Each pair under one unit, by turns, and each feature at one of two doors; under and at all of them at stated counts.
_UNITS, _DOORS = (len(UNITS), 2) if SCALE >= 1 else (1, 1)


@pytest.fixture(scope="module")
def plans() -> Plans:
    return every_plan(_UNITS)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cdp.Ledger]:
    with ledger_in(tmp_path_factory.mktemp("plain")) as opened:
        yield opened


def test_every_feature_has_a_name_of_its_own_and_is_asked_of_spark() -> None:
    names = [feature.name for feature in FEATURES]
    assert len(set(names)) == len(names)
    assert {name for asked in SPARK for name in asked} == set(names)


@pytest.mark.slow
def test_what_works_and_what_is_refused(plans: Plans) -> None:
    wrong = []
    for unit, outcomes in plans.items():
        there = {feature for feature in FEATURES if feature.name not in ALONE or ALONE[feature.name](unit)}
        for features, outcome in outcomes.items():
            if len(features) == 1:
                refused = features[0] not in there
            elif there.issuperset(features) and outcome.state != "unsaid":
                names = tuple(feature.name for feature in features)
                refused = names in PAIRS and not (names == OF_ROWS and isinstance(unit, cdp.Event))
            else:  # others that have both tell
                continue
            if (outcome.state == "refused") != refused or outcome.state == "unsaid":
                wrong.append((unit, named(features), outcome))
    assert not wrong
    if SCALE >= 1:  # else not every pair is tried under every unit
        everything = {tuple(one.name for one in pair) for pair in plans[cdp.User("replace")] if len(pair) == 2}
        assert everything >= PAIRS


@pytest.mark.slow
def test_what_works_at_the_doors() -> None:
    doors = every_door(_DOORS)
    for door, missing in AT_DOORS.items():
        assert {one.name for one, outcome in doors[door].items() if outcome.state != "works"} <= missing, door
    streams = {one.name for one, outcome in doors["live"].items() if outcome.state == "works"}
    assert streams == {
        *("sum", "count of people", "count of rows"),
        *("public keys", "`Discover`", "tuned for running totals"),
    }
    assert not [
        one for outcome in doors.values() for one in outcome.values() if one.state == "refused" and not one.sentence
    ]
    if SCALE >= 1:
        page = written_page(every_plan(), doors)
        assert all(f"\n| {feature.name} |" in page for feature in FEATURES)


@pytest.mark.slow
def test_whatever_is_refused_is_refused_with_an_argument_and_what_is_allowed(plans: Plans) -> None:
    sentences = {one.sentence for outcomes in plans.values() for one in outcomes.values() if one.state == "refused"}
    assert len(sentences) > 50
    for sentence in sentences:
        assert re.match(rf"({'|'.join(ARGUMENTS)})\b", sentence)
        assert re.search(r" must be .{12,}; got ", sentence)
        assert not re.search(r"got (None|a Find|an? object|<)", sentence), sentence


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{type(unit).__name__} {unit.relation}")
def test_whatever_is_planned_is_released(unit: RecordUnit, plans: Plans, ledger: cdp.Ledger) -> None:
    """Every pair that was planned, and each feature under one unit, or where no pair has it; all if so stated."""
    place, paired = UNITS.index(unit), set[Feature]()
    working = {features: one.plan for features, one in plans[unit].items() if one.state == "works"}
    for number, features in reversed([*enumerate(working)]):  # pairs come last in plans
        if len(features) > 1 or (number + place) % len(UNITS) < _UNITS or not paired.issuperset(features):
            released(working[features], ledger, unit, named(features))
            paired.update(features)
    assert paired == {feature for features in working for feature in features}
    assert len(paired) > 20


@pytest.mark.slow
def test_duckdb_releases_the_same_numbers_as_plain_python(tmp_path: Path) -> None:
    """What Spark is asked, which has every feature; each feature and each pair at stated counts."""
    first, second, data = tmp_path / "plain", tmp_path / "duckdb", table()
    first.mkdir()
    ledger_in(first).close_connection()
    known = {feature.name: feature for feature in FEATURES}
    few = [tuple(known[name] for name in names) for names in SPARK]
    engine, people = InMemory(), rows()
    with same_ledger(first, second) as duckdb, cdp.Ledger(first / "budget.db") as plain:
        for features in combinations() if SCALE >= 1 else few:
            unit = unit_for(features)
            outcome = planned(features, unit, people, engine)
            if outcome.state == "works":
                mine = released(planned(features, unit, data).plan, duckdb, unit, named(features))
                theirs = released(outcome.plan, plain, unit, named(features))
                pandas.testing.assert_frame_equal(mine, theirs, check_exact=True)
            assert outcome.state == "works" or features not in few


@pytest.mark.slow
def test_commands_plan_what_the_library_plans(plans: Plans, tmp_path: Path) -> None:
    commands, unit = Commands(tmp_path), cdp.User()
    for features, outcome in plans[unit].items():
        found = tried(lambda features=features: commands.plan(question_of(features, unit)))
        if "there is no option" not in found.sentence and outcome.state != "unsaid":
            assert found.state == outcome.state, (named(features), found)


@pytest.mark.slow
def test_a_curator_plans_what_the_library_plans(plans: Plans, tmp_path: Path) -> None:
    curators, unit = Curators(tmp_path), cdp.User()
    for features, outcome in plans[unit].items():
        if outcome.state != "unsaid":
            found = tried(lambda features=features: curators.plan(question_of(features, unit)))
            if found.state != "unsaid":
                assert found.state == outcome.state, (named(features), found)
    curators.close()
