"""Run with ``python -m experiments.model_selection [table with the columns user, time, value]``."""

from __future__ import annotations

import sys
from pathlib import Path

from chronodp.engines import find_source, read_panel
from experiments.model_selection.accuracy import Floats, generated_people
from experiments.model_selection.claims import check
from experiments.verdicts import Verdict, show


def measure() -> list[Verdict]:
    return check(_people([part for part in sys.argv[1:] if not part.startswith("--")]))


def _people(paths: list[str]) -> list[Floats]:
    if not paths:
        return generated_people()
    return read_panel(find_source(paths[0]), time="time", user="user", value="value", longest=1000)


if __name__ == "__main__":
    show("Private model selection", measure, Path(__file__).with_name("README.md"))
