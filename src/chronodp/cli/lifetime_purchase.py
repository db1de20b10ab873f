"""``chronodp lifetime open``: what a series costs for ever, and buying it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from chronodp.cli.asking import Asked, asking
from chronodp.cli.options import Address, Analyst, Json, Keys, Payer, SeriesName, TallyFolder
from chronodp.cli.terminal import print_json, table_of, terminal
from chronodp.display import shown
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, parse_record_unit, to_document

if TYPE_CHECKING:
    from chronodp.dataset import Lifetime
    from chronodp.lifetime import LifetimePlan

__all__ = ["open_life"]

# What an option means where a life is bought: all issues, not one release.
_FOR_EVER: dict[str, Any] = {
    "data": Annotated[str | None, typer.Argument(hidden=True)],  # refused in words
    "start": Annotated[str | None, typer.Option(help="When the first issue begins, such as 2026-01-01.")],
    "end": Annotated[str | None, typer.Option(help="When the first issue ends.")],
    "max_periods": Annotated[
        int | None, typer.Option(help="How many full periods of one person count, ever: the longest stay to cover.")
    ],
    "epsilon": Annotated[float | None, typer.Option(help="Epsilon of all issues together.")],
    "delta": Annotated[float | None, typer.Option(help="Delta of all issues together.")],
}


@asking(**_FOR_EVER)
def open_life(
    *,
    asked: Asked,
    dataset: Payer,
    name: SeriesName,
    tally: TallyFolder,
    analyst: Analyst = "",
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what would be bought, beside other choices. Free: nothing is opened."),
    ] = False,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Buy a series: the budget is debited once, for all issues there will ever be. No data is read.

    Look first: with `--dry-run` the same options show protection, cost and error, and spend nothing.

    **Examples**

    `chronodp lifetime open --time read_at --user meter_id --every 1mo --start 2026-01-01 --end 2026-02-01 --sum kwh
    --clip 0 900 --by region=north,south --epsilon 1 --delta 1e-6 --max-periods 120 --dataset meters --name load
    --tally load.tally --dry-run`

    `chronodp lifetime open --config load.toml --max-periods 600 --dataset meters --name load --tally load.tally`
    """
    from chronodp.ledger import Ledger

    made = _planned(asked)
    if not dry_run:
        with Ledger(ledger, keys=keys) as opened:
            made.open(opened, dataset=dataset, name=name, tally=tally, analyst=analyst)
    if as_json:
        content = {"half_width": made.half_width(), "alternatives": made.alternatives.to_dict("records")}
        print_json({"dataset": dataset, "name": name, "design": to_document(made.design), **content}, indent=2)
        return
    terminal().print(str(made))
    terminal().print(table_of(made.alternatives, "Other lives at the same price"))
    if dry_run:
        return
    console = terminal(soft_wrap=True)
    told = f"{name} is open and paid for. Next: chronodp lifetime issue TABLE --name {name} --tally {tally} ..."
    console.print(shown(told))
    console.print("Keep the folder of the tally as you keep the ledger: without it the series ends.")


def _planned(asked: Asked) -> LifetimePlan[Lifetime]:
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
        epsilon=asked.needed("epsilon"), delta=given.get("delta", 0.0), max_periods=asked.needed("max_periods")
    )
