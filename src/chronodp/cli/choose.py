"""``chronodp choose``: one of several public candidates, by private numbers that speak for each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from chronodp.cli.options import Address, Analyst, Json, Keys, Units, existing_ledger
from chronodp.cli.places import check_place
from chronodp.cli.stream import number_in
from chronodp.cli.terminal import print_json, print_written, terminal
from chronodp.display import shown
from chronodp.errors import InvalidArgument
from chronodp.privacy import parse_record_unit

if TYPE_CHECKING:
    from chronodp.selection import Choice, ChoiceMechanism

__all__ = ["choose", "parse_choice_mechanism"]


def choose(
    candidates: Annotated[list[str], typer.Argument(help="Their names, fixed without looking at the data.")],
    change: Annotated[float, typer.Option(help="The most one unit changes any number.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon of the choice.")],
    dataset: Annotated[str | None, typer.Option(help="Whose budget pays.")] = None,
    request: Annotated[str | None, typer.Option(help="An id of your choice, once for each choice.")] = None,
    monotone: Annotated[
        bool, typer.Option("--monotone", help="One more person only raises numbers, as with counts: half the noise.")
    ] = False,
    unit: Units = "user",
    mechanism: Annotated[
        str, typer.Option(help="`permute-and-flip`, `exponential`, or the textbook's `noisy-max`.")
    ] = "permute-and-flip",
    purpose: Annotated[str, typer.Option(help="What the numbers say, in words; part of the certificate.")] = "",
    plan: Annotated[
        bool, typer.Option("--plan", help="Show how far behind the best the choice may be, and stop: nothing is spent.")
    ] = False,
    analyst: Analyst = "",
    out: Annotated[Path | None, typer.Option(help="Where to write the choice with its certificate, .json.")] = None,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Choose one of several candidates, likely one of the best, by private numbers read from standard input.

    A line has a candidate and the number that speaks for it: `evening,940`. All candidates have one line each. Only the
    choice is published; the same request again returns the same one.

    **Examples**

    `chronodp choose morning evening night --change 1 --monotone --epsilon 0.5 --plan`

    `cat peaks.csv | chronodp choose morning evening night --change 1 --monotone --epsilon 0.5 --dataset meters
    --request peak-2026`
    """
    from chronodp.selection import MonotoneUtilities, Utilities, choose as choose_privately, design_choice

    check_place("out", out, ".json")
    protected, chosen = parse_record_unit(unit), parse_choice_mechanism(mechanism)
    design = design_choice(
        chosen, candidates, unit=protected, change=change, monotone=monotone, epsilon=epsilon, purpose=purpose
    )
    if plan:
        behind = design.shortfall()
        if as_json:
            print_json({"epsilon": epsilon, "candidates": candidates, "behind": behind})
        else:
            terminal().print(_behind(behind))
        return
    for name, value in {"dataset": dataset, "request": request}.items():
        if value is None:
            raise InvalidArgument(name, None, "given: a budget pays for every choice; or --plan, which is free")
    with existing_ledger(ledger, keys=keys) as opened:
        numbers = _numbers(candidates)
        made = choose_privately(
            candidates,
            MonotoneUtilities(numbers, change=change) if monotone else Utilities(numbers, change=change),
            epsilon=epsilon,
            unit=protected,
            mechanism=chosen,
            purpose=purpose,
            ledger=opened,
            dataset=dataset or "",
            request=request or "",
            analyst=analyst,
        )
    if out is not None:
        made.save(out)
    if as_json:
        print_json({"winner": made.winner, "candidates": list(made.design.candidates), **made.to_dict()})
        return
    _show(made, out)


def parse_choice_mechanism(text: str) -> ChoiceMechanism:
    """Return the mechanism of that name."""
    from chronodp.selection import ExponentialMechanism, NoisyMax, PermuteAndFlip

    match text:
        case "permute-and-flip":
            return PermuteAndFlip()
        case "exponential":
            return ExponentialMechanism()
        case "noisy-max":
            return NoisyMax()
    raise InvalidArgument("mechanism", text, "permute-and-flip, exponential or noisy-max")


def _numbers(candidates: list[str]) -> list[float]:
    """Return the number of each candidate from standard input, in the candidates' order."""
    found: dict[str, float] = {}
    for line in filter(str.strip, sys.stdin):
        name, _, number = line.strip().rpartition(",")
        if name.strip() not in candidates or name.strip() in found:
            allowed = f"one of {len(candidates)} candidates and its number, such as evening,940, each once"
            raise InvalidArgument("line", line, allowed, private=True)
        found[name.strip()] = number_in([number], 1)
    if missing := [name for name in candidates if name not in found]:
        raise InvalidArgument("number", None, f"given for each candidate on standard input; {missing[0]} has none")
    return [found[name] for name in candidates]


def _behind(gap: float) -> str:
    return f"With probability 95 % the chosen candidate's number is at most {gap:.4g} below the best one's."


def _show(made: Choice, out: Path | None) -> None:
    console = terminal()
    table = Table("candidate", "chosen")
    for name in made.design.candidates:
        table.add_row(shown(name), "yes" if name == made.winner else "")
    console.print(table)
    console.print(_behind(made.design.shortfall()))
    console.print(str(made.certificate))
    print_written(console, out)
