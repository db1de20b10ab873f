"""``chronodp compare``: the error of every noise shape for a workload, before anything is spent."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from chronodp.cli.options import Json, Units
from chronodp.cli.stream import parse_workload
from chronodp.cli.terminal import print_json, table_of, terminal
from chronodp.privacy import counted, parse_record_unit

__all__ = ["compare"]


def compare(
    workload: Annotated[str, typer.Argument(help="`running_total`, `each_period`, `rolling:7`, `ewm:0.1`.")],
    horizon: Annotated[int, typer.Option(help="How many periods.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon of the release.")],
    delta: Annotated[float, typer.Option(help="Delta of the release; 0 for a pure one.")] = 0.0,
    unit: Units = "event",
    max_periods: Annotated[int | None, typer.Option(help="How many periods of one person count.")] = None,
    change: Annotated[float, typer.Option(help="The most one unit changes one period.")] = 1.0,
    as_json: Json = False,
) -> None:
    """Show the error of every candidate, best first, with the least that theory allows.

    **Example**

    `chronodp compare running_total --horizon 8760 --epsilon 1 --delta 1e-6`
    """
    from chronodp.series import compare as compare_shapes

    table = compare_shapes(
        parse_workload(workload),
        unit=parse_record_unit(unit),
        horizon=horizon,
        max_periods=max_periods,
        epsilon=epsilon,
        delta=delta,
        change=change,
    )
    if as_json:
        print_json(json.loads(table.to_json(orient="records")))
        return
    terminal().print(table_of(table, f"{workload}, {counted(horizon, 'period')}"))
