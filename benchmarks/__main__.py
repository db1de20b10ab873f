"""Every benchmark in turn; with ``--write`` the tables go to ``benchmarks/RESULTS.md``."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from benchmarks import accounting, alerts, audit, continual, engine, ledger, noise, selection, temporal
from benchmarks.harness import machine

TOPICS = (
    noise.measure,
    noise.measure_choices,
    accounting.measure,
    ledger.measure,
    continual.measure,
    continual.measure_speed,
    continual.measure_peer,
    alerts.measure,
    alerts.measure_power,
    selection.measure,
    temporal.measure,
    audit.measure,
    engine.measure_large,
)


def main() -> None:
    console = Console(stderr=True)
    parts = ["# Benchmark results\n", f"Written by `make bench` on {machine()}; two noisy cores.\n"]
    for measure in TOPICS:
        with console.status(f"Measuring {measure.__module__}..."):
            topic = measure()
        console.print(f"{topic.title}: done")
        parts.append(topic.to_markdown())
    text = "\n".join(parts)
    print(text)
    if "--write" in sys.argv[1:]:
        Path(__file__).with_name("RESULTS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
