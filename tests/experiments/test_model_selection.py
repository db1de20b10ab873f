from __future__ import annotations

import pytest
from experiments.model_selection.accuracy import ORDERS, accuracy, generated_people, people_losses, utilities_of
from experiments.model_selection.claims import check

from chronodp.selection import ExponentialMechanism, PermuteAndFlip

pytestmark = pytest.mark.long


def test_votes_find_the_order_and_raw_losses_do_not() -> None:
    people = generated_people(people=60, length=120)
    verdicts = {verdict.claim.split(";")[0]: verdict for verdict in check(people)}
    assert verdicts["the choice is ε-differentially private, with e^(ε u / 2Δ)"].verdict == "holds"
    assert verdicts["without the 2 it still is, where a person is replaced"].verdict == "false"
    assert verdicts["validation loss of one fit as the utility: one value changes one term"].verdict == "false"
    assert verdicts["the best order is found: votes, permute-and-flip"].verdict == "holds"
    assert verdicts["the best order is found: raw loss, permute-and-flip"].verdict == "false"


def test_accuracy_grows_with_epsilon_and_is_best_by_permute_and_flip() -> None:
    utilities = utilities_of(people_losses(generated_people(people=20, length=100)))
    for values in utilities.values():
        assert len(values) == len(ORDERS)
        found = [accuracy(values, PermuteAndFlip(), epsilon) for epsilon in (0.1, 0.5, 2.0)]
        assert found == sorted(found)
        assert accuracy(values, ExponentialMechanism(), 0.5) <= found[1]
        assert accuracy(values, PermuteAndFlip(), 0.5, replaced=True) <= found[1]
