from __future__ import annotations

import pytest
from experiments.claims import Finding, Given
from experiments.federated.accounting import DELTA, STEPS, distribution_epsilon, renyi_epsilon
from experiments.federated.claims import claims
from tests.experiments.rooms import check_nudges, check_twins, check_words, find_all

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return find_all(claims(Given()))


def test_verdicts(findings: dict[str, Finding]) -> None:
    check_words(findings, "federated.json", {})
    assert {one.word for name, one in findings.items() if name.startswith("N")} == {"as expected"}


def test_the_account_meets_the_reference() -> None:
    assert round(renyi_epsilon(STEPS, DELTA), 3) == 5.878
    assert round(distribution_epsilon(STEPS), 3) == 5.148


def test_another_value_turns_every_verdict(findings: dict[str, Finding]) -> None:
    check_nudges(findings.values())


def test_every_broken_part_is_noticed(findings: dict[str, Finding]) -> None:
    check_twins(list(findings.values()), ("federated",))
