from __future__ import annotations

import pytest
from experiments.claims import Finding, Given
from experiments.model_selection.accuracy import ORDERS, accuracy, generated_people, people_losses, utilities_of
from experiments.model_selection.claims import claims
from tests.experiments.rooms import check_nudges, check_twins, check_words, find_all

from chronodp.selection import ExponentialMechanism, PermuteAndFlip

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return find_all(claims(Given()))


def test_votes_find_the_order_and_raw_losses_do_not(findings: dict[str, Finding]) -> None:
    check_words(findings, "model_selection.json", {})
    assert findings["A20"].word == "holds only: utilities whose sensitivity is bounded"
    assert {one.word for name, one in findings.items() if name.startswith("N")} == {"as expected"}


def test_another_value_turns_every_verdict(findings: dict[str, Finding]) -> None:
    check_nudges(findings.values())


def test_every_broken_part_is_noticed(findings: dict[str, Finding]) -> None:
    check_twins(list(findings.values()), ("model_selection",))


def test_accuracy_grows_with_epsilon_and_is_best_by_permute_and_flip() -> None:
    utilities = utilities_of(people_losses(generated_people(people=20, length=100)))
    for values in utilities.values():
        assert len(values) == len(ORDERS)
        found = [accuracy(values, PermuteAndFlip(), epsilon) for epsilon in (0.1, 0.5, 2.0)]
        assert found == sorted(found)
        assert accuracy(values, ExponentialMechanism(), 0.5) <= found[1]
        assert accuracy(values, PermuteAndFlip(), 0.5, replaced=True) <= found[1]
