"""``chronodp fran``: aged answers with noise about coupled sequences: tuned, planned and run."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from chronodp.cli.coupled import (
    Adversaries,
    AgeWords,
    Cuts,
    FranUnit,
    Model,
    QueryWords,
    Target,
    Turns,
    fran_terms,
    parse_cuts,
    to_states,
)
from chronodp.cli.fran_release import release
from chronodp.cli.fran_tune import tune
from chronodp.cli.options import Address, Analyst, Json, JsonLines, Keys, existing_ledger
from chronodp.cli.stream import number_in
from chronodp.cli.terminal import print_json
from chronodp.errors import InvalidArgument, UnknownStream
from chronodp.privacy import counted, labelled

if TYPE_CHECKING:
    from chronodp.correlated import CouplingMarkovChain, Fran
    from chronodp.correlated.fran import FranDesign
    from chronodp.ledger import Ledger

__all__ = ["fran"]

fran = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Delayed, noisy answers about coupled sequences (FRAN: freshness-regulated adaptive noise).",
)
fran.command()(tune)
fran.command()(release)

Horizon = Annotated[int | None, typer.Option(help="How many periods; not known if not given.")]


@fran.command()
def plan(
    model: Model,
    ages: AgeWords = "0",
    query: QueryWords = "mean",
    epsilon: Turns = None,
    target: Target = None,
    adversary: Adversaries = "knows_others",
    unit: FranUnit = "window:1/replace",
    horizon: Horizon = None,
    as_json: Json = False,
) -> None:
    """Show what a stream of aged answers would cost, reveal and get wrong. Free: no data is read.

    **Example**

    `chronodp fran plan model.json --ages 3 --target 0.25`
    """
    from chronodp.correlated import read_model

    chain = read_model(model)
    content = _planned(chain, fran_terms(ages, query, epsilon, target, adversary, unit, horizon=horizon))
    if as_json:
        print_json(content)
    else:
        print(labelled(_words(content)))


@fran.command()
def run(
    name: Annotated[str, typer.Argument(help="The stream. If it exists it goes on, and only --ledger is needed.")],
    model: Annotated[Path | None, typer.Option(help="The model, a JSON file: public, or paid for.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Whose budget pays.")] = None,
    ages: AgeWords = "0",
    query: QueryWords = "mean",
    epsilon: Turns = None,
    target: Target = None,
    adversary: Adversaries = "knows_others",
    unit: FranUnit = "window:1/replace",
    horizon: Horizon = None,
    analyst: Analyst = "",
    columns: Annotated[
        str | None, typer.Option(help="Which fields of a CSV line are the sequences, from 1: `2,3`. The first if not.")
    ] = None,
    cuts: Cuts = None,
    replay: Annotated[
        bool,
        typer.Option("--replay", help="The input starts with the first period again: known answers are printed again."),
    ] = False,
    as_json: JsonLines = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Read the states of all sequences, a line a period, from standard input, and write aged answers with noise.

    The budget pays once, when the stream opens; each answer is on disk before it is shown. A line has a state from 0
    for each sequence, or numbers that --cuts turn into states. Until states are old enough an answer is empty.

    **Example**

    `tail -n +2 -f ward.csv | chronodp fran run alarms --model model.json --columns 2,3 --ages 3 --target 0.25
    --dataset ward`

    Run it again after a crash: `tail -n +2 -f ward.csv | chronodp fran run alarms --columns 2,3 --replay`
    """
    from chronodp.correlated import Fran, read_model

    with existing_ledger(ledger, keys=keys) as store:
        try:
            live = Fran.resume(store, name)
        except UnknownStream:
            for option, value in {"model": model, "dataset": dataset}.items():
                if value is None:
                    raise InvalidArgument(option, None, f"given: there is no stream {name!r} to go on with") from None
            chain = read_model(model or "")
            read = _reader(columns, cuts, chain.sequences, chain.states)  # before anything is spent
            terms = fran_terms(ages, query, epsilon, target, adversary, unit, horizon=horizon)
            live = Fran(chain, **terms, ledger=store, dataset=dataset or "", name=name, analyst=analyst)
        else:
            read = _reader(columns, cuts, live.design.sequences, live.design.states)
        _follow(live, read, store, replay=replay, as_json=as_json)


def _planned(chain: CouplingMarkovChain, terms: dict[str, Any]) -> dict[str, Any]:
    from chronodp.correlated import design_fran

    design = design_fran(chain, **terms)
    scales = [design.scale(epsilon) * design.step for epsilon in design.epsilons]
    return {
        "query": str(design.query),
        "ages": list(design.ages),
        "epsilons": list(design.epsilons),
        "scales": scales,
        "unit": str(design.unit),
        "epsilon": design.epsilon,
        "present": None if design.present is None else asdict(design.present),
        "present_in_words": str(design.present),
        "error": _error(chain, design, max(scales)),
    }


def _error(chain: CouplingMarkovChain, design: FranDesign, scale: float) -> dict[str, Any]:
    """Return the mean squared error by what causes it; that of age only where the chain has one law."""
    from chronodp.correlated.tuning import freshness

    noise = 2 * scale**2 * len(design.table)
    try:
        fresh = freshness(chain, query=design.query, ages=design.reading_ages)
    except InvalidArgument:
        return {"of_noise": noise, "of_age": None, "of_a_constant": None, "estimated": False}
    return {"of_noise": noise, "of_age": fresh.stale, "of_a_constant": fresh.variance, "estimated": fresh.estimated}


def _words(content: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a plan in words, a line for each thing that an owner decides by."""
    old = content["ages"]
    age = counted(old[0], "period") if len(old) == 1 else f"{min(old)} to {max(old)} periods"
    noises = ", ".join(
        f"{scale:.4g} (ε_C = {part:.4g})" for scale, part in zip(content["scales"], content["epsilons"], strict=True)
    )
    return [
        ("Releases", f"{content['query']} of states {age} old, with Laplace noise of scale {noises}"),
        ("Protects", content["unit"]),
        ("Cost", f"ε = {content['epsilon']:.6g}, paid once when the stream opens, whatever the data"),
        ("Present", content["present_in_words"]),
        *_error_words(content["error"]),
        ("First answer", f"after {counted(max(old), 'period')}"),
    ]


def _error_words(error: dict[str, Any]) -> list[tuple[str, str]]:
    noise = f"{math.sqrt(error['of_noise']):.4g} by noise"
    if error["of_age"] is None:
        return [("Error", f"{noise}; that of age is not known: the model has no single stationary law")]
    both = math.sqrt(error["of_age"] + error["of_noise"])
    parts = f"{math.sqrt(error['of_age']):.4g} by age, {noise}"
    drawn = " (age by simulation)" if error["estimated"] else ""
    alone = f"{math.sqrt(error['of_a_constant']):.4g} is the error of the query's mean alone, which reveals nothing"
    return [
        ("Error", f"{both:.4g} (root of the mean square) as an answer about the present: {parts}{drawn}"),
        ("Beside it", alone),
    ]


def _reader(columns: str | None, cuts: list[str] | None, sequences: int, states: int) -> Callable[[str], list[int]]:
    """Return what turns a line into a snapshot, once options are known to fit the model."""
    try:
        fields = list(range(1, sequences + 1)) if columns is None else [int(part) for part in columns.split(",")]
    except ValueError:
        fields = []
    if len(fields) != sequences or min(fields) < 1:
        raise InvalidArgument("columns", columns, f"{counted(sequences, 'field')}, from 1, one a sequence: such as 2,3")
    edges = parse_cuts(cuts, None, sequences) if cuts else None
    if edges is not None and len(edges[0]) != states - 1:
        raise InvalidArgument("cuts", len(edges[0]), f"{states - 1}, for the {states} states of the model")

    def read(line: str) -> list[int]:
        parts = line.strip().split(",")
        numbers = [number_in(parts, field) for field in fields]
        if edges is not None:
            return [int(state) for state in to_states(np.asarray([numbers]), edges)[0]]
        if any(number != math.floor(number) or not 0 <= number < states for number in numbers):
            allowed = f"one with states from 0 to {states - 1}, or numbers and --cuts; nothing was released for it"
            raise InvalidArgument("line", line, allowed, private=True)
        return [int(number) for number in numbers]

    return read


def _follow(live: Fran, read: Callable[[str], list[int]], ledger: Ledger, *, replay: bool, as_json: bool) -> None:
    known = [json.loads(text) for text in ledger.released_steps(live.name)[: live.period]] if replay else []
    outputs = len(live.design.table)
    if not as_json:
        heads = ["value"] if outputs == 1 else [f"value_{number}" for number in range(1, outputs + 1)]
        print(",".join(["period", *heads]), flush=True)
    for number, line in enumerate(filter(str.strip, sys.stdin)):
        if number < len(known):
            _show(number, known[number], outputs, as_json=as_json)
            continue
        answer = live.step(read(line))
        values = None if answer.value is None else np.atleast_1d(answer.value).tolist()
        _show(answer.period, values, outputs, as_json=as_json)
        if live.finished:
            print(f"ended: all {counted(live.period, 'period')} are released", file=sys.stderr)
            break


def _show(period: int, values: list[float] | None, outputs: int, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"period": period, "value": values[0] if values and outputs == 1 else values}), flush=True)
        return
    print(",".join([str(period), *(map(repr, values) if values else [""] * outputs)]), flush=True)
