"""Every page of the documentation in a real browser: some of each kind, or with whole counts all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.conftest import Trials
from tests.docs.looking import KINDS, build, look, served, written

pytestmark = pytest.mark.slow


def test_pages_fit_and_axe_finds_nothing_wide_narrow_light_and_dark(
    browser: Browser, tmp_path: Path, trials: Trials
) -> None:
    every = trials(100) == 100
    build(tmp_path, () if every else KINDS)
    pages = written(tmp_path) if every else [f"{kind}.html" for kind in KINDS]
    context = browser.new_context()
    with served(tmp_path) as base:
        tab = context.new_page()
        wrong = [fault for page in pages for fault in look(tab, base, page)]
    context.close()
    assert wrong == []
