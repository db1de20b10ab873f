"""Options that several commands have: one name, one help, one way to read them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Address",
    "Analyst",
    "Clocks",
    "Data",
    "Json",
    "JsonLines",
    "Keys",
    "Payer",
    "Request",
    "Time",
    "Units",
]

Address = Annotated[
    str, typer.Option("--ledger", "-l", envvar="CHRONODP_LEDGER", help="The ledger's file, or postgresql://...")
]
Analyst = Annotated[str, typer.Option(help="Whose part of the budget pays.")]
Clocks = Annotated[str, typer.Option(help="Whose clocks.")]
Data = Annotated[str, typer.Argument(help="A Parquet or CSV file, or a glob in quotes.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JsonLines = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
Keys = Annotated[Path | None, typer.Option("--keys", help="The owner's keys; by default beside the ledger's file.")]
Payer = Annotated[str, typer.Option(help="Whose budget pays.")]
Request = Annotated[str, typer.Option(help="An id of your choice, once for each release.")]
Time = Annotated[str, typer.Option(help="The column with the time.")]
Units = Annotated[str, typer.Option(help="`event`, `user`, `window:24`, `window:24@1h`; `/replace` after it.")]
