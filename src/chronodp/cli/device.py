"""``chronodp device``: make a plan, begin a device's budget, send one report, make up a fleet."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from chronodp.cli.options import Json
from chronodp.cli.places import check_place
from chronodp.cli.terminal import print_json, terminal
from chronodp.errors import DeviceRefusal, InvalidArgument
from chronodp.privacy import check_whole
from chronodp.report import watching

if TYPE_CHECKING:
    from chronodp.local.longitudinal import Protocol

__all__ = ["device", "parse_protocol"]

device = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Plan, set up and send reports with local differential privacy.",
)

Plan = Annotated[Path, typer.Argument(help="The plan's file.")]
State = Annotated[Path, typer.Option(help="The device's state, which holds its budget.")]


@device.command()
def plan(
    name: Annotated[str, typer.Argument(help="What is asked.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon of one report.")],
    protocol: Annotated[
        str,
        typer.Option(
            help="`slots:90/3` (3 of 90 slots), `fresh:30`, `memoised:90/2` (90 slots, kept answers of ε 2), "
            "`window_budget:7`, `window_population:7` or `window_asked:7`."
        ),
    ],
    choices: Annotated[int | None, typer.Option(help="Values of the alphabet, numbered from 0.")] = None,
    clip: Annotated[tuple[float, float] | None, typer.Option(help="For numbers: lowest and highest value.")] = None,
    out: Annotated[Path, typer.Option(help="Where the plan goes.")] = Path("plan.json"),
    as_json: Json = False,
) -> None:
    """Choose the mechanism with the least variance, say what a device gives away, and write the plan. Free.

    **Examples**

    `chronodp device plan mode --choices 8 --epsilon 1 --protocol slots:90/3`

    `chronodp device plan minutes --clip 0 1440 --epsilon 0.5 --protocol memoised:90/1`
    """
    from chronodp.local import LocalPlan, Memoised, OneBit, RandomizedResponse, recommend

    check_place("out", out)
    found = recommend(epsilon=epsilon, choices=choices, clip=clip)
    when = parse_protocol(protocol)
    mechanism = found.mechanism
    if isinstance(when, Memoised):  # answers that are kept are those of randomised response
        mechanism = OneBit(epsilon, clip) if clip is not None else RandomizedResponse(epsilon, choices or 0)
    made = LocalPlan(name, mechanism, when)
    made.save(out)
    life = made.lifetime
    if as_json:
        numbers = {"report": life.report, "same_pattern": life.same_pattern, "any_pattern": life.any_pattern}
        told = {key: value if math.isfinite(value) else None for key, value in numbers.items()}
        shown = {"plan": str(out), "digest": made.digest, "mechanism": type(mechanism).__name__}
        print_json({**shown, "epsilon": told, "linkable": life.linkable})
        return
    console = terminal()
    table = Table("mechanism", "variance of one report", "bits")
    for one in found.alternatives:
        chosen = type(one.mechanism) is type(mechanism)
        table.add_row(
            type(one.mechanism).__name__, f"{one.variance:.4g}", f"{one.bits:,}", style="bold green" if chosen else None
        )
    console.print(table)
    console.print(str(made.certificate))
    console.print(f"\nOver time: {life}.")
    console.print(f"Written to {out}.")


@device.command()
def start(plan: Plan, state: State = Path("device.json")) -> None:
    """Begin a device's budget for a plan. Done once: a state that exists is never overwritten.

    **Example**

    `chronodp device start plan.json --state me.json`
    """
    from chronodp.local import Refused, start as begin_state

    try:
        begin_state(state, _read(plan))
    except Refused as refused:
        raise DeviceRefusal(str(refused)) from None
    terminal(errors=True).print(f"{state} has nothing spent yet.")


@device.command()
def send(
    plan: Plan,
    slot: Annotated[int, typer.Option(help="The number of the slot, from 0: a day since the start, say.")],
    state: State = Path("device.json"),
    out: Annotated[
        Path | None, typer.Option(help="Append the report to this file: a record if it ends in .bin.")
    ] = None,
) -> None:
    """Read the true value from standard input, and write one report for it: paid for and on disk before it is shown.

    The value is no argument, so that no history of commands keeps it. A device that is silent in a slot writes nothing.

    **Example**

    `echo 3 | chronodp device send plan.json --state me.json --slot 17`
    """
    from chronodp.local import Device, Refused, to_bytes, to_json

    check_place("out", out)
    compiled = _read(plan)
    try:
        report = Device(state, compiled).send(_value(sys.stdin.buffer.read()), slot=slot)
    except Refused as refused:
        raise DeviceRefusal(str(refused)) from None
    if report is None:
        terminal(errors=True).print("This device is silent in this slot.")
    elif out is None:
        print(to_json(report))
    elif out.suffix == ".bin":
        with out.open("ab") as records:
            records.write(to_bytes(report, compiled))
    else:
        with out.open("a", encoding="utf-8") as lines:
            lines.write(to_json(report) + "\n")


@device.command()
def fleet(
    folder: Annotated[Path, typer.Argument(help="Where plan and reports go.")],
    devices: Annotated[int, typer.Option(help="How many devices.")] = 100_000,
    days: Annotated[int, typer.Option(help="How many days, one slot each.")] = 90,
    reports: Annotated[int, typer.Option(help="In how many of them each device reports.")] = 3,
    epsilon: Annotated[float, typer.Option(help="Epsilon of one report.")] = 1.0,
) -> None:
    """Make up a fleet and all its reports, for trying out `chronodp collect`.

    **Example**

    `chronodp device fleet example && chronodp collect example/plan.json example/reports.bin`
    """
    from chronodp.cli.fleet import MODES, write_reports
    from chronodp.local import LocalPlan, Slots, recommend

    check_whole("devices", devices)
    mechanism = recommend(epsilon=epsilon, choices=len(MODES)).mechanism
    made = LocalPlan("how people came", mechanism, Slots(days, reports))
    folder.mkdir(parents=True, exist_ok=True)
    made.save(folder / "plan.json")
    with watching("Making up a fleet") as tell:
        count = write_reports(folder / "reports.bin", made, devices=devices, days=days, progress=tell)
    terminal().print(
        f"{devices:,} devices over {days} days sent {count:,} reports to {folder / 'reports.bin'}. "
        f"Each gives away ε = {made.lifetime.any_pattern:g} in all."
    )


def parse_protocol(text: str) -> Protocol:
    """Return the protocol that a text such as ``slots:90/3`` names."""
    from chronodp.local import Fresh, Memoised, Slots, WindowAsked, WindowBudget, WindowPopulation

    kind, _, detail = text.partition(":")
    first, _, second = detail.partition("/")
    try:
        match kind:
            case "fresh" if not second:
                return Fresh(int(first))
            case "slots":
                return Slots(int(first), int(second or 1))
            case "memoised":
                return Memoised(permanent_epsilon=float(second), horizon=int(first))
            case "window_budget" if not second:
                return WindowBudget(int(first))
            case "window_population" if not second:
                return WindowPopulation(int(first))
            case "window_asked" if not second:
                return WindowAsked(int(first))
    except InvalidArgument:
        raise
    except ValueError:
        pass
    known = "fresh:30, slots:90/3, memoised:90/2, window_budget:7, window_population:7 or window_asked:7"
    raise InvalidArgument("protocol", text, known)


def _read(path: Path) -> dict[str, Any]:
    from chronodp.local import LocalPlan

    return LocalPlan.load(path).compiled


def _value(content: bytes) -> object:
    try:
        value: object = json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidArgument("value", content, "a number on standard input", private=True) from None
    return value
