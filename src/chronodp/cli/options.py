"""Options that several commands have: one name, one help, one way to read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chronodp.errors import InvalidArgument, LedgerUnavailable

if TYPE_CHECKING:
    from chronodp.ledger import Ledger

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
    "SeriesName",
    "TallyFolder",
    "Time",
    "Units",
    "check_ledger_file",
    "existing_ledger",
    "refuse_beside",
]

Address = Annotated[
    str, typer.Option("--ledger", "-l", envvar="CHRONODP_LEDGER", help="The ledger's file, or postgresql://...")
]
Analyst = Annotated[str, typer.Option(help="Whose part of the budget pays.")]
Clocks = Annotated[str, typer.Option(help="Time zone of days and hours.")]
Data = Annotated[str, typer.Argument(help="A Parquet or CSV file, or a glob in quotes.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JsonLines = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
Keys = Annotated[Path | None, typer.Option("--keys", help="The owner's keys; by default beside the ledger's file.")]
Payer = Annotated[str, typer.Option(help="Whose budget pays.")]
Request = Annotated[str, typer.Option(help="An id of your choice, once for each release.")]
SeriesName = Annotated[str, typer.Option(help="The name of the series.")]
TallyFolder = Annotated[
    Path, typer.Option("--tally", help="The folder with what each person has used, sealed; keep it with the ledger.")
]
Time = Annotated[str, typer.Option(help="The column with the time.")]
Units = Annotated[str, typer.Option(help="`event`, `user`, `window:24`, `window:24@1h`; `/replace` after it.")]


def check_ledger_file(address: str) -> None:
    """Refuse a file that is not there; a command that only looks makes none."""
    if not address:
        raise InvalidArgument("ledger", address, "a file's path or postgresql://...")
    if "://" not in address and not Path(address).exists():
        raise LedgerUnavailable(
            f"there is no ledger at {address}: `chronodp budget open` makes one, --ledger names another"
        )


def refuse_beside(mode: str, **given: object) -> None:
    """Refuse options that mean nothing beside another one; what was not given is None or False."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise InvalidArgument(name, value, f"left out: it says nothing {mode}")


def existing_ledger(address: str, *, keys: Path | None = None) -> Ledger:
    """Return a ledger that is there."""
    from chronodp.ledger import Ledger

    check_ledger_file(address)
    return Ledger(address, keys=keys)
