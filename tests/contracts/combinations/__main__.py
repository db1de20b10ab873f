"""Prints the page of combinations: ``python -m tests.contracts.combinations``."""

from __future__ import annotations

from tests.contracts.combinations.everything import every_door, every_plan, written_page

if __name__ == "__main__":
    print(written_page(every_plan(), every_door()), end="")
