"""``chronodp demo``: the main job on a made-up town, start to page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

import chronodp as cdp
from chronodp.cli.options import Json
from chronodp.cli.terminal import bars, print_json, terminal
from chronodp.cli.town import END, START, make_town
from chronodp.privacy import check_whole

if TYPE_CHECKING:
    from chronodp.series import Release

__all__ = ["demo"]

_LARGEST = 3.0  # kWh of a household in an hour that count


def demo(
    households: Annotated[int, typer.Option(help="How many households the made-up town has.")] = 10_000,
    epsilon: Annotated[float, typer.Option(help="Epsilon of the release, for everything of one household.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Delta of the release.")] = 1e-6,
    folder: Annotated[Path, typer.Option(help="Where the town, the ledger and the page go.")] = Path("chronodp-demo"),
    as_json: Json = False,
) -> None:
    """Make up a town of households, plan, release a month of hourly electricity, and write the page.

    Run again, it returns the same release: a request is never drawn twice.

    **Example**

    `chronodp demo --epsilon 0.5`
    """
    check_whole("households", households)
    began = time.perf_counter()
    console = terminal(errors=as_json)
    town = folder / f"town-{households}.parquet"
    meters = cdp.TimeSeries(
        town, time="read_at", user="meter_id", every="1h", start=START, end=END, unit=cdp.User(), max_periods=744
    )
    plan = meters.sum("kwh", clip=(0.0, _LARGEST)).plan(epsilon=epsilon, delta=delta)
    console.print(Text.assemble(("The plan", "bold"), " (free: nothing was read)\n"))
    console.print(str(plan))
    make_town(town, households=households)
    name = f"town-{households}"
    with cdp.Ledger(folder / "budget.db") as ledger:
        ledger.open(name, unit=cdp.User(), epsilon=10.0, delta=1e-5)
        release = plan.release(ledger, dataset=name, request=f"load at {epsilon:g}, {delta:g}")
        left = 1 - ledger.status(name).share
    release.save(folder / "release.json")
    page = release.report(folder / "release.html", title="Electricity of a made-up town, January 2026")
    seconds = time.perf_counter() - began
    if as_json:
        link = release.signed.to_dict()
        print_json({"seconds": seconds, "page": str(page), "release": release.text, "link": link})
        return
    console.print("\nThe release\n", style="bold")
    console.print(_by_day(release))
    console.print(str(release.certificate))
    told = f"\n{left:.0%} of the budget is left. {seconds:.0f} s in all. Look at "
    console.print(Text.assemble(told, (str(page), "bold")))


def _by_day(release: Release) -> Table:
    """Each day's hours as bars, and its total, which costs nothing more."""
    hours, days = release.to_pandas(), release.resample("1D").to_pandas()
    table = Table("day", "kWh by hour", "kWh a day", "±", title="January", title_justify="left")
    values = hours["value"].to_numpy().reshape(-1, 24)
    for row, (_, day) in zip(values, days.iterrows(), strict=True):
        half = (day["upper"] - day["lower"]) / 2
        table.add_row(f"{day['time']:%a %d}", bars(row, values.max()), f"{day['value']:,.0f}", f"{half:,.0f}")
    return table
