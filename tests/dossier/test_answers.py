"""Questions are answered by the ledger or the owner, and by nobody else."""

from __future__ import annotations

import json
import re

import pytest

import chronodp as cdp
from chronodp.dossier import UNKNOWN, Owner, gather
from chronodp.dossier.answers import answer_questions, answers_json, answers_markdown
from chronodp.dossier.words import gain, rounded_up

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


def test_every_layer_is_asked_about_and_no_compliance_is_claimed(everything: cdp.Ledger) -> None:
    facts = gather(everything, "meters")
    topics = {one["topic"] for one in json.loads(answers_json(facts))["answers"]}
    assert {"Guarantee", "Unit of privacy", "Trust model", "Exposure", "Side channels", "Data collection"} <= topics
    page = answers_markdown(facts)
    assert "no claim of compliance" in page
    assert not re.search(r"complies|compliant|conforms", page)


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
