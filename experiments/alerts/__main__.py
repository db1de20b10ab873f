"""Run with ``python -m experiments.alerts [a CSV file with date and CO2]``."""

from __future__ import annotations

import math
import sys
from pathlib import Path

from experiments.alerts.air import make_days, read_days
from experiments.alerts.detection import FALSE_ALARMS, Detection, measure_detection
from experiments.alerts.sources import check_sources
from experiments.verdicts import Verdict, show


def measure() -> list[Verdict]:
    paths = [Path(argument) for argument in sys.argv[1:] if not argument.startswith("--")]
    days = read_days(paths[0]) if paths else make_days()
    return [*check_sources(), *(_verdict(row) for row in measure_detection(days))]


def _verdict(row: Detection) -> Verdict:
    delay = "" if math.isnan(row.delay) else f", {row.delay:+.0f} min from then"
    return Verdict(
        f"air of a room, ε = {row.epsilon:g}, {row.noise}, threshold {row.threshold:.0f} ppm",
        f"false alarms on at most {FALSE_ALARMS:.0%} of days",
        f"false on {row.false_alarms:.1%} of days; told on {row.detected:.0%} of days with bad air{delay}",
        "holds" if row.false_alarms <= 1.5 * FALSE_ALARMS else "false",
    )


if __name__ == "__main__":
    show("Alerts", measure, Path(__file__).with_name("README.md"))
