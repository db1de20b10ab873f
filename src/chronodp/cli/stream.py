"""``chronodp stream``: numbers in, private answers out, line by line; goes on after a crash."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from chronodp.cli.budget import Address, Keys, parse_unit
from chronodp.errors import InvalidArgument, StreamConflict

if TYPE_CHECKING:
    from chronodp.series import Stream
    from chronodp.series.workloads import CausalFilter

__all__ = ["parse_workload", "stream"]


def stream(
    name: Annotated[str, typer.Argument(help="The stream. If it exists it goes on, and only --ledger is needed.")],
    dataset: Annotated[str | None, typer.Option(help="Whose budget pays.")] = None,
    workload: Annotated[
        str, typer.Option(help="`running_total`, `each_period`, `rolling:7`, `ewm:0.1`.")
    ] = "running_total",
    horizon: Annotated[int | None, typer.Option(help="How many steps; not known if not given.")] = None,
    change: Annotated[float | None, typer.Option(help="The most one unit changes one value.")] = None,
    unit: Annotated[str, typer.Option(help="`event`, `user`, `window:24`; `/replace` after it.")] = "user",
    max_periods: Annotated[int | None, typer.Option(help="How many steps one person changes.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Epsilon of the whole stream.")] = None,
    delta: Annotated[float, typer.Option(help="Delta of the whole stream.")] = 0.0,
    column: Annotated[int, typer.Option(help="Which field of a CSV line is the value, from 1.")] = 1,
    replay: Annotated[
        bool,
        typer.Option("--replay", help="The input starts with the first step again: steps released before are skipped."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Read one value a line from standard input and write one private answer a line, each on disk before it is shown.

    **Example**

    `tail -f counts.csv | chronodp stream door --dataset visits --horizon 8760 --change 1 --unit event --epsilon 1
    --delta 1e-6`

    Run it again after a crash: `tail -f counts.csv | chronodp stream door`
    """
    from chronodp.ledger import Ledger
    from chronodp.series import Stream

    with Ledger(ledger, keys=keys) as store:
        try:
            live = Stream.resume(store, name)
        except StreamConflict:
            options = {"dataset": dataset, "change": change, "epsilon": epsilon}
            for option, value in options.items():
                if value is None:
                    raise InvalidArgument(option, None, f"given: there is no stream {name!r} to go on with") from None
            live = Stream(
                parse_workload(workload),
                horizon=horizon,
                change=change or 0.0,
                unit=parse_unit(unit),
                max_periods=max_periods,
                epsilon=epsilon or 0.0,
                delta=delta,
                ledger=store,
                dataset=dataset or "",
                name=name,
            )
        skip = live.period if replay else 0
        if not as_json:
            print("period,value,lower,upper", flush=True)
        for number, line in enumerate(sys.stdin):
            if number >= skip and line.strip():
                _answer(live, line, column, as_json=as_json)


def parse_workload(text: str) -> CausalFilter:
    """Return the workload that a text such as ``rolling:7`` names."""
    from chronodp.series import EachPeriod, Ewm, Rolling, RunningTotal

    kind, _, detail = text.partition(":")
    try:
        match kind:
            case "running_total":
                return RunningTotal()
            case "each_period":
                return EachPeriod()
            case "rolling":
                return Rolling(int(detail))
            case "ewm":
                return Ewm(float(detail))
    except ValueError:
        pass
    raise InvalidArgument("workload", text, "running_total, each_period, rolling:7 or ewm:0.1")


def _answer(live: Stream, line: str, column: int, *, as_json: bool) -> None:
    fields = line.strip().split(",")
    try:
        value = float(fields[column - 1])
    except (ValueError, IndexError):
        value = math.nan
    if not math.isfinite(value):
        # The line is data: its content is not repeated.
        raise InvalidArgument(
            "line", line, f"a finite number in field {column}; nothing was released for it", private=True
        )
    made = live.step(value)
    if as_json:
        shown = {"period": made.period, "value": made.value, "lower": made.lower, "upper": made.upper}
        print(json.dumps(shown), flush=True)
    else:
        print(f"{made.period},{made.value!r},{made.lower!r},{made.upper!r}", flush=True)
