from __future__ import annotations

import pytest
from experiments.devices.claims import claims
from tests.experiments.rooms import check_room, check_words, find_all, series

pytestmark = pytest.mark.slow


def test_what_is_true_of_one_report_is_not_of_many() -> None:
    findings = find_all(claims(series()))
    check_words(findings, "devices.json", {})
    assert {one.word for one in findings.values()} == {"as expected"}
    assert len(findings) == 10
    check_room(findings, "devices", "textbook.local_reports")
