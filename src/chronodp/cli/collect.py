"""``chronodp collect``: reports of devices in, frequencies or means with intervals out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from chronodp.cli.options import Json
from chronodp.cli.places import check_place
from chronodp.cli.terminal import bars, table_of, terminal
from chronodp.display import shown
from chronodp.errors import InvalidArgument, UnreadableSource
from chronodp.report import frame_as_csv, watching

if TYPE_CHECKING:
    from chronodp.local import Estimates, LocalPlan, ReportCounts

__all__ = ["collect"]

_ROWS = 12
_WIDE = 72


def collect(
    plan: Annotated[Path, typer.Argument(help="The plan that devices were given.")],
    reports: Annotated[
        list[Path],
        typer.Argument(help="Files of reports: records (.bin) or lines of JSON; or tallies of other workers (.tally)."),
    ],
    slots: Annotated[tuple[int, int] | None, typer.Option(help="First slot and the one after the last.")] = None,
    level: Annotated[float, typer.Option(help="How often intervals hold the true value.")] = 0.95,
    smooth: Annotated[
        str, typer.Option(help="Mean over so many slots, an odd number; `auto` by the known noise.")
    ] = "1",
    changes: Annotated[bool, typer.Option("--changes", help="Show differences to the slot before.")] = False,
    project: Annotated[bool, typer.Option("--project", help="Move frequencies to at least 0, and 1 in all.")] = False,
    labels: Annotated[str | None, typer.Option(help="Names of the values, with commas between them.")] = None,
    candidates: Annotated[str | None, typer.Option(help="Of a large alphabet, the values to count.")] = None,
    part: Annotated[str, typer.Option(help="Of several workers, which and how many: `0/4`.")] = "0/1",
    tally: Annotated[Path | None, typer.Option(help="Write the counts for merging, and show nothing.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the whole table as CSV.")] = None,
    as_json: Json = False,
) -> None:
    """Count reports, drop what is malformed or came before, and show estimates with intervals. Costs nothing more.

    **Examples**

    `chronodp collect plan.json reports.bin --smooth 7`

    `chronodp collect plan.json reports.bin --part 0/2 --tally 0.tally`, the same for `1/2`, then
    `chronodp collect plan.json 0.tally 1.tally`
    """
    from chronodp.local import LocalPlan, best_window, estimate

    check_place("tally", tally, ".tally")
    check_place("out", out, ".csv")
    asked = LocalPlan.load(plan)
    counted = _count(asked, reports, slots, candidates, part)
    if tally is not None:
        tally.write_bytes(counted.to_bytes())
        return
    names = tuple(labels.split(",")) if labels else tuple(candidates.split(",")) if candidates else None
    made = estimate(asked, counted, labels=names)
    window = best_window(made) if smooth == "auto" else _whole("smooth", smooth)
    made = made.smoothed(window) if window > 1 else made
    made = made.projected() if project else made
    made = made.changes() if changes else made
    frame = made.to_pandas(level=level)
    if out is not None:
        out.write_text(frame_as_csv(frame), encoding="utf-8", newline="")
    dropped = asdict(counted.dropped)
    if as_json:
        rows = [
            {key: None if isinstance(cell, float) and not math.isfinite(cell) else cell for key, cell in row.items()}
            for row in frame.to_dict("records")
        ]
        print(
            json.dumps({"plan": asked.digest, "reports": int(counted.reports.sum()), "dropped": dropped, "rows": rows})
        )
        return
    console = terminal()
    counts = f": {int(counted.reports.sum()):,} reports over {len(counted.reports):,} slots"
    console.print(Text.assemble((shown(asked.name), "bold"), counts))
    _show(console, made)
    console.print(table_of(frame.head(_ROWS)))
    if len(frame) > _ROWS:
        console.print(f"{len(frame) - _ROWS:,} more rows; --out writes them all.")
    if counted.dropped.total:
        console.print("Dropped: " + ", ".join(f"{count:,} {why}" for why, count in dropped.items() if count) + ".")
    console.print(f"Devices: {asked.lifetime}.")


def _count(
    plan: LocalPlan, reports: list[Path], slots: tuple[int, int] | None, candidates: str | None, part: str
) -> ReportCounts:
    from chronodp.local import Collector

    asked = [_whole("candidates", text) for text in candidates.split(",")] if candidates else None
    which, _, of = part.partition("/")
    collector = Collector(
        plan, slots=range(*slots) if slots else None, candidates=asked, part=(_whole("part", which), _whole("part", of))
    )
    files = [path for path in reports if path.suffix != ".tally"]
    with watching("Counting reports") as tell:
        for number, path in enumerate(files):
            collector.read(path, progress=partial(_tell, tell, number, len(files)))
    tallies = [_stored(path) for path in reports if path.suffix == ".tally"]
    if not tallies:
        return collector.tally
    if files:
        raise InvalidArgument("reports", "reports and tallies", "either files of reports or tallies")
    total = tallies[0]
    for one in tallies[1:]:
        total = total.merge(one)
    return total


def _tell(tell: Callable[[float], None], number: int, files: int, done: float) -> None:
    tell((number + done) / files)


def _stored(path: Path) -> ReportCounts:
    from chronodp.local import ReportCounts

    try:
        return ReportCounts.from_bytes(path.read_bytes())
    except OSError:
        raise UnreadableSource(f"{path.name} cannot be read") from None


def _show(console: Console, made: Estimates) -> None:
    known = np.nan_to_num(made.values)
    edges = np.unique(np.linspace(0, len(known), min(len(known), _WIDE) + 1).astype(int))
    for place, label in list(enumerate(made.labels))[:_ROWS]:
        thin = np.add.reduceat(known[:, place], edges[:-1]) / np.diff(edges)
        console.print(f"{bars(thin)} {shown(label)}")


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InvalidArgument(name, text, "a whole number") from None
