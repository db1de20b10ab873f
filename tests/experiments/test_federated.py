from __future__ import annotations

import pytest
from experiments.federated.accounting import DELTA, STEPS, distribution_epsilon, renyi_epsilon
from experiments.federated.claims import claims
from tests.experiments.rooms import check_room, check_words, find_all, series, stated

pytestmark = pytest.mark.slow


@stated
def test_verdicts() -> None:
    findings = find_all(claims(series()))
    check_words(findings, "federated.json", {})
    assert {one.word for name, one in findings.items() if name.startswith("N")} == {"as expected"}
    check_room(findings, "federated")


def test_the_account_meets_the_reference() -> None:
    assert round(renyi_epsilon(STEPS, DELTA), 3) == 5.878
    assert round(distribution_epsilon(STEPS), 3) == 5.148
