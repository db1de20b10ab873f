from __future__ import annotations

import pytest
from experiments.claims import Finding, Given
from experiments.devices.claims import claims
from tests.experiments.rooms import check_nudges, check_twins, check_words, find_all

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return find_all(claims(Given()))


def test_what_is_true_of_one_report_is_not_of_many(findings: dict[str, Finding]) -> None:
    check_words(findings, "devices.json", {})
    assert {one.word for one in findings.values()} == {"as expected"}
    assert len(findings) == 10


def test_another_value_turns_every_verdict(findings: dict[str, Finding]) -> None:
    check_nudges(findings.values())


def test_every_broken_part_is_noticed(findings: dict[str, Finding]) -> None:
    check_twins(list(findings.values()), ("devices", "textbook.local_reports"))
