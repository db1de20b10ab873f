"""``chronodp lifetime``: a series that is bought once and issued for ever."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from chronodp.cli.lifetime_purchase import open_life
from chronodp.cli.options import Address, Data, Json, Keys, Request, SeriesName, TallyFolder, existing_ledger
from chronodp.cli.telling import Level, Out, PageFile, check_form, check_places, tell_release
from chronodp.cli.terminal import print_json, print_line, terminal
from chronodp.display import shown
from chronodp.errors import InvalidArgument, LedgerSetBack, TallyMismatch
from chronodp.privacy import to_document

if TYPE_CHECKING:
    from chronodp.dataset import Lifetime
    from chronodp.ledger import Ledger

__all__ = ["lifetime"]

lifetime = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Pay for a series once, then issue it in every period at no further cost.",
)

Ids = Annotated[
    Path, typer.Option(help="A file with people's ids as in the table, one a line; `-` reads standard input.")
]

lifetime.command("open")(open_life)


@lifetime.command()
def issue(
    data: Data,
    name: SeriesName,
    tally: TallyFolder,
    start: Annotated[str, typer.Option(help="When the first period of this issue begins, such as 2026-01-01.")],
    end: Annotated[str, typer.Option(help="When its last period ends.")],
    request: Request,
    late: Annotated[
        bool, typer.Option("--late", help="The table holds rows that came too late for their issue, and no others.")
    ] = False,
    clip: Annotated[
        tuple[float, float] | None, typer.Option(help="Other clipping bounds in this issue: lowest and highest value.")
    ] = None,
    at_most: Annotated[int | None, typer.Option(help="Another number of rows of one person in this issue.")] = None,
    out: Out = None,
    page: PageFile = None,
    level: Level = 0.95,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Issue the next table of a series. Nothing is debited; the same request again returns the same release.

    **Examples**

    `chronodp lifetime issue jan.parquet --name load --tally load.tally --start 2026-01-01 --end 2026-02-01
    --request 2026-01 --out jan.csv --page jan.html`

    `chronodp lifetime issue late.parquet --late ... --request "2026-01 late"` for rows of January that came in February

    `chronodp lifetime issue mar.parquet --clip 0 1500 ...` where larger totals count and take more of a life
    """
    written = out or []
    check_places(written, page, level)
    terms: dict[str, Any] = {"start": start, "end": end, "clip": clip, "at_most": at_most, "late": late}
    with existing_ledger(ledger, keys=keys) as opened:
        series = _resumed(opened, name, tally)
        check_form(series.design.issue(name, **terms).table.cells, written, as_json=as_json)
        made = series.issue(data, request=request, **terms)
    tell_release(made, out=written, page=page, level=level, as_json=as_json)


@lifetime.command()
def status(name: SeriesName, as_json: Json = False, ledger: Address = "budget.db", keys: Keys = None) -> None:
    """Show what anybody may know of a series: its terms, its price and its issues. The tally is not looked at.

    **Example**

    `chronodp lifetime status --name load`
    """
    from chronodp.lifetime import status_of

    with existing_ledger(ledger, keys=keys) as opened:
        found = status_of(opened, name)
    if as_json:
        content = {"name": found.name, "dataset": found.dataset, "issues": list(found.requests)}
        print_json({**content, "design": to_document(found.design)}, indent=2)
    else:
        terminal().print(str(found))


@lifetime.command()
def verify(
    name: SeriesName,
    tally: TallyFolder,
    compact: Annotated[
        bool, typer.Option("--compact", help="Then merge the tally's files into one, quicker to read: once a year.")
    ] = False,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Check tally and ledger against each other. Exit code 1 if they differ, with what to do about it.

    **Example**

    `chronodp lifetime verify --name load --tally load.tally`
    """
    with existing_ledger(ledger, keys=keys) as opened:
        try:
            series = _resumed(opened, name, tally)
            issues = series.status.issues
            if compact:
                series.compact()
        except (LedgerSetBack, TallyMismatch) as error:
            terminal(errors=True, soft_wrap=True).print(Text.assemble(("does not hold:", "bold red"), f" {error}"))
            raise typer.Exit(1) from None
    if as_json:
        print_json({"holds": True, "issues": issues})
    else:
        terminal().print(
            Text.assemble(
                ("Holds.", "bold green"), f" Tally and ledger of {shown(name)} agree, up to issue {issues:,}."
            )
        )


@lifetime.command()
def forget(
    name: SeriesName,
    tally: TallyFolder,
    ids: Ids,
    same: Annotated[
        bool, typer.Option("--same", help="The file holds one person's old id and new one: the old one counts no more.")
    ] = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Set people to used up: they count no more, also if they come back. Ids are read from a file, one a line.

    Their rows are yours to erase. What stays in the tally are 16 keyed bytes each, so that nobody counts again. With
    `--same` two ids are one person: the new one has used what both have together. One pair a run: given twice, the new
    one is used up.

    **Examples**

    `chronodp lifetime forget --name load --tally load.tally --ids erased.txt`

    `chronodp lifetime forget --name load --tally load.tally --ids pair.txt --same`

    `... --ids -` reads standard input: an id on the command line would stay in the shell's history
    """
    lines, lives = _lines(ids), 0.0
    if same and len(lines) != 2:
        raise InvalidArgument("ids", len(lines), "a file with two lines: the old id and the new one")
    with existing_ledger(ledger, keys=keys) as opened:
        series = _resumed(opened, name, tally)
        if same:
            lives = series.same(*lines)
        else:
            for person in lines:
                series.forget(person)
    print_line(f"They are one person in {name} from now on." if same else f"They count no more in {name}.")
    if lives > 1:
        console = terminal(soft_wrap=True)
        console.print("FOR THE OWNER ONLY: both ids together have used more than one life. What is issued is issued:")
        console.print(f"for this person it holds at {lives:.3g} lives' price.")


def _resumed(ledger: Ledger, name: str, tally: Path) -> Lifetime:
    from chronodp.dataset import Lifetime

    return Lifetime.resume(ledger, name, tally=tally)


def _lines(ids: Path) -> list[str]:
    """Return the ids of people in a file, or on standard input; no refusal repeats one."""
    try:
        text = sys.stdin.read() if str(ids) == "-" else ids.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise InvalidArgument("ids", str(ids), "a text file in UTF-8 that can be read, or -") from None
    lines = [line for line in text.replace("\r\n", "\n").split("\n") if line]
    if not lines:
        raise InvalidArgument("ids", str(ids), "a file with an id in each line; it has none")
    return lines
