"""``chronodp choose-order``: the order of a model, voted for by people's own series."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from chronodp.cli.options import Address, Analyst, Clocks, Data, Json, Keys, Payer, Time
from chronodp.cli.places import check_place
from chronodp.cli.terminal import print_json, terminal
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, parse_unit

if TYPE_CHECKING:
    from chronodp.selection import Choice, LeastSquares, MaximumLikelihood, Order
    from chronodp.selection.arima import Pieces

__all__ = ["choose_order"]

_MANY = 20_000  # fits by least squares that one process does in about a minute


def choose_order(
    data: Data,
    time: Time,
    value: Annotated[str, typer.Option(help="The column to model.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon of the choice.")],
    dataset: Payer,
    request: Annotated[str, typer.Option(help="An id of your choice, once for each choice.")],
    orders: Annotated[list[str] | None, typer.Option(help="`p,d,q`; several with spaces or repeated.")] = None,
    up_to: Annotated[str | None, typer.Option(help="Every order up to `p,d,q` instead.")] = None,
    user: Annotated[str | None, typer.Option(help="The column with the person: each votes by their series.")] = None,
    block: Annotated[
        int | None, typer.Option(help="Without people: one series on a public grid, whose blocks of so many vote.")
    ] = None,
    every: Annotated[str | None, typer.Option(help="With --block: length of a period, such as `1h`.")] = None,
    start: Annotated[str | None, typer.Option(help="With --block: when the first period begins.")] = None,
    end: Annotated[str | None, typer.Option(help="With --block: when the last period ends.")] = None,
    timezone: Clocks = "UTC",
    unit: Annotated[
        str | None, typer.Option(help="`user` (default with people), `event` (with blocks), `window:24`; `/replace`.")
    ] = None,
    regret: Annotated[
        float | None, typer.Option(help="Clip regrets here instead of votes; needs --largest-error.")
    ] = None,
    largest_error: Annotated[
        float | None, typer.Option(help="Larger errors count as this, in the data's unit.")
    ] = None,
    holdout: Annotated[int, typer.Option(help="How many last values of a series are predicted.")] = 20,
    longest: Annotated[int, typer.Option(help="How many last values of a series are used.")] = 1000,
    likelihood: Annotated[
        int | None, typer.Option(help="Fit by maximum likelihood in so many steps instead of least squares. Slow.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes that fit; by default as many as pay off.")] = None,
    analyst: Analyst = "",
    out: Annotated[Path | None, typer.Option(help="Where to write the choice with its certificate, .json.")] = None,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Choose the order of an ARIMA model privately: each person's series is fitted by itself and votes.

    Only the order is private and paid for. Coefficients fitted to the same data are another release.

    **Examples**

    `chronodp choose-order loads.csv --time read_at --user meter_id --value kwh --orders "1,0,0 2,0,0 1,0,1"
    --epsilon 1 --dataset meters --request order-2026`

    `chronodp choose-order hall.csv --time hour --value visitors --every 1h --start 2025-01-01 --end 2026-01-01
    --block 336 --unit window:24 --up-to 2,1,1 --epsilon 1 --dataset hall --request order-2026`
    """
    from chronodp.engines import find_source, read_panel, read_series
    from chronodp.ledger import Ledger
    from chronodp.selection import Blocks, ClippedRegret, LeastSquares, MaximumLikelihood, Panel, choose_order as choose

    check_place("out", out, ".json")
    listed = _orders(orders or [], up_to)
    protected = parse_unit(unit or ("event" if user is None else "user"))
    fit = LeastSquares() if likelihood is None else MaximumLikelihood(likelihood)
    if (user is None) == (block is None):
        raise InvalidArgument("block", block, "given where there is no --user, and only there")
    source = find_source(data)
    pieces: Pieces
    if user is not None:
        pieces = Panel(read_panel(source, time=time, user=user, value=value, longest=longest))
    else:
        calendar = Calendar(every or "", start or "", end or "", timezone)
        protected = protected.on(calendar)
        pieces = Blocks(read_series(source, calendar, time=time, value=value), length=block or 0)
    with Ledger(ledger, keys=keys) as opened:
        made = choose(
            pieces,
            listed,
            epsilon=epsilon,
            unit=protected,
            scoring=None if regret is None else ClippedRegret(regret),
            fit=fit,
            holdout=holdout,
            longest=longest,
            largest_error=largest_error,
            workers=_workers(pieces, listed, fit) if workers is None else workers,
            ledger=opened,
            dataset=dataset,
            request=request,
            analyst=analyst,
        )
    if out is not None:
        made.save(out)
    if as_json:
        shown = {"winner": made.winner, "candidates": list(made.design.candidates), **made.to_dict()}
        print_json(shown)
        return
    _show(made, out)


def _orders(texts: list[str], up_to: str | None) -> tuple[Order, ...]:
    from chronodp.selection import Order, orders_up_to

    if (not texts) == (up_to is None):
        raise InvalidArgument("orders", " ".join(texts) or None, "given, or --up-to instead of it")
    if up_to is not None:
        most = Order.parse(up_to)
        return orders_up_to(most.autoregressive, most.differences, most.moving_average)
    return tuple(Order.parse(part) for text in texts for part in text.replace(";", " ").split())


def _workers(pieces: Pieces, orders: tuple[Order, ...], fit: LeastSquares | MaximumLikelihood) -> int:
    from chronodp.selection import MaximumLikelihood

    fits = len(pieces.series) * len(orders) * (100 if isinstance(fit, MaximumLikelihood) else 1)
    return (os.cpu_count() or 1) if fits > _MANY else 1


def _show(made: Choice, out: Path | None) -> None:
    console = terminal()
    table = Table("order", "chosen")
    for name in made.design.candidates:
        table.add_row(name, "yes" if name == made.winner else "")
    console.print(table)
    console.print(f"With probability 95 % at most {made.design.shortfall():.3g} votes behind the best.")
    console.print(str(made.certificate))
    if out is not None:
        console.print(f"Written: {out}")
