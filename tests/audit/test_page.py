"""The page of an audit as a reader meets it: in a browser, without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.report.reading import read

from chronodp.audit import Allowance, judge, mutants
from chronodp.audit.page import report_audit
from chronodp.audit.registry import entries
from chronodp.audit.run import Audit

NAMES = ("randomised response that is true too often", "Laplace noise in floating point")


@pytest.fixture(scope="module")
def audited() -> Audit:
    allowance = Allowance(samples=2_000)
    comparator = next(entry for entry in entries() if entry.name == "comparator")
    broken = [mutant for mutant in mutants.MUTANTS if mutant.name in NAMES]
    return Audit(
        tuple(judge(case, allowance) for case in comparator.cases()),
        tuple((mutant, judge(mutant.cases[0], allowance), judge(mutant.cases[1], allowance)) for mutant in broken),
    )


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
        words = reading.tab.inner_text("body")
        assert "2 of 2 claims stand; 2 of 2 mutants were caught" in words
        assert reading.tab.locator("aside.warning").count() == 0
        assert reading.requests == []
        assert reading.complaints == []


@pytest.mark.slow
def test_says_loudly_that_a_twin_was_not_caught(audited: Audit, tmp_path: Path) -> None:
    (mutant, sound, _), *_ = audited.mutants
    page = report_audit(Audit(audited.verdicts, ((mutant, sound, sound),)), tmp_path / "audit.html")
    assert "was not caught" in page.read_text(encoding="utf-8")
