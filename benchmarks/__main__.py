"""Every benchmark in turn, or those of the named files; with ``--write`` their tables go to ``benchmarks/RESULTS.md``.

`python -m benchmarks --write alerts continual.measure_speed` measures these anew, writes their tables of the machine
it runs on, and leaves all other tables as they are. Whatever is written goes into the README's table too;
`python -m benchmarks --readme` does that alone.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from benchmarks import (
    accounting,
    active,
    alerts,
    audit,
    bands,
    bounds,
    continual,
    correlated,
    coverage,
    crowded,
    deployments,
    engine,
    estimation,
    federated,
    hostile,
    key_reuse,
    key_selection,
    key_streams,
    keys,
    large,
    ledger,
    lifetime_policies,
    live,
    live_on_spark,
    live_windows,
    lives,
    local,
    looseness,
    noise,
    places,
    quantiles,
    ratios,
    report,
    selection,
    service,
    service_cost,
    spark,
    stays,
    suppression,
    tallies,
    temporal,
    together,
    training,
)
from benchmarks.harness import Topic, commit, machine
from benchmarks.peers import missing
from benchmarks.results import RESULTS, Results
from benchmarks.summary import with_summary

TOPICS = (
    noise.measure,
    noise.measure_choices,
    accounting.measure,
    ledger.measure,
    large.measure,
    large.measure_whole,
    continual.measure,
    continual.measure_speed,
    continual.measure_peer,
    key_streams.measure,
    active.measure,
    stays.measure,
    stays.measure_year,
    lives.measure,
    tallies.measure,
    lifetime_policies.measure,
    lifetime_policies.measure_prices,
    lifetime_policies.measure_renewing,
    lifetime_policies.measure_best,
    alerts.measure,
    alerts.measure_power,
    selection.measure,
    bounds.measure,
    bounds.measure_groups,
    bands.measure,
    quantiles.measure,
    keys.measure,
    keys.measure_spark,
    key_selection.measure,
    key_selection.measure_best,
    key_selection.measure_periods,
    key_selection.measure_lone,
    key_reuse.measure,
    temporal.measure,
    audit.measure,
    correlated.measure,
    looseness.measure,
    estimation.measure,
    together.measure,
    together.measure_time,
    places.measure,
    places.measure_time,
    engine.measure_large,
    spark.measure,
    report.measure,
    ratios.measure,
    coverage.measure,
    suppression.measure,
    deployments.measure,
    local.measure,
    federated.measure,
    training.measure,
    service.measure,
    service_cost.measure,
    service_cost.measure_start,
    crowded.measure,
    hostile.measure,
    live.measure,
    live.measure_mqtt,
    live_windows.measure,
    live_on_spark.measure,
)
README = Path(__file__).parents[1] / "README.md"


NAMES = {f"{measure.__module__}.{measure.__name__}".removeprefix("benchmarks."): measure for measure in TOPICS}


def main() -> None:
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__)
        return
    if "--readme" in sys.argv[1:]:
        _renew_readme()
        return
    files = {name.partition(".")[0] for name in NAMES}
    wanted = {name for name in sys.argv[1:] if not name.startswith("--")} or files
    if unknown := wanted - files - set(NAMES):
        sys.exit(f"no benchmarks {', '.join(sorted(unknown))}; there are {', '.join(sorted(files))}")
    console = Console(stderr=True)
    if lacking := missing():
        console.print(f"Not to be had here, and left out of the tables: {', '.join(lacking)}")
    for name, measure in NAMES.items():
        if not {name, name.partition(".")[0]} & wanted:
            continue
        measured = commit()
        with console.status(f"Measuring {name}..."):
            topic = measure()
        console.print(f"{topic.title}: done")
        print(topic.to_markdown(), flush=True)
        if "--write" in sys.argv[1:]:
            _write(name, topic, measured)
    if "--write" in sys.argv[1:]:
        _renew_readme()


def _write(name: str, topic: Topic, measured: str) -> None:
    """Write one table at once: a run that is stopped keeps what it had."""
    kind, what = machine()
    results = Results.read(RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "")
    day = datetime.now(UTC).date().isoformat()
    results = results.with_topic(name, topic, where=kind, day=day, commit=measured)
    if not topic.everywhere:
        results = replace(results, machines={**results.machines, kind: what})
    RESULTS.write_text(results.to_markdown(list(NAMES)), encoding="utf-8")


def _renew_readme() -> None:
    text = with_summary(README.read_text(encoding="utf-8"), RESULTS.read_text(encoding="utf-8"))
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
