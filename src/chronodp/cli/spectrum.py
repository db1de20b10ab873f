"""``chronodp spectrum``: harmonics of one series on a public grid, with their power."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from chronodp.cli.options import Address, Analyst, Clocks, Data, Json, Keys, Payer, Request, Time
from chronodp.cli.places import check_place
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, parse_unit

if TYPE_CHECKING:
    from chronodp.spectrum import Wanted

__all__ = ["spectrum"]

_ROWS = 20


def spectrum(
    data: Data,
    time: Time,
    value: Annotated[str, typer.Option(help="The column with the numbers: one row a period, bounded already.")],
    every: Annotated[str, typer.Option(help="Length of a period, such as `1h`.")],
    start: Annotated[str, typer.Option(help="When the first period begins.")],
    end: Annotated[str, typer.Option(help="When the last period ends.")],
    change: Annotated[float, typer.Option(help="The most one unit changes one period.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon of the release.")],
    dataset: Payer,
    request: Request,
    only: Annotated[int | None, typer.Option(help="One harmonic: turns over the whole series.")] = None,
    lowest: Annotated[int | None, typer.Option(help="So many of the lowest harmonics, the total among them.")] = None,
    strongest: Annotated[
        tuple[int, int] | None, typer.Option(help="How many are chosen privately, and the highest that may be.")
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Every harmonic.")] = False,
    delta: Annotated[float, typer.Option(help="Delta of the release; 0 for a pure guarantee.")] = 0.0,
    unit: Annotated[str, typer.Option(help="`event`, `user`, `user_period:1D`, `window:24`; `/replace`.")] = "user",
    max_periods: Annotated[int | None, typer.Option(help="How many periods one person changes.")] = None,
    timezone: Clocks = "UTC",
    analyst: Analyst = "",
    out: Annotated[Path | None, typer.Option(help="Where to write the release with its certificate, .json.")] = None,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Release harmonics of a series. A period without a row counts as 0; of several rows the mean counts.

    **Example**

    `chronodp spectrum load.csv --time hour --value load --every 1h --start 2026-01-01 --end 2026-02-01 --lowest 30
    --change 5 --unit user --max-periods 48 --epsilon 1 --delta 1e-6 --dataset load --request may`
    """
    from chronodp.cli.terminal import print_json, print_written, rows_of, table_of, terminal
    from chronodp.engines import find_source, read_series
    from chronodp.ledger import Ledger
    from chronodp.spectrum import Spectrum

    check_place("out", out, ".json")
    wanted = _wanted(only, lowest, strongest, whole=whole)
    calendar = Calendar(every, start, end, timezone)
    protected = parse_unit(unit).on(calendar)
    numbers = read_series(find_source(data), calendar, time=time, value=value)
    series = Spectrum(np.nan_to_num(numbers, nan=0.0), change=change, unit=protected, max_periods=max_periods)
    plan = series.plan(wanted, epsilon=epsilon, delta=delta)
    with Ledger(ledger, keys=keys) as opened:
        made = plan.release(opened, dataset=dataset, request=request, analyst=analyst, dates=calendar.span)
    if out is not None:
        made.save(out)
    table = made.to_pandas()
    if as_json:
        print_json({"harmonics": rows_of(table), "release": made.text, "link": made.signed.to_dict()})
        return
    console = terminal()
    console.print(table_of(table.head(_ROWS), title=str(wanted)))
    if len(table) > _ROWS:
        console.print(f"{len(table) - _ROWS:,} more rows; --json or --out has them all.")
    console.print(str(made.certificate))
    print_written(console, out)


def _wanted(only: int | None, lowest: int | None, strongest: tuple[int, int] | None, *, whole: bool) -> Wanted:
    from chronodp.spectrum import Lowest, OnlyHarmonics, Strongest, WholeSpectrum

    asked: list[Wanted] = []
    if only is not None:
        asked.append(OnlyHarmonics(only))
    if lowest is not None:
        asked.append(Lowest(lowest))
    if strongest is not None:
        asked.append(Strongest(*strongest))
    if whole:
        asked.append(WholeSpectrum())
    if len(asked) != 1:
        allowed = "one of --only, --lowest, --strongest, --whole"
        raise InvalidArgument("harmonics", " and ".join(map(str, asked)) or None, allowed)
    return asked[0]
