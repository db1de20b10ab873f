"""``chronodp lifetime``: a series that is bought once and issued for ever."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from chronodp.cli.asking import Asked, asking
from chronodp.cli.options import Address, Analyst, Data, Json, Keys, Payer, Request, existing_ledger
from chronodp.cli.telling import Level, Out, PageFile, check_form, check_places, tell_release
from chronodp.cli.terminal import print_json, print_line, table_of, terminal
from chronodp.display import shown
from chronodp.errors import InvalidArgument, LedgerSetBack, TallyMismatch
from chronodp.privacy import Calendar, parse_record_unit, to_document

if TYPE_CHECKING:
    from chronodp.dataset import Lifetime
    from chronodp.ledger import Ledger
    from chronodp.lifetime import LifetimePlan

__all__ = ["lifetime"]

lifetime = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Buy a series once, and issue it for ever at that price."
)

Name = Annotated[str, typer.Option(help="The name of the series.")]
Folder = Annotated[
    Path, typer.Option("--tally", help="The folder with what each person has used, sealed; keep it with the ledger.")
]
Ids = Annotated[
    Path, typer.Option(help="A file with people's ids, as the table has them, one a line; `-` reads standard input.")
]
Pays = Annotated[
    str | None,
    typer.Option(
        help="`own`: each pays for what they add; `share`: whoever counts pays as much as anybody. Own if not given, "
        "where it costs nothing more."
    ),
]
Reissues = Annotated[int, typer.Option(help="How often each issue may be corrected, paid for now.")]
Stagger = Annotated[
    bool, typer.Option("--stagger", help="Those in the first issue stop counting one after another, not all at once.")
]

# What an option means where a life is bought: all issues, not one release.
_FOR_EVER: dict[str, Any] = {
    "data": Annotated[str | None, typer.Argument(hidden=True)],  # refused in words
    "start": Annotated[str | None, typer.Option(help="When the first issue begins, such as 2026-01-01.")],
    "end": Annotated[str | None, typer.Option(help="When the first issue ends.")],
    "max_periods": Annotated[
        int | None, typer.Option(help="How many full periods of one person count, ever: the longest stay to cover.")
    ],
    "epsilon": Annotated[float | None, typer.Option(help="Epsilon of all issues together, for ever.")],
    "delta": Annotated[float | None, typer.Option(help="Delta of all issues together, for ever.")],
}


@lifetime.command("plan")
@asking(**_FOR_EVER)
def plan_life(
    *, asked: Asked, pays: Pays = None, reissues: Reissues = 0, stagger: Stagger = False, as_json: Json = False
) -> None:
    """Show what a series would protect, cost and get wrong, for ever, beside other lives. Free: no data is read.

    **Examples**

    `chronodp lifetime plan --time read_at --user meter_id --every 1mo --start 2026-01-01 --end 2026-02-01 --sum kwh
    --clip 0 900 --by region=north,south --epsilon 1 --delta 1e-6 --max-periods 120`

    `chronodp lifetime plan --config load.toml --max-periods 600`
    """
    made = _planned(asked, pays, reissues, stagger=stagger)
    if as_json:
        print_json(_content(made), indent=2)
    else:
        _show(made)


@lifetime.command("open")
@asking(**_FOR_EVER)
def open_life(
    *,
    asked: Asked,
    dataset: Payer,
    name: Name,
    tally: Folder,
    analyst: Analyst = "",
    pays: Pays = None,
    reissues: Reissues = 0,
    stagger: Stagger = False,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Buy a series: the budget is debited once, for all issues there will ever be. No data is read.

    Look first: `chronodp lifetime plan` with the same options spends nothing.

    **Example**

    `chronodp lifetime open --time read_at --user meter_id --every 1mo --start 2026-01-01 --end 2026-02-01 --sum kwh
    --clip 0 900 --by region=north,south --epsilon 1 --delta 1e-6 --max-periods 120 --dataset meters --name load
    --tally load.tally`
    """
    from chronodp.ledger import Ledger

    made = _planned(asked, pays, reissues, stagger=stagger)
    with Ledger(ledger, keys=keys) as opened:
        made.open(opened, dataset=dataset, name=name, tally=tally, analyst=analyst)
    if as_json:
        print_json({"dataset": dataset, "name": name, **_content(made)}, indent=2)
        return
    _show(made)
    console = terminal(soft_wrap=True)
    told = f"{name} is open and paid for. Next: chronodp lifetime issue TABLE --name {name} --tally {tally} ..."
    console.print(shown(told))
    console.print("Keep the folder of the tally as you keep the ledger: without it the series ends.")


@lifetime.command()
def issue(
    data: Data,
    name: Name,
    tally: Folder,
    start: Annotated[str, typer.Option(help="When the first period of this issue begins, such as 2026-01-01.")],
    end: Annotated[str, typer.Option(help="When its last period ends.")],
    request: Request,
    late: Annotated[
        bool, typer.Option("--late", help="The table holds rows that came too late for their issue, and no others.")
    ] = False,
    clip: Annotated[
        tuple[float, float] | None, typer.Option(help="Another clip in this issue: least and most, two numbers.")
    ] = None,
    at_most: Annotated[int | None, typer.Option(help="Another number of rows of one person in this issue.")] = None,
    again: Annotated[
        str | None, typer.Option(help="The request that this one corrects, of a series opened with --reissues.")
    ] = None,
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
    terms: dict[str, Any] = {"start": start, "end": end, "clip": clip, "at_most": at_most, "late": late, "again": again}
    with existing_ledger(ledger, keys=keys) as opened:
        series = _resumed(opened, name, tally)
        check_form(series.design.issue(name, **terms).table.cells, written, as_json=as_json)
        made = series.issue(data, request=request, **terms)
    tell_release(made, out=written, page=page, level=level, as_json=as_json)


@lifetime.command()
def status(name: Name, as_json: Json = False, ledger: Address = "budget.db", keys: Keys = None) -> None:
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
def verify(name: Name, tally: Folder, as_json: Json = False, ledger: Address = "budget.db", keys: Keys = None) -> None:
    """Check tally and ledger against each other. Exit code 1 if they differ, with what to do about it.

    **Example**

    `chronodp lifetime verify --name load --tally load.tally`
    """
    with existing_ledger(ledger, keys=keys) as opened:
        try:
            issues = _resumed(opened, name, tally).status.issues
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
def compact(name: Name, tally: Folder, ledger: Address = "budget.db", keys: Keys = None) -> None:
    """Merge the files of a tally into one, which is quicker to read; once a year will do. Nothing else changes.

    **Example**

    `chronodp lifetime compact --name load --tally load.tally`
    """
    with existing_ledger(ledger, keys=keys) as opened:
        _resumed(opened, name, tally).compact()
    print_line(f"The tally of {name} is compact.")


@lifetime.command()
def forget(name: Name, tally: Folder, ids: Ids, ledger: Address = "budget.db", keys: Keys = None) -> None:
    """Set people to used up: they count no more, also if they come back. Ids are read from a file, one a line.

    Their rows are yours to erase. What stays in the tally are 16 keyed bytes each, so that nobody counts anew.

    **Examples**

    `chronodp lifetime forget --name load --tally load.tally --ids erased.txt`

    `... --ids -` reads standard input: an id on the command line would stay in the shell's history
    """
    lines = _lines(ids)
    with existing_ledger(ledger, keys=keys) as opened:
        series = _resumed(opened, name, tally)
        for person in lines:
            series.forget(person)
    print_line(f"They count no more in {name}.")


@lifetime.command()
def same(name: Name, tally: Folder, ids: Ids, ledger: Address = "budget.db", keys: Keys = None) -> None:
    """Say that two ids are one person: a file holds the old one and the new one, in two lines.

    The old one counts no more; the new one has used what both have together. One pair a run: told twice, the new one is
    used up.

    **Example**

    `chronodp lifetime same --name load --tally load.tally --ids pair.txt`
    """
    lines = _lines(ids)
    if len(lines) != 2:
        raise InvalidArgument("ids", len(lines), "a file with two lines: the old id and the new one")
    with existing_ledger(ledger, keys=keys) as opened:
        lives = _resumed(opened, name, tally).same(*lines)
    print_line(f"They are one person in {name} from now on.")
    if lives > 1:
        console = terminal(soft_wrap=True)
        console.print("FOR THE OWNER ONLY: both ids together have used more than one life. What is issued is issued:")
        console.print(f"for this person it holds at {lives:.3g} lives' price.")


def _planned(asked: Asked, pays: str | None, reissues: int, *, stagger: bool) -> LifetimePlan[Lifetime]:
    """Return the plan of a series that asks this question for ever."""
    given = asked.options
    if given.get("data") is not None:
        allowed = "left out: a series is bought before any table is there; `chronodp lifetime issue` reads one"
        raise InvalidArgument("data", given["data"], allowed)
    for option in ("missing", "missing_assume"):
        if given.get(option) is not None:
            allowed = "left out: what bounds take away would be paid for with every issue; `chronodp release` tells it"
            raise InvalidArgument(option, given[option], allowed)
    dates = (asked.needed("every"), asked.needed("start"), asked.needed("end"))
    limited = parse_record_unit(given.get("unit", "user")).limited
    # A life takes the place of the series' own limit, and its tables come later, one with each issue.
    periods = len(Calendar(*dates, given.get("timezone", "UTC"))) if limited else None
    question = Asked({**given, "data": "the table of each issue", "max_periods": periods})
    return question.query().lifetime(
        epsilon=asked.needed("epsilon"),
        delta=given.get("delta", 0.0),
        max_periods=asked.needed("max_periods"),
        pays=_named(pays),
        reissues=reissues,
        stagger=stagger,
    )


def _named(pays: str | None) -> Literal["own", "share"] | None:
    match pays:
        case None | "own" | "share":
            return pays
    raise InvalidArgument("pays", pays, "own or share")


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


def _content(made: LifetimePlan[Lifetime]) -> dict[str, Any]:
    return {
        "design": to_document(made.design),
        "half_width": made.half_width(),
        "alternatives": made.alternatives.to_dict("records"),
    }


def _show(made: LifetimePlan[Lifetime]) -> None:
    console = terminal()
    console.print(str(made))
    console.print(table_of(made.alternatives, "Other lives at the same price"))
