"""Writes the page of combinations: ``python -m tests.contracts.combinations``."""

from __future__ import annotations

from pathlib import Path

from tests.contracts.combinations.everything import every_door, every_plan, written_page

if __name__ == "__main__":
    path = Path(__file__).parents[3] / "docs/reference/combinations.md"
    path.write_text(written_page(every_plan(), every_door()), encoding="utf-8")
    print(f"Written: {path}")
