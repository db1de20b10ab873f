"""Writes the page of combinations: ``python -m tests.contracts.combinations``, as `make figures` does."""

from __future__ import annotations

from pathlib import Path

from tests.contracts.combinations.doors import every_door, every_plan, written_page

if __name__ == "__main__":
    page = Path(__file__).parents[3] / "docs" / "generated" / "combinations.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(written_page(every_plan(), every_door()), encoding="utf-8")
