from __future__ import annotations

import pytest
from experiments.model_selection.accuracy import ORDERS, accuracy, generated_people, people_losses, utilities_of
from experiments.model_selection.claims import claims
from tests.experiments.rooms import check_room, check_words, find_all, series, stated

from chronodp.selection import ExponentialMechanism, PermuteAndFlip

pytestmark = pytest.mark.slow


@stated
def test_votes_find_the_order_and_raw_losses_do_not() -> None:
    findings = find_all(claims(series()))
    check_words(findings, "model_selection.json", {})
    assert findings["A20"].word == "holds only: utilities whose sensitivity is bounded"
    assert {one.word for name, one in findings.items() if name.startswith("N")} == {"as expected"}
    check_room(findings, "model_selection")


def test_accuracy_grows_with_epsilon_and_is_best_by_permute_and_flip() -> None:
    utilities = utilities_of(people_losses(generated_people(people=20, length=100)))
    for values in utilities.values():
        assert len(values) == len(ORDERS)
        found = [accuracy(values, PermuteAndFlip(), epsilon) for epsilon in (0.1, 0.5, 2.0)]
        assert found == sorted(found)
        assert accuracy(values, ExponentialMechanism(), 0.5) <= found[1]
        assert accuracy(values, PermuteAndFlip(), 0.5, replaced=True) <= found[1]
