"""``chronodp check``: whether one number lies beyond a threshold, asked once and told with noise."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chronodp.cli.options import Address, Analyst, Json, Keys, Units, existing_ledger
from chronodp.cli.places import check_place
from chronodp.cli.stream import number_in
from chronodp.cli.terminal import print_json, terminal
from chronodp.cli.watch import Noises, parse_noise
from chronodp.errors import InvalidArgument
from chronodp.privacy import parse_record_unit

if TYPE_CHECKING:
    from chronodp.alerts import Comparator

__all__ = ["check"]

_SURE = 0.95


def check(
    change: Annotated[float, typer.Option(help="The most one unit changes the number.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon of this check.")],
    above: Annotated[float | None, typer.Option(help="Fire at or above this.")] = None,
    below: Annotated[float | None, typer.Option(help="Fire at or below this.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Whose budget pays.")] = None,
    request: Annotated[str | None, typer.Option(help="An id of your choice, once for each check.")] = None,
    unit: Units = "user",
    noise: Noises = "exponential",
    plan: Annotated[
        bool, typer.Option("--plan", help="Show how sharp the answer would be, and stop: nothing is read or spent.")
    ] = False,
    analyst: Analyst = "",
    out: Annotated[Path | None, typer.Option(help="Where to write the answer with its certificate, .json.")] = None,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Read one number from standard input and say, with noise, whether it is beyond a threshold.

    Every check is paid for, whether it fires or not; the same request again returns the same answer. The number is no
    argument, so that no history of commands keeps it. Where many numbers come and few fire, `chronodp watch` costs
    less.

    **Examples**

    `chronodp check --above 500 --change 5 --epsilon 0.5 --plan`

    `echo 900 | chronodp check --above 500 --change 5 --epsilon 0.5 --dataset meters --request 2026-01-31`
    """
    from chronodp.alerts import Comparator
    from chronodp.ledger import save_release

    check_place("out", out, ".json")
    once = Comparator(
        above=above,
        below=below,
        change=change,
        unit=parse_record_unit(unit),
        epsilon=epsilon,
        noise=parse_noise(noise),
    )
    near = _near(once)
    sharp = f"An answer is right {_SURE:.0%} of the time for a number {near:.4g} or more from the threshold."
    if plan:
        _show_plan(once, near, sharp, as_json=as_json)
        return
    for name, value in {"dataset": dataset, "request": request}.items():
        if value is None:
            raise InvalidArgument(name, None, "given: a budget pays for every check; or --plan, which is free")
    with existing_ledger(ledger, keys=keys) as opened:
        answer = once.check(_number(), ledger=opened, dataset=dataset or "", request=request or "", analyst=analyst)
        stored = opened.stored.release_of(dataset or "", request or "")
    if stored is not None and out is not None:
        save_release(out, stored.written, stored.signed)
    if as_json:
        link = {} if stored is None else {"release": stored.text, "link": stored.signed.to_dict()}
        print_json({"fired": answer.value, "sure_from": near, **link})
        return
    console = terminal()
    told = "Fires: the number seems to lie" if answer.value else "Quiet: the number does not seem to lie"
    console.print(f"{told} {_side(once)}.", style="bold")
    console.print(sharp)
    console.print(str(answer.certificate))
    if out is not None:
        console.print(f"Written: {out}")


def _show_plan(once: Comparator, near: float, sharp: str, *, as_json: bool) -> None:
    scale = once.probabilities.query_scale
    if as_json:
        print_json({"epsilon": once.epsilon, "scale": scale, "sure_from": near})
        return
    console = terminal()
    console.print(
        f"Fires {_side(once)}, with {once.noise} of scale {scale:.4g} on both sides, at ε = {once.epsilon:g}."
    )
    console.print(sharp)


def _near(once: Comparator) -> float:
    """Return how far from the threshold answers are as sure as is said: both noises are alike, so on either side."""
    from chronodp.alerts import AlertProbabilities

    expected = once.probabilities
    one = AlertProbabilities(expected.noise, expected.query_scale, expected.threshold_scale)
    return one.gap_for(1 - _SURE)


def _side(once: Comparator) -> str:
    return f"at or above {once.above:g}" if once.below is None else f"at or below {once.below:g}"


def _number() -> float:
    """Return the one number on standard input."""
    lines = [line.strip() for line in sys.stdin if line.strip()]
    if len(lines) != 1:
        raise InvalidArgument("number", lines, "one number in one line of standard input", private=True)
    return number_in([lines[0]], 1)
