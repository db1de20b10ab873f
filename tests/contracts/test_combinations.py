"""Every pair of features either works, planned and released, or is refused with a sentence; the page says which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas
import pytest
from tests.conftest import Trials
from tests.contracts.combinations.commands import Commands
from tests.contracts.combinations.curators import Curators
from tests.contracts.combinations.everything import SPARK, every_plan, unit_for, written_page
from tests.contracts.combinations.features import FEATURES, UNITS, Feature
from tests.contracts.combinations.questions import question_of
from tests.contracts.combinations.tables import ledger_in, same_ledger, table
from tests.contracts.combinations.trying import Combination, Outcome, combinations, named, planned, released, tried

import chronodp as cdp
from chronodp.privacy.units import RecordUnit

PAGE = Path(__file__).parents[2] / "docs/reference/combinations.md"
ARGUMENTS = (
    *("at_most", "bound", "by", "clip", "edges", "lifetime", "max_groups", "max_periods", "measure", "missing", "peak"),
    *("people", "query", "total", "tuned_for", "unit", "window"),
)
Plans = dict[RecordUnit, dict[Combination, Outcome]]


@pytest.fixture(scope="module")
def plans() -> Plans:
    return every_plan()


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cdp.Ledger]:
    with ledger_in(tmp_path_factory.mktemp("plain")) as opened:
        yield opened


def test_every_feature_is_on_the_page_and_asked_of_spark() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = [feature.name for feature in FEATURES]
    assert len(set(names)) == len(names)
    assert all(f"\n| {name} |" in page for name in names)
    assert {name for asked in SPARK for name in asked} == set(names)


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_each_feature_is_planned(feature: Feature) -> None:
    assert planned([feature], unit_for([feature])).state == "works"


@pytest.mark.long
def test_the_page_is_the_one_that_the_library_writes(plans: Plans) -> None:
    written = written_page(plans)
    assert PAGE.read_text(encoding="utf-8") == written, "run: python -m tests.contracts.combinations"


@pytest.mark.long
def test_whatever_is_refused_is_refused_with_an_argument_and_what_is_allowed(plans: Plans) -> None:
    sentences = {one.sentence for outcomes in plans.values() for one in outcomes.values() if one.state == "refused"}
    assert len(sentences) > 50
    for sentence in sentences:
        assert re.match(rf"({'|'.join(ARGUMENTS)})\b", sentence)
        assert re.search(r" must be .{12,}; got ", sentence)
        assert not re.search(r"got (None|a Find|an? object|<)", sentence), sentence


@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{type(unit).__name__} {unit.relation}")
def test_whatever_is_planned_is_released(unit: RecordUnit, plans: Plans, ledger: cdp.Ledger, trials: Trials) -> None:
    """Each feature under every unit, and each pair under one of them; under all at the stated count."""
    turns, place, made = trials(len(UNITS)), UNITS.index(unit), 0
    for number, (features, outcome) in enumerate(plans[unit].items()):
        if outcome.state == "works" and (len(features) == 1 or (number + place) % len(UNITS) < turns):
            released(outcome.plan, ledger, unit, named(features))
            made += 1
    assert made >= len(FEATURES)


@pytest.mark.long
def test_duckdb_releases_the_same_numbers_as_plain_python(plans: Plans, tmp_path: Path, trials: Trials) -> None:
    """Each feature, and at the stated count every pair under `User`."""
    first, second, data = tmp_path / "plain", tmp_path / "duckdb", table()
    first.mkdir()
    ledger_in(first).close_connection()
    pairs = [one for one in combinations() if len(one) > 1]
    asked = [*((feature,) for feature in FEATURES), *(pairs if trials(8) == 8 else [])]
    with same_ledger(first, second) as duckdb, cdp.Ledger(first / "budget.db") as plain:
        for features in asked:
            unit = unit_for(features)
            outcome = plans[unit][features]
            if outcome.state == "works":
                mine = released(planned(features, unit, data).plan, duckdb, unit, named(features))
                theirs = released(outcome.plan, plain, unit, named(features))
                pandas.testing.assert_frame_equal(mine, theirs, check_exact=True)


@pytest.mark.long
def test_commands_plan_what_the_library_plans(plans: Plans, tmp_path: Path) -> None:
    commands, unit = Commands(tmp_path), cdp.User()
    for features, outcome in plans[unit].items():
        found = tried(lambda features=features: commands.plan(question_of(features, unit)))
        if "there is no option" not in found.sentence and outcome.state != "unsaid":
            assert found.state == outcome.state, (named(features), found)


@pytest.mark.long
def test_a_curator_plans_what_the_library_plans(plans: Plans, tmp_path: Path, trials: Trials) -> None:
    curators, unit = Curators(tmp_path), cdp.User()
    some = trials(8)
    for number, (features, outcome) in enumerate(plans[unit].items()):
        if number % 8 < some and outcome.state != "unsaid":
            found = tried(lambda features=features: curators.plan(question_of(features, unit)))
            if found.state != "unsaid":
                assert found.state == outcome.state, (named(features), found)
    curators.close()
