"""The page of an audit as a reader meets it: in a browser, without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from chronodp.audit import Allowance, judge
from chronodp.audit.page import report_audit
from chronodp.audit.run import Audit
from tests.audit.mutants import MUTANTS
from tests.report.reading import read

NAMES = ("randomised response that is true too often", "Laplace noise in floating point")


@pytest.fixture(scope="module")
def audited() -> Audit:
    allowance = Allowance(samples=2_000)
    cases = [case for mutant in MUTANTS if mutant.name in NAMES for case in mutant.cases]
    return Audit(tuple(judge(case, allowance) for case in cases))


def test_draws_a_curve_for_each_and_asks_nothing_of_the_network(
    browser: Browser, audited: Audit, tmp_path: Path
) -> None:
    address = report_audit(audited, tmp_path / "audit.html").as_uri()
    with browser.new_context(viewport={"width": 1200, "height": 900}, color_scheme="light") as context:
        reading = read(context, address)
        drawn = [path.get_attribute("d") or "" for path in reading.tab.locator("#chart .scatterlayer .js-line").all()]
        assert sum("L" in path for path in drawn) == 4
        assert reading.layout("yaxis.type") == "log"
        assert reading.tab.locator("tbody tr").count() == 4
        assert "2 of 4 claims stand" in reading.tab.inner_text("body")
        assert reading.tab.locator("aside.warning").count() == 1
        assert reading.requests == []
        assert reading.complaints == []


@pytest.mark.slow
def test_says_loudly_that_a_claim_was_refuted(audited: Audit, tmp_path: Path) -> None:
    page = report_audit(audited, tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "was refuted" in page
    stands = report_audit(Audit(audited.verdicts[::2]), tmp_path / "stands.html").read_text(encoding="utf-8")
    assert "was refuted or could not" not in stands
