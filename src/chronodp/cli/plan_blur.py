"""``chronodp plan-blur``: what each way of blurring times costs an analysis, before any data is read."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from chronodp.cli.options import Json
from chronodp.cli.places import check_place
from chronodp.cli.terminal import print_json, terminal
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole
from chronodp.report import Line, Page, series_figure, watching, write_page

if TYPE_CHECKING:
    from chronodp.temporal import Online, Recommendation, UnitCosts

__all__ = ["parse_analysis", "plan_blur"]

_MOST = 200
_COLUMNS = ("ε", "mechanism", "private", "missing", "repeated", "empty", "delay", "cost", "order proven", "note")
_ANALYSES = (
    "relative, relative:M,N,E,D with four costs, counting:LENGTH,SHARE,OTHER or average:LENGTH,VARIANCE, such as "
    "relative:1,1,1,1, counting:1000,0.2,0.1 or average:24,4"
)


def plan_blur(
    block: Annotated[int, typer.Option(help="Periods of a block or window.")],
    epsilon: Annotated[str, typer.Option(help="Epsilon: `5`, or several such as `1,5,20`.")],
    analysis: Annotated[
        str,
        typer.Option(
            help="What values are for: `counting:1000,0.2,0.1` how often one occurs (length, its share, another's), "
            "`average:24,4` a moving average (length, variance), or `relative:1,1,1,1`: missing, repeated and empty "
            "values in delays of a whole block, and a period of delay."
        ),
    ] = "relative",
    page: Annotated[Path | None, typer.Option(help="Where to write a page with the plot, .html.")] = None,
    as_json: Json = False,
) -> None:
    """Show what each mechanism that blurs times costs, cheapest first. Free: no data is read.

    Missing, repeated and empty values and delays are expected per value; the cost weighs them by the analysis. Only
    block shuffle keeps the order of values private; for the others `order proven` is how often, at least, a release
    proves which of two neighbouring values came first.

    **Examples**

    `chronodp plan-blur --block 20 --epsilon 5`

    `chronodp plan-blur --block 20 --epsilon 1,2,5,10,20 --analysis average:24,4 --page costs.html`
    """
    from chronodp.temporal import LONGEST, recommend

    check_place("page", page, ".html")
    check_whole("block", block, least=3, most=LONGEST)
    wanted = _epsilons(epsilon)
    costs = parse_analysis(analysis, block)
    with watching("Comparing mechanisms") as tell:
        rows: list[dict[str, Any]] = []
        for number, one in enumerate(wanted):
            rows += _rows(one, recommend(block, one, unit_costs=costs))
            tell((number + 1) / len(wanted))
    title = f"Blurred times: windows of {block} periods, for {analysis}"
    if page is not None:
        _write_plot(page, title, wanted, rows)
    if as_json:
        print_json({"unit_costs": asdict(costs), "mechanisms": rows})
        return
    _show(title, rows)
    if page is not None:
        terminal(soft_wrap=True).print(f"Written: {page}")


def parse_analysis(text: str, window: int) -> UnitCosts:
    """Return what one missing, repeated, empty or late value costs the analysis that a text names."""
    from chronodp.temporal import UnitCosts, frequency_counting, moving_average

    kind, sign, detail = text.partition(":")
    try:
        numbers = [float(part) for part in detail.split(",")] if sign else []
    except ValueError:
        numbers = []
    match kind, numbers:
        case "relative", []:
            if not sign:
                return UnitCosts.relative(window)
        case "relative", [missing, repeated, empty, delay]:
            return UnitCosts.relative(window, missing=missing, repeated=repeated, empty=empty, delay=delay)
        case "counting", [length, share, other] if length.is_integer():
            return frequency_counting(window=window, length=int(length), share=share, other_share=other)
        case "average", [length, variance] if length.is_integer():
            return moving_average(window=window, length=int(length), variance=variance)
    raise InvalidArgument("analysis", text, _ANALYSES)


def _epsilons(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or len(found) > _MOST:
        raise InvalidArgument("epsilon", text, f"a number such as 5, or at most {_MOST} such as 1,5,20")
    return sorted(set(found))


def _rows(epsilon: float, made: Recommendation) -> list[dict[str, Any]]:
    return [
        {
            "epsilon": epsilon,
            "mechanism": _name(one.mechanism),
            "detail": _detail(one.mechanism),
            "private": one.private,
            **asdict(one.damage),
            "cost": one.cost,
            "order_proven": _order_proven(one.mechanism),
            "cheapest": place == 0,
            "papers_choice": one == made.papers,
        }
        for place, one in enumerate(made.candidates)
    ]


def _name(mechanism: Online) -> str:
    """Return the mechanism as `chronodp blur-times` calls it."""
    from chronodp.temporal import Backward, BlockShuffle, Forward, Threshold

    names = {BlockShuffle: "block-shuffle", Backward: "backward", Forward: "forward", Threshold: "threshold"}
    return names[type(mechanism)]


def _detail(mechanism: Online) -> str:
    """Return what a threshold mechanism chose; nothing for the others."""
    from chronodp.temporal import Threshold

    if not isinstance(mechanism, Threshold):
        return ""
    return f"{'extended, ' if mechanism.choice.extended else ''}{mechanism.choice.threshold} empty"


def _order_proven(mechanism: Online) -> float:
    """Return how often, at least, a release proves which of two neighbouring values came first."""
    from chronodp.temporal import BlockShuffle

    return 0.0 if isinstance(mechanism, BlockShuffle) else mechanism.statement().ruled_out[0][1]


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    name = f"{row['mechanism']} ({row['detail']})" if row["detail"] else row["mechanism"]
    marks = [words for key, words in (("cheapest", "cheapest"), ("papers_choice", "the paper's")) if row[key]]
    numbers = [f"{row[key]:.4g}" for key in ("missing", "repeated", "empty", "delay", "cost")]
    order = "never" if row["private"] else f"{row['order_proven']:.1%}"
    return (f"{row['epsilon']:g}", name, "yes" if row["private"] else "no", *numbers, order, ", ".join(marks))


def _show(title: str, rows: list[dict[str, Any]]) -> None:
    console = terminal()
    console.print(title, style="bold")
    table = Table(*_COLUMNS)
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)
    console.print(
        "Private: which of two values of a block came first is ε-differentially private. The others promise a marginal "
        "dispatch budget and no differential privacy. The delay of block shuffle is the wait for the end of its block."
    )


def _write_plot(path: Path, title: str, epsilons: list[float], rows: list[dict[str, Any]]) -> None:
    lines = []
    for name in dict.fromkeys(row["mechanism"] for row in rows):
        costs = [row["cost"] for row in rows if row["mechanism"] == name]
        lines.append(Line(name, epsilons, costs, costs, costs))
    figure = series_figure(lines, title="Cost by epsilon", value_name="cost a value")
    figure.update_xaxes(title_text="ε")
    page = Page(
        title=title,
        promise="What missing, repeated, empty and late values are expected to cost, a value. Only block shuffle is "
        "differentially private for the order of values; the others promise a marginal dispatch budget.",
        facts=(("Delay of block shuffle", "the wait for the end of its block"),),
        certificate="No data was read and nothing was released: this page follows from the parameters.",
        columns=_COLUMNS,
        rows=[_cells(row) for row in rows],
        figure=figure,
        kind="Computed before anything is released",
        caption="Each line shows what one mechanism costs, by epsilon.",
        details="How it was made",
    )
    write_page(page, path)
