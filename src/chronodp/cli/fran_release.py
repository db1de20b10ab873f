"""``chronodp fran release``: aged answers of a whole table, as one release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from chronodp.cli.coupled import Adversaries, AgeWords, Cuts, FranUnit, QueryWords, Target, Turns, fran_terms
from chronodp.cli.coupled_table import By, End, Every, Missing, Sequences, Start, States, Value, state_columns
from chronodp.cli.options import Address, Analyst, Clocks, Data, Json, Keys, Payer, Request, Time, existing_ledger
from chronodp.cli.places import check_place
from chronodp.cli.table_files import TABLES, write_table
from chronodp.cli.terminal import print_json, print_written, rows_of, table_of, terminal
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar
from chronodp.report import watching

if TYPE_CHECKING:
    import pandas

    from chronodp.correlated.fran import AgedSeries

__all__ = ["release"]

_ROWS = 12


def release(
    data: Data,
    model: Annotated[Path, typer.Option(help="The model, a JSON file: public, or paid for.")],
    time: Time,
    every: Every,
    start: Start,
    end: End,
    dataset: Payer,
    request: Request,
    sequence: Sequences = None,
    by: By = None,
    value: Value = None,
    cuts: Cuts = None,
    states: States = None,
    missing: Missing = 0,
    ages: AgeWords = "0",
    query: QueryWords = "mean",
    epsilon: Turns = None,
    target: Target = None,
    adversary: Adversaries = "knows_others",
    unit: FranUnit = "window:1/replace",
    timezone: Clocks = "UTC",
    analyst: Analyst = "",
    out: Annotated[
        Path | None, typer.Option(help="Where to write: .csv or .parquet for the table, .json with the certificate.")
    ] = None,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Release aged answers with noise for every period of a table. The same request again returns the same answers.

    Look first at what it would cost and reveal: `chronodp fran plan` with the same options spends nothing.

    **Example**

    `chronodp fran release ward.csv --model model.json --time at --sequence pulse --sequence breath --states 2
    --every 1h --start 2026-01-01 --end 2026-02-01 --ages 3 --target 0.25 --dataset ward --request january
    --out january.csv`
    """
    from chronodp.correlated import design_fran, read_model, release_aged

    check_place("out", out, *TABLES, ".json")
    columns = state_columns(time=time, sequence=sequence, by=by, value=value, cuts=cuts, states=states, missing=missing)
    calendar = Calendar(every, start, end, timezone)
    chain = read_model(model)
    if (chain.sequences, chain.states) != (len(columns.names), columns.states):
        given = f"{len(columns.names)} of {columns.states} states"
        allowed = f"as many as the model has, {chain.sequences} of {chain.states} states"
        raise InvalidArgument("sequence", given, allowed)
    terms = fran_terms(ages, query, epsilon, target, adversary, unit, horizon=len(calendar))
    design = design_fran(chain, **terms)
    with watching("Releasing aged answers") as tell:
        rows, _ = columns.read(data, calendar)
        tell(0.5)
        with existing_ledger(ledger, keys=keys) as opened:
            made = release_aged(
                rows, design, ledger=opened, dataset=dataset, request=request, analyst=analyst, dates=calendar.span
            )
    frame = _frame(made, calendar)
    if out is not None and out.suffix.lower() == ".json":
        made.save(out)
    elif out is not None:
        write_table([frame], out)
    if as_json:
        print_json({"dataset": dataset, "request": request, "series": rows_of(frame), **made.to_dict()})
        return
    console = terminal()
    console.print(table_of(frame.head(_ROWS), f"{design.query}, {calendar}"))
    if len(frame) > _ROWS:
        console.print(f"{len(frame) - _ROWS:,} more rows; --out writes them all.")
    console.print(str(made.certificate))
    print_written(console, out)


def _frame(made: AgedSeries, calendar: Calendar) -> pandas.DataFrame:
    """Return the answers beside the period in which each was released; the first are empty."""
    import pandas

    outputs = made.values.shape[1]
    names = ["value"] if outputs == 1 else [f"value_{number}" for number in range(1, outputs + 1)]
    frame = pandas.DataFrame(dict(zip(names, np.moveaxis(made.values, 1, 0), strict=True)))
    frame.insert(0, "time", pandas.Index(calendar.starts()))
    return frame
