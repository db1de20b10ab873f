"""``chronodp watch``: numbers in, alarms out; ``chronodp plan-alert``: what it would cost."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from chronodp.cli.options import Address, Json, JsonLines, Keys, Units
from chronodp.cli.stream import number_in
from chronodp.cli.terminal import print_json
from chronodp.errors import InvalidArgument, UnknownStream
from chronodp.privacy import parse_record_unit

if TYPE_CHECKING:
    from chronodp.alerts import Alert, Noise

__all__ = ["parse_noise", "plan_alert", "watch"]

_SAVE = 10_000  # quiet steps after which their number is written down

Noises = Annotated[str, typer.Option(help="`exponential`, or the textbook's `laplace`.")]
Monotone = Annotated[
    bool, typer.Option("--monotone", help="One unit moves all values in one direction: counts that nobody lowers.")
]
ValuePrice = Annotated[float, typer.Option(help="Epsilon of a noisy value with each alert; 0 releases no value.")]


def watch(
    name: Annotated[str, typer.Argument(help="The alert. If it exists it goes on, and only --ledger is needed.")],
    dataset: Annotated[str | None, typer.Option(help="Whose budget pays.")] = None,
    above: Annotated[float | None, typer.Option(help="Fire at or above this.")] = None,
    below: Annotated[float | None, typer.Option(help="Fire at or below this.")] = None,
    change: Annotated[float | None, typer.Option(help="The most one unit changes any value.")] = None,
    unit: Units = "user",
    max_alerts: Annotated[int, typer.Option(help="How many alerts are paid for.")] = 1,
    epsilon: Annotated[float | None, typer.Option(help="Epsilon of all alerts together.")] = None,
    value_epsilon: ValuePrice = 0.0,
    monotone: Monotone = False,
    noise: Noises = "exponential",
    column: Annotated[int, typer.Option(min=1, help="Which field of a CSV line is the value, from 1.")] = 1,
    replay: Annotated[
        bool, typer.Option("--replay", help="The input starts with the first step again: known steps are skipped.")
    ] = False,
    as_json: JsonLines = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Read one value a line from standard input and write a line for each alert, which is on disk before it is shown.

    Quiet steps cost nothing and write nothing. After the last alert the command ends.

    **Example**

    `tail -f load.csv | chronodp watch peak --dataset meters --above 500 --change 5 --max-alerts 5 --epsilon 1`

    Run it again after a crash: `tail -f load.csv | chronodp watch peak`
    """
    from chronodp.alerts import Alert
    from chronodp.ledger import Ledger

    with Ledger(ledger, keys=keys) as store:
        try:
            alarm = Alert.resume(store, name)
        except UnknownStream:
            for option, value in {"dataset": dataset, "change": change, "epsilon": epsilon}.items():
                if value is None:
                    raise InvalidArgument(option, None, f"given: there is no alert {name!r} to go on with") from None
            alarm = Alert(
                above=above,
                below=below,
                change=change or 0.0,
                unit=parse_record_unit(unit),
                max_alerts=max_alerts,
                epsilon=epsilon or 0.0,
                value_epsilon=value_epsilon,
                monotone=monotone,
                noise=parse_noise(noise),
                ledger=store,
                dataset=dataset or "",
                name=name,
            )
        _follow(alarm, column=column, replay=replay, as_json=as_json)


def plan_alert(
    quiet: Annotated[float, typer.Option(help="What values are when nothing is wrong.")],
    loud: Annotated[float, typer.Option(help="Values at which an alert should fire.")],
    change: Annotated[float, typer.Option(help="The most one unit changes any value.")],
    threshold: Annotated[float | None, typer.Option(help="Where to fire; placed best if not given.")] = None,
    false_alarms: Annotated[float, typer.Option(help="Probability of an alert in --steps quiet steps.")] = 0.01,
    power: Annotated[float, typer.Option(help="Probability of an alert in --within loud steps.")] = 0.9,
    steps: Annotated[int, typer.Option(help="Over how many steps false alarms are counted.")] = 1,
    within: Annotated[int, typer.Option(help="Within how many steps an alert should fire.")] = 1,
    unit: Units = "user",
    max_alerts: Annotated[int, typer.Option(help="How many alerts are paid for.")] = 1,
    value_epsilon: ValuePrice = 0.0,
    monotone: Monotone = False,
    noise: Noises = "exponential",
    as_json: Json = False,
) -> None:
    """Show the least epsilon that keeps false alarms rare and power high. Free: no data is read.

    **Example**

    `chronodp plan-alert --quiet 100 --loud 150 --change 1 --max-alerts 5 --false-alarms 0.01 --power 0.6`
    """
    from chronodp.alerts import plan_alert as solve

    plan = solve(
        quiet=quiet,
        loud=loud,
        threshold=threshold,
        change=change,
        unit=parse_record_unit(unit),
        max_alerts=max_alerts,
        false_alarms=false_alarms,
        power=power,
        steps=steps,
        within=within,
        monotone=monotone,
        value_epsilon=value_epsilon,
        noise=parse_noise(noise),
    )
    if as_json:
        figures = {
            "epsilon": plan.epsilon,
            "cost": plan.design.cost.epsilon,
            "threshold": plan.threshold,
            "false_alarms": plan.false_alarms,
            "power": plan.power,
            "delay": plan.delay if math.isfinite(plan.delay) else None,
        }
        print_json(figures)
    else:
        print(plan)


def parse_noise(text: str) -> Noise:
    """Return the noise of that name."""
    from chronodp.alerts import Exponential, Laplace

    match text:
        case "exponential":
            return Exponential()
        case "laplace":
            return Laplace()
    raise InvalidArgument("noise", text, "exponential or laplace")


def _follow(alarm: Alert, *, column: int, replay: bool, as_json: bool) -> None:
    skip = alarm.period if replay else 0
    if not as_json:
        print("period,value", flush=True)
    try:
        for number, line in enumerate(filter(str.strip, sys.stdin)):
            if number < skip:
                continue
            answer = alarm.step(number_in(line.strip().split(","), column))
            if answer:
                shown = "" if answer.value is None else repr(answer.value)
                record = {"period": answer.period, "value": answer.value}
                print(json.dumps(record) if as_json else f"{answer.period},{shown}", flush=True)
            elif alarm.period % _SAVE == 0:
                alarm.save()
            if alarm.halted:
                break
    finally:
        if not alarm.halted:
            alarm.save()
    if alarm.halted:
        print(f"halted: all {alarm.alerts} alerts that were paid for are told", file=sys.stderr)
