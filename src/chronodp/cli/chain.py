"""``chronodp chain``: models of sequences that move by each other, fitted to a table or drawn from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.table import Table

from chronodp.cli.coupled import Cuts, Model, parse_hears
from chronodp.cli.coupled_table import By, End, Every, Missing, Sequences, Start, States, Value, state_columns
from chronodp.cli.options import Address, Analyst, Clocks, Data, Json, Keys, Time, existing_ledger
from chronodp.cli.places import check_place
from chronodp.cli.table_files import TABLES, write_table
from chronodp.cli.terminal import print_json, print_written, terminal
from chronodp.display import shown
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, check_epsilon, counted
from chronodp.report import watching

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chronodp.correlated import CouplingMarkovChain

__all__ = ["chain"]

_ROWS = 40

chain = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Markov models of sequences that depend on each other's last states.",
)


@chain.command()
def fit(
    data: Data,
    time: Time,
    every: Every,
    start: Start,
    end: End,
    sequence: Sequences = None,
    by: By = None,
    value: Value = None,
    cuts: Cuts = None,
    states: States = None,
    missing: Missing = 0,
    hears: Annotated[
        list[str] | None,
        typer.Option(
            help="Which sequences a sequence depends on: `breath=pulse,breath`. May be repeated; one that is not "
            "named depends on itself alone. Left out: all depend on all."
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Anybody may know the table: nothing is spent, and there is no noise.")
    ] = False,
    epsilon: Annotated[float | None, typer.Option(help="Epsilon of the counts that the model is fitted to.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Whose budget pays.")] = None,
    request: Annotated[str | None, typer.Option(help="An id of your choice, once for each fit.")] = None,
    timezone: Clocks = "UTC",
    analyst: Analyst = "",
    out: Annotated[
        Path | None, typer.Option(help="Where to write the model, .json; of private data with its certificate.")
    ] = None,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Fit a coupling Markov chain to a table of several sequences: whom each hears, and where it goes.

    Transitions of private data are counted with noise once, paid from a budget with the unit `window:1/replace`: one
    period of one sequence. The model is public from then on; the same request again returns the same model. Several
    rows of a period count as their mean. With `--public` nothing is paid and nothing is promised.

    **Examples**

    `chronodp chain simulate model.json --periods 744 --sequence pulse --sequence breath --out ward.csv` makes up a
    table to try it on

    `chronodp budget open ward --unit window:1/replace --epsilon 4`

    `chronodp chain fit ward.csv --time at --sequence pulse --sequence breath --states 2 --every 1h
    --start 2026-01-01 --end 2026-02-01 --epsilon 2 --dataset ward --request chain-2026 --out fitted.json`

    `... --cuts 90 --cuts 18 ...` where the columns hold beats and breaths a minute, instead of states

    `... --by sensor=north,south --value level --cuts 3,5 ...` where rows hold one sequence each

    `... --public --out fitted.json` for data that anybody may know: without a budget

    Next: `chronodp leakage fitted.json --epsilon 1`, `chronodp fran tune fitted.json --error 0.1`
    """
    from chronodp.correlated import fit as fit_public, fit_privately, model_to_json

    check_place("out", out, ".json")
    _check_payer(public=public, epsilon=epsilon, dataset=dataset, request=request)
    columns = state_columns(time=time, sequence=sequence, by=by, value=value, cuts=cuts, states=states, missing=missing)
    names = columns.names
    mask = parse_hears(hears, names)
    calendar = Calendar(every, start, end, timezone)
    if len(calendar) < 2:
        raise InvalidArgument("end", end, f"two periods of {every} after the start, or more")
    content: dict[str, Any]
    with watching("Fitting the chain") as tell:
        rows, absent = columns.read(data, calendar)
        tell(0.3)
        if public:
            _check_present(absent, names)
            found = fit_public(rows, states=columns.states, hears=mask)
            model, certificate = found.model, None
            content = {"missing": int(absent.sum()), "log_likelihood": found.log_likelihood, "rounds": found.rounds}
        else:
            with existing_ledger(ledger, keys=keys) as opened:
                paid = fit_privately(
                    rows,
                    states=columns.states,
                    hears=mask,
                    epsilon=check_epsilon(epsilon),
                    ledger=opened,
                    dataset=dataset or "",
                    request=request or "",
                    analyst=analyst,
                )
            model, certificate = paid.model, paid.certificate
            content = {"release": paid.text, "link": paid.signed.to_dict()}
    content = json.loads(model_to_json(model)) | {"names": names} | content
    if out is not None:
        out.write_text(json.dumps(content) + "\n", encoding="utf-8")
    if as_json:
        print_json(content)
        return
    _show(model, names)
    console = terminal()
    if certificate is None:
        gaps = f"{content['missing']:,} of {absent.size:,} numbers were missing"
        console.print(f"Public data, nothing spent: {counted(len(rows) - 1, 'step')}, {gaps}.")
        rounds = counted(content["rounds"], "round")
        console.print(f"Log-likelihood {content['log_likelihood']:.6g} after {rounds}.")
    else:
        console.print(str(certificate))
    print_written(console, out)


@chain.command()
def simulate(
    model: Model,
    out: Annotated[Path, typer.Option(help="Where to write the table: .csv or .parquet.")],
    sequence: Annotated[
        list[str] | None, typer.Option(help="What a column is called: once for each sequence. s0, s1, … if left out.")
    ] = None,
    periods: Annotated[int, typer.Option(help="How many periods.")] = 1_000,
    every: Every = "1h",
    start: Start = "2026-01-01",
    seed: Annotated[int, typer.Option(help="Of the draws: the same seed, the same table.")] = 1,
) -> None:
    """Write a table of made-up states that follow a model, a column for each sequence. It is data of nobody.

    **Example**

    `chronodp chain simulate model.json --periods 744 --sequence pulse --sequence breath --out ward.csv`
    """
    import pandas

    from chronodp.correlated import read_model, simulate as draw

    check_place("out", out, *TABLES)
    coupled = read_model(model)
    names = sequence or [f"s{number}" for number in range(coupled.sequences)]
    if len(names) != coupled.sequences or len({*names, "at"}) <= len(names):
        allowed = f"{coupled.sequences} names that differ, none of them `at`"
        raise InvalidArgument("sequence", ", ".join(names), allowed)
    times = Calendar.from_length(every, start, periods).edges[:-1]
    drawn = draw(coupled, periods, seed=seed)[0]
    frame = pandas.DataFrame(dict(zip(names, drawn.T, strict=True)))
    frame.insert(0, "at", pandas.to_datetime(times, unit="us", utc=True))
    write_table([frame], out)
    console = terminal(soft_wrap=True)
    console.print(f"Written: {out}, {counted(periods, 'row')} of at, {', '.join(map(shown, names[:_ROWS]))}")


def _check_payer(*, public: bool, epsilon: float | None, dataset: str | None, request: str | None) -> None:
    """Refuse data of which nobody said whether they are public, and a payer for public ones."""
    for name, value in {"epsilon": epsilon, "dataset": dataset, "request": request}.items():
        if public and value is not None:
            raise InvalidArgument(name, value, "left out with --public: nothing is spent")
        if not public and value is None:
            raise InvalidArgument(name, None, "given: private data are paid for; or --public if anybody may know them")


def _check_present(absent: NDArray[np.bool_], names: list[str]) -> None:
    """Refuse public columns without any number; of private ones it would tell something."""
    for place in np.flatnonzero(np.all(absent, axis=0)):
        raise InvalidArgument("sequence", names[place], "one with numbers between --start and --end")


def _show(model: CouplingMarkovChain, names: list[str]) -> None:
    title = f"{counted(len(names), 'sequence')} of {model.states} states"
    table = Table("sequence", "hears", "moves it by", title=title, title_justify="left", title_style="bold")
    for head, tail, moves in list(zip(model.heads, model.tails, model.moves, strict=True))[:_ROWS]:
        # Weight and matrix apart are not determined by data; how far apart the columns of their product lie is.
        apart = np.abs(moves[:, :, None] - moves[:, None, :]).sum(axis=0).max() / 2
        table.add_row(shown(names[head]), shown(names[tail]), f"{apart:.4f}")
    console = terminal()
    console.print(table)
    if len(model.heads) > _ROWS:
        console.print(f"{len(model.heads) - _ROWS:,} more; --out and --json have them all.")
    console.print("Moves it by: the most that a state of the one heard changes the chances of the next state.")
