"""How an experiment tells what it found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim of a source, what it says, what we find, and whether it holds."""

    claim: str
    source: str
    ours: str
    verdict: Literal["holds", "holds, not tight", "false"]


def show(title: str, measure: Callable[[], list[Verdict]], readme: Path) -> None:
    """Print a table; with ``--json`` one object; with ``--write`` renew the table in the experiment's README."""
    verdicts = measure()
    if "--json" in sys.argv[1:]:
        print(json.dumps({"title": title, "verdicts": [asdict(verdict) for verdict in verdicts]}, ensure_ascii=False))
        return
    table = Table("claim", "the source says", "we find", "verdict", title=title, show_lines=True)
    for verdict in verdicts:
        style = "red" if verdict.verdict == "false" else None
        table.add_row(verdict.claim, verdict.source, verdict.ours, verdict.verdict, style=style)
    Console().print(table)
    if "--write" in sys.argv[1:]:
        head = readme.read_text(encoding="utf-8").partition("\n| claim")[0]
        rows = [f"| {row.claim} | {row.source} | {row.ours} | **{row.verdict}** |" for row in verdicts]
        lines = ["", "| claim | the source says | we find | verdict |", "| --- | --- | --- | --- |", *rows, ""]
        readme.write_text(head + "\n".join(lines), encoding="utf-8")
