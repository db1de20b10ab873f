"""``chronodp watch``: numbers in, alarms out; what that would cost, and a single number against a threshold."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chronodp.cli.options import Address, Analyst, JsonLines, Keys, Units, existing_ledger, refuse_beside
from chronodp.cli.places import check_place
from chronodp.cli.stream import number_in
from chronodp.cli.terminal import print_json, print_written, terminal
from chronodp.errors import InvalidArgument, UnknownStream
from chronodp.privacy import parse_record_unit

if TYPE_CHECKING:
    from chronodp.alerts import Alert, Comparator, Noise
    from chronodp.ledger import Ledger

__all__ = ["parse_noise", "watch"]

_SAVE = 10_000  # quiet steps after which their number is written down
_SURE = 0.95
_FALSE_ALARMS, _POWER = 0.01, 0.9


def watch(
    name: Annotated[
        str | None, typer.Argument(help="The alert. If it exists it goes on, and only --ledger is needed.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="Whose budget pays.")] = None,
    above: Annotated[float | None, typer.Option(help="Fire at or above this.")] = None,
    below: Annotated[float | None, typer.Option(help="Fire at or below this.")] = None,
    change: Annotated[float | None, typer.Option(help="The most one unit changes any value.")] = None,
    unit: Units = "user",
    max_alerts: Annotated[int | None, typer.Option(help="How many alerts are paid for; 1 if not given.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Epsilon of all alerts together.")] = None,
    value_epsilon: Annotated[
        float | None, typer.Option(help="Epsilon of a noisy value with each alert; without it no value is released.")
    ] = None,
    monotone: Annotated[
        bool, typer.Option("--monotone", help="One unit moves all values in one direction: counts that nobody lowers.")
    ] = False,
    noise: Annotated[str, typer.Option(help="`exponential`, or the textbook's `laplace`.")] = "exponential",
    column: Annotated[
        int | None, typer.Option(min=1, help="Which field of a CSV line is the value; the first if not given.")
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="The input starts with the first step again: known steps are skipped.")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Show the least epsilon for --quiet and --loud, and stop: nothing is spent.")
    ] = False,
    quiet: Annotated[float | None, typer.Option(help="With --plan: what values are when nothing is wrong.")] = None,
    loud: Annotated[float | None, typer.Option(help="With --plan: values at which an alert should fire.")] = None,
    false_alarms: Annotated[
        float | None,
        typer.Option(
            help=f"With --plan: probability of an alert in --steps quiet steps; {_FALSE_ALARMS} if not given."
        ),
    ] = None,
    power: Annotated[
        float | None,
        typer.Option(help=f"With --plan: probability of an alert in --within loud steps; {_POWER} if not given."),
    ] = None,
    steps: Annotated[int | None, typer.Option(help="With --plan: over how many steps; 1 if not given.")] = None,
    within: Annotated[int | None, typer.Option(help="With --plan: within how many steps; 1 if not given.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Look at one number, once; with --plan, show how sharp that would be.")
    ] = False,
    request: Annotated[str | None, typer.Option(help="With --check: an id of your choice, once for each.")] = None,
    analyst: Analyst = "",
    out: Annotated[
        Path | None, typer.Option(help="With --check: where to write the answer with its certificate, .json.")
    ] = None,
    as_json: JsonLines = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Read one value a line from standard input and write a line for each alert, which is on disk before it is shown.

    Quiet steps cost nothing and write nothing. After the last alert the command ends. With `--check` it reads one
    number and says whether it is beyond the threshold; every check is paid for, whether it fires or not, and the same
    request again returns the same answer.

    **Examples**

    `chronodp watch --plan --quiet 100 --loud 150 --change 1 --max-alerts 5 --false-alarms 0.01 --power 0.6`

    `tail -f load.csv | chronodp watch peak --dataset meters --above 500 --change 5 --max-alerts 5 --epsilon 1`

    Run it again after a crash: `tail -f load.csv | chronodp watch peak`

    `echo 900 | chronodp watch --check --above 500 --change 5 --epsilon 0.5 --dataset meters --request 2026-01-31`
    """
    planning = {"quiet": quiet, "loud": loud, "false_alarms": false_alarms}
    planning |= {"power": power, "steps": steps, "within": within}
    single = {"request": request, "analyst": analyst or None, "out": out}
    alerting = {"max_alerts": max_alerts, "value_epsilon": value_epsilon, "monotone": monotone}
    watching = {"name": name, "column": column, "replay": replay}
    kind = {"unit": parse_record_unit(unit), "noise": parse_noise(noise)}
    threshold = {"above": above, "below": below, "change": change}
    if check:
        refuse_beside("beside --check", **watching, **alerting, **planning)
        check_place("out", out, ".json")
        once = _single(threshold, epsilon, kind)
        if plan:
            refuse_beside("beside --plan", dataset=dataset, **single)
            _show_sharpness(once, as_json=as_json)
            return
        for option, value in {"dataset": dataset, "request": request}.items():
            if value is None:
                raise InvalidArgument(option, None, "given: a budget pays for every check; or --plan, which is free")
        with existing_ledger(ledger, keys=keys) as opened:
            _check(once, opened, (dataset or "", request or "", analyst), out, as_json=as_json)
        return
    refuse_beside("without --check", **single)
    if plan:
        refuse_beside("beside --plan", dataset=dataset, epsilon=epsilon, **watching)
        _plan(threshold, planning, {**alerting, **kind}, as_json=as_json)
        return
    refuse_beside("without --plan", **planning)
    from chronodp.ledger import Ledger

    if name is None:
        raise InvalidArgument("name", None, "the alert's; or --plan, or --check, which have none")
    with Ledger(ledger, keys=keys) as store:
        alarm = _open(store, name, {"dataset": dataset, "epsilon": epsilon, **threshold, **alerting, **kind})
        _follow(alarm, column=column or 1, replay=replay, as_json=as_json)


def parse_noise(text: str) -> Noise:
    """Return the noise of that name."""
    from chronodp.alerts import Exponential, Laplace

    match text:
        case "exponential":
            return Exponential()
        case "laplace":
            return Laplace()
    raise InvalidArgument("noise", text, "exponential or laplace")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _plan(threshold: dict[str, Any], planning: dict[str, Any], design: dict[str, Any], *, as_json: bool) -> None:
    """Show the alert with the least epsilon whose false alarms are rare and whose power is high."""
    from chronodp.alerts import plan_alert

    for option in ("quiet", "loud"):
        if planning[option] is None:
            raise InvalidArgument(option, None, "given beside --plan")
    if threshold["change"] is None:
        raise InvalidArgument("change", None, "given: the most one unit changes any value")
    fires, other = ("above", "below") if planning["loud"] > planning["quiet"] else ("below", "above")
    if threshold[other] is not None:
        raise InvalidArgument(other, threshold[other], f"left out: loud values lie {fires} quiet ones")
    defaults = {"false_alarms": _FALSE_ALARMS, "power": _POWER, "max_alerts": 1}
    try:
        plan = plan_alert(
            threshold=threshold[fires], change=threshold["change"], **defaults | _given(planning | design)
        )
    except InvalidArgument as error:
        raise error.renamed(fires if error.name == "threshold" else error.name) from None
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


def _open(store: Ledger, name: str, options: dict[str, Any]) -> Alert:
    """Return the alert of that name as it was left, or a new one."""
    from chronodp.alerts import Alert

    try:
        return Alert.resume(store, name)
    except UnknownStream:
        for option in ("dataset", "change", "epsilon"):
            if options[option] is None:
                raise InvalidArgument(option, None, f"given: there is no alert {name!r} to go on with") from None
        return Alert(**{"max_alerts": 1} | _given(options), ledger=store, name=name)


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


def _single(threshold: dict[str, Any], epsilon: float | None, kind: dict[str, Any]) -> Comparator:
    from chronodp.alerts import Comparator

    for option, value in {"change": threshold["change"], "epsilon": epsilon}.items():
        if value is None:
            raise InvalidArgument(option, None, "given beside --check")
    return Comparator(**threshold, **kind, epsilon=epsilon or 0.0)


def _check(once: Comparator, ledger: Ledger, payer: tuple[str, str, str], out: Path | None, *, as_json: bool) -> None:
    """Compare the one number on standard input with the threshold, pay for it, and show the answer."""
    from chronodp.ledger import save_release

    dataset, request, analyst = payer
    answer = once.check(_number(), ledger=ledger, dataset=dataset, request=request, analyst=analyst)
    stored = ledger.stored.release_of(dataset, request)
    if stored is not None and out is not None:
        save_release(out, stored.written, stored.signed)
    if as_json:
        link = {} if stored is None else {"release": stored.text, "link": stored.signed.to_dict()}
        print_json({"fired": answer.value, "sure_from": _near(once), **link})
        return
    console = terminal()
    said = "Fires: the number seems to lie" if answer.value else "Quiet: the number does not seem to lie"
    console.print(f"{said} {_side(once)}.", style="bold")
    console.print(_sharpness(once))
    console.print(str(answer.certificate))
    print_written(console, out)


def _show_sharpness(once: Comparator, *, as_json: bool) -> None:
    scale = once.probabilities.query_scale
    if as_json:
        print_json({"epsilon": once.epsilon, "scale": scale, "sure_from": _near(once)})
        return
    console = terminal()
    console.print(
        f"Fires {_side(once)}, with {once.noise} of scale {scale:.4g} on both sides, at ε = {once.epsilon:g}."
    )
    console.print(_sharpness(once))


def _sharpness(once: Comparator) -> str:
    return f"An answer is right {_SURE:.0%} of the time for a number {_near(once):.4g} or more from the threshold."


def _near(once: Comparator) -> float:
    """Return how far from the threshold answers are as sure as is said: both noises are alike, so on either side."""
    from chronodp.alerts import AlertProbabilities

    expected = once.probabilities
    one = AlertProbabilities(expected.noise, expected.query_scale, expected.threshold_scale)
    return one.gap_for(1 - _SURE)


def _side(once: Comparator) -> str:
    return f"at or above {once.above:g}" if once.below is None else f"at or below {once.below:g}"


def _number() -> float:
    """Return the one number on standard input; as an argument a history of commands would keep it."""
    lines = [line.strip() for line in sys.stdin if line.strip()]
    if len(lines) != 1:
        raise InvalidArgument("number", lines, "one number in one line of standard input", private=True)
    return number_in([lines[0]], 1)
