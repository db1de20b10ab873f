"""``chronodp diagnose``: the owner's look at how a table is read, before anything is paid."""

from __future__ import annotations

from typing import Annotated

import typer

from chronodp.cli.asking import Asked, asks
from chronodp.cli.options import Json
from chronodp.cli.terminal import print_json, terminal
from chronodp.cli.workload import is_workload
from chronodp.errors import InvalidArgument

__all__ = ["diagnose"]


@asks
def diagnose(
    *,
    asked: Asked,
    bounds: Annotated[
        bool, typer.Option("--bounds", help="Show also how much the bounds remove. Do not choose bounds by it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the OWNER how a table is read: which cells, in which types, on which clocks, and what is left out and why.

    It reads the data and spends nothing. What it shows is not private: do not publish it. Nothing of it changes a
    release. Run it before `chronodp release`, with the same options.

    **Examples**

    `chronodp diagnose jan.parquet --time read_at --user meter_id --every 1h --start 2026-01-01 --end 2026-02-01
    --max-periods 24 --sum kwh --clip 0 5`

    `chronodp diagnose meters.csv --decimal , --time-format "%d.%m.%Y %H:%M" --config load.toml`
    """
    if is_workload(asked):
        raise InvalidArgument("data", asked.options["data"], "one query: look at each by itself, with its own options")
    # What is looked at does not depend on the price; a plan needs one.
    options = {**asked.options, "epsilon": asked.options.get("epsilon") or 1.0}
    found = Asked(options).plan().diagnose(bounds=bounds)
    if as_json:
        print_json(found.to_dict(), indent=2)
    else:
        terminal(soft_wrap=True).print(str(found))
