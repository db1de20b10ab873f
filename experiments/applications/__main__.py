"""Run with ``python -m experiments.applications [--meters=FILE] [--steps=FILE] [--occupancy=FILE]``."""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.applications.buildings import check_heat, check_signals, make_occupancy, read_occupancy
from experiments.applications.claims import check_claims
from experiments.applications.grid import check_month
from experiments.applications.linkage import check_linkage
from experiments.applications.panels import make_meters, make_steps, read_panel
from experiments.verdicts import Verdict, show

_MONTH, _FORTNIGHT = 30, 14


def measure() -> list[Verdict]:
    """Return all verdicts, on given files or on made-up people."""
    meters = _path("--meters")
    steps = _path("--steps")
    occupancy = _path("--occupancy")
    households = read_panel(meters, days=_MONTH) if meters else make_meters(days=_MONTH)
    walkers = read_panel(steps, days=_FORTNIGHT) if steps else make_steps(days=_FORTNIGHT)
    return [
        *check_claims(),
        *check_month("meters", households),
        *check_heat(),
        *check_signals(read_occupancy(occupancy) if occupancy else make_occupancy()),
        *check_linkage("steps", walkers),
        *check_linkage("meters", households),
    ]


def _path(option: str) -> Path | None:
    found = [argument.partition("=")[2] for argument in sys.argv[1:] if argument.startswith(f"{option}=")]
    return Path(found[-1]) if found else None


if __name__ == "__main__":
    show("Applications", measure, Path(__file__).with_name("README.md"))
