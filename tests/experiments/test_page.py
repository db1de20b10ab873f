"""The page of verdicts is the one that the experiments' tables make."""

from __future__ import annotations

from experiments.__main__ import PAGE, verdicts_page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == verdicts_page(), "run: python -m experiments --write"
    assert verdicts_page().count("\n## ") >= 4
