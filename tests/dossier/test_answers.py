"""Questions are answered by the ledger or the owner, and by nobody else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp.accounting import basic, gaussian
from chronodp.dossier import UNKNOWN, Owner, gather, load_owner
from chronodp.dossier.answers import answer_questions, answers_json, answers_markdown
from chronodp.dossier.words import gain, rounded_up
from chronodp.errors import InvalidArgument
from chronodp.privacy import GaussianCost, PureCost, RepeatedCost

pytestmark = pytest.mark.slow
SAID = Owner(
    access="Two people of the utility.",
    exposure="Nothing else.",
    side_channels="A machine without a network.",
    justification="As the board decided.",
    collection="By meters.",
    population="All households.",
    intended_use="Planning.",
    preprocessing="None, and nobody.",
)


@pytest.mark.slow
def test_what_only_the_owner_knows_is_never_made_up(everything: cdp.Ledger) -> None:
    for dataset in ["meters", "watch", "renewed", "building", "empty"]:
        silent = answer_questions(gather(everything, dataset))
        said = answer_questions(gather(everything, dataset, owner=SAID))
        assert [one.question for one in silent] == [one.question for one in said], dataset
        for before, after in zip(silent, said, strict=True):
            if before.known_by == "nobody":
                assert before.answer == UNKNOWN, dataset
                assert after.known_by == "owner", dataset
            else:
                assert before == after, dataset
                assert before.known_by == "ledger", dataset
                assert before.answer, dataset


@pytest.mark.slow
def test_every_layer_is_asked_about_and_no_compliance_is_claimed(everything: cdp.Ledger) -> None:
    facts = gather(everything, "meters")
    topics = {one["topic"] for one in json.loads(answers_json(facts))["answers"]}
    assert {"Guarantee", "Unit of privacy", "Trust model", "Exposure", "Side channels", "Data collection"} <= topics
    page = answers_markdown(facts)
    assert "no claim of compliance" in page
    assert not re.search(r"complies|compliant|conforms", page)


@pytest.mark.slow
def test_answers_say_what_was_found_and_assumed(everything: cdp.Ledger) -> None:
    for request, words in (
        ("found", "found: privately"),
        ("keys", "keys: 2 found privately"),
        ("missing", "missing: Missing"),
        ("plain", "4 of 4 periods"),
    ):
        assert words in answers_markdown(gather(everything, "meters", request=request))
    assert "more, in the certificates" in answers_markdown(gather(everything, "meters"))


def test_a_large_loss_is_not_made_small() -> None:
    assert "nearly always" in gain(1e4, 1e-2, cdp.User())
    assert "differ in" in gain(1.0, 0.0, cdp.Event())
    for value in (1.23456, 0.99999, 1e-7 / 3, 12345.6, 2.0):
        assert value <= float(rounded_up(value)) <= value * 1.002


def test_losses_of_a_pure_budget_add_up(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0)
        assert gather(ledger, "meters").lost.epsilon == 0
        for _ in range(3):
            ledger.spend("meters", PureCost(0.1), unit=cdp.User())
        lost = gather(ledger, "meters").lost
    assert (lost.epsilon, lost.delta, lost.most) == (basic.epsilon(RepeatedCost(PureCost(0.1), 3)), 0, (1.0, 0.0))


@pytest.mark.parametrize("rule", ["gaussian", "renyi"])
def test_losses_of_gaussian_noise_are_bounds(tmp_path: Path, rule: str) -> None:
    cost = GaussianCost(sensitivity=1.0, sigma=10.0)
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=4.0, delta=1e-6, rule=rule)  # type: ignore[arg-type]
        for _ in range(5):
            ledger.spend("meters", cost, unit=cdp.User())
        lost = gather(ledger, "meters").lost
    exact = gaussian.epsilon(RepeatedCost(cost, 5), 1e-6)
    assert exact <= lost.epsilon <= 4.0
    if rule == "gaussian":
        assert lost.epsilon == pytest.approx(exact)


def test_periods_of_a_budget_that_renews_add_up(tmp_path: Path) -> None:
    import datetime as dt

    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0, renews="1mo")
        for month in (1, 2, 3):
            dates = dt.date(2026, month, 1), dt.date(2026, month, 28)
            ledger.spend("meters", PureCost(0.5), unit=cdp.User(), dates=dates)
        facts = gather(ledger, "meters")
    assert facts.lost.epsilon == pytest.approx(1.5)
    assert facts.lost.most is None
    assert [one.period for one in facts.budgets] == ["2026-01", "2026-02", "2026-03"]


def test_parts_that_the_whole_does_not_pay_for_are_added(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=2.0)
        ledger.allot("meters", "ana", epsilon=1.0, collusion="excluded")
        ledger.allot("meters", "ben", epsilon=1.0)
        for analyst in ("ana", "ben", ""):
            ledger.spend("meters", PureCost(0.25), unit=cdp.User(), analyst=analyst)
        lost = gather(ledger, "meters").lost
    assert lost.epsilon == pytest.approx(0.75)
    assert lost.most == (3.0, 0.0)


def test_an_owners_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "owner.toml"
    path.write_text('name = "Load"\ncurators = ["A", "B"]\nsector = "Energy"\n', encoding="utf-8")
    owner = load_owner(path)
    assert owner == Owner(name="Load", curators=("A", "B"), sector="Energy")
    assert (owner.said("curators"), owner.said("contact")) == ("A, B", UNKNOWN)
    path.write_text("", encoding="utf-8")
    assert load_owner(path) == Owner()


def test_an_owners_file_is_refused_by_line(tmp_path: Path) -> None:
    for text, said in [
        ('nmae = "x"', "perhaps name"),
        ("name = 3", "line 1: name"),
        ("curators = []", "curators"),
        ('name = "x"\nsector = "Fishing"', "owner.toml, line 2: sector"),
        ('product = "Pie"', "owner.toml, line 1: product"),
        ('name = "  "', "name"),
    ]:
        path = tmp_path / "owner.toml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InvalidArgument, match=said) as refused:
            load_owner(path)
        assert "Fishing" not in str(refused.value), text
        assert "Pie" not in str(refused.value), text
