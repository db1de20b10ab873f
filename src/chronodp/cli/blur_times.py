"""``chronodp blur-times``: values stay exact, their times are blurred; and what that costs, before data are read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from chronodp.cli.options import Address, Analyst, Json, Keys, refuse_beside
from chronodp.cli.places import check_place
from chronodp.cli.terminal import print_json, print_written, table_of, terminal
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole
from chronodp.report import watching

if TYPE_CHECKING:
    from chronodp.temporal import BlurredTable, Mechanism, Online, Recommendation, UnitCosts

__all__ = ["blur_times", "parse_analysis", "parse_mechanism"]

_ROWS = 12
_COLUMNS = ("ε", "mechanism", "private", "missing", "repeated", "empty", "delay", "cost", "order proven", "note")
_ANALYSES = (
    "relative, relative:M,N,E,D with four costs, counting:LENGTH,SHARE,OTHER or average:LENGTH,VARIANCE, such as "
    "relative:1,1,1,1, counting:1000,0.2,0.1 or average:24,4"
)


def blur_times(
    data: Annotated[str | None, typer.Argument(help="A Parquet or CSV file, or a glob in quotes.")] = None,
    *,
    block: Annotated[int, typer.Option(help="Periods of a block or window.")],
    epsilon: Annotated[
        list[float], typer.Option(help="Epsilon of the guarantee; 0 shuffles evenly. With --plan it may be repeated.")
    ],
    time: Annotated[str | None, typer.Option(help="The column with the time.")] = None,
    value: Annotated[
        list[str] | None, typer.Option(help="A column to move. May be repeated: they move together.")
    ] = None,
    user: Annotated[str | None, typer.Option(help="The column with the person; one person if not given.")] = None,
    mechanism: Annotated[
        str,
        typer.Option(
            help="`block-shuffle`, `noisy-sort`; or `backward`, `forward`, `threshold` of the paper, "
            "`threshold-printed` to start as it prints."
        ),
    ] = "block-shuffle",
    resample: Annotated[
        str | None, typer.Option(help="First put times on an even grid: `15min`, `1h`, `1D`; the last value stays.")
    ] = None,
    start: Annotated[str | None, typer.Option(help="The first time to release: on the border of a block.")] = None,
    end: Annotated[str | None, typer.Option(help="The first time no longer to release: likewise.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the table: .csv or .parquet.")] = None,
    page: Annotated[Path | None, typer.Option(help="Where to write the owner's page, before and after: .html.")] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Show what each mechanism costs, and stop: no data is read or paid for.")
    ] = False,
    analysis: Annotated[
        str | None,
        typer.Option(
            help="With --plan, what values are for: `counting:1000,0.2,0.1` how often one occurs (length, its share, "
            "another's), `average:24,4` a moving average (length, variance), or `relative:1,1,1,1`: missing, repeated "
            "and empty values in delays of a whole block, and a period of delay."
        ),
    ] = None,
    as_json: Json = False,
    dataset: Annotated[str | None, typer.Option(help="Whose budget pays.")] = None,
    request: Annotated[str | None, typer.Option(help="An id of your choice, once for each release.")] = None,
    analyst: Analyst = "",
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Blur when values occurred; the values themselves never change.

    `block-shuffle` and `noisy-sort` are differentially private for the order of values and are paid from a budget with
    the unit `swap:BLOCK`. The paper's mechanisms are not, and pay nothing.

    Blocks are counted from 1970-01-01 UTC. Costs of two releases add up only where each block is released whole and
    alike: give `--start` and `--end`. Without them a release stands alone, and its values must not be released again.

    With `--plan`, missing, repeated and empty values and delays are expected per value; the cost weighs them by the
    analysis, the cheapest first.

    **Examples**

    `chronodp blur-times --plan --block 20 --epsilon 1 --epsilon 5 --analysis average:24,4`

    `chronodp budget open watch --unit swap:20 --epsilon 5`

    `chronodp blur-times pulse.csv --time at --user who --value pulse --block 20 --epsilon 5 --dataset watch
    --request january --out blurred.csv --page owner.html`
    """
    from chronodp import temporal
    from chronodp.ledger import Ledger

    if plan:
        reading = {"data": data, "time": time, "value": value or None, "user": user, "resample": resample}
        paying = {"dataset": dataset, "request": request}
        refuse_beside("beside --plan", **reading, **paying, start=start, end=end, out=out, page=page)
        _plan(block, epsilon, analysis or "relative", as_json=as_json)
        return
    refuse_beside("without --plan", analysis=analysis)
    if data is None or time is None or not value:
        option = next(name for name, given in {"data": data, "time": time, "value": value}.items() if not given)
        raise InvalidArgument(option, None, "given; or --plan, which reads nothing")
    if len(epsilon) > 1:
        raise InvalidArgument("epsilon", epsilon, "given once without --plan")
    chosen = parse_mechanism(mechanism, block, epsilon[0])
    check_place("out", out, ".csv", ".parquet")
    check_place("page", page, ".html")
    private = isinstance(chosen, temporal.BlockShuffle | temporal.NoisySort)
    if private and (dataset is None or request is None):
        raise InvalidArgument("dataset", dataset, "given with --dataset, and an id with --request: a budget pays")
    if not private and (dataset is not None or request is not None):
        raise InvalidArgument("dataset", dataset, f"left out: {mechanism} promises nothing that can be paid for")
    with watching("Blurring times") as tell:
        table: object = data
        if resample is not None:
            table = temporal.resample(data, time=time, user=user, values=value, every=resample)
        tell(0.3)
        if isinstance(chosen, temporal.BlockShuffle | temporal.NoisySort):
            with Ledger(ledger, keys=keys) as opened:
                made = temporal.release_times(
                    table,
                    chosen,
                    time=time,
                    user=user,
                    values=value,
                    ledger=opened,
                    dataset=dataset or "",
                    request=request or "",
                    start=start,
                    end=end,
                    analyst=analyst,
                )
        else:
            made = temporal.blur_times(table, chosen, time=time, user=user, values=value, start=start, end=end)
        tell(0.9)
        if out is not None:
            made.write(out)
        if page is not None:
            temporal.report_times(made, page)
    _show(made, out, page, as_json=as_json)


def parse_mechanism(name: str, block: int, epsilon: float) -> Mechanism:
    """Return the mechanism of that name."""
    from chronodp.temporal import Backward, BlockShuffle, Forward, NoisySort, Threshold

    match name:
        case "block-shuffle":
            return BlockShuffle(block, epsilon)
        case "noisy-sort":
            return NoisySort(block - 1, epsilon)
        case "backward":
            return Backward(block, epsilon)
        case "forward":
            return Forward(block, epsilon)
        case "threshold":
            return Threshold(block, epsilon)
        case "threshold-printed":
            return Threshold(block, epsilon, start="printed")
    raise InvalidArgument(
        "mechanism", name, "block-shuffle, noisy-sort, backward, forward, threshold or threshold-printed"
    )


def _show(made: BlurredTable, out: Path | None, page: Path | None, *, as_json: bool) -> None:
    if as_json:
        cells = made.frame.astype(object)
        content: dict[str, object] = {
            "rows": cells.where(cells.notna(), None).to_dict("records"),
            "promise": str(made.promise),
        }
        if made.signed is not None:
            content["link"] = made.signed.to_dict()
        print_json(json.loads(json.dumps(content, default=str)))  # floats as they are, to the last digit
        return
    console = terminal()
    top = made.frame.head(_ROWS)
    console.print(table_of(top.astype(object).where(top.notna(), "").astype(str)))  # values as they are
    if len(made.frame) > _ROWS:
        console.print(f"{len(made.frame) - _ROWS:,} more rows; --out writes them all.")
    console.print(str(made.promise))
    print_written(console, out, page)


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


def _plan(block: int, epsilons: list[float], analysis: str, *, as_json: bool) -> None:
    """Show what each mechanism is expected to cost, without data."""
    from chronodp.temporal import LONGEST, recommend

    check_whole("block", block, least=3, most=LONGEST)
    costs = parse_analysis(analysis, block)
    rows: list[dict[str, Any]] = []
    with watching("Comparing mechanisms") as tell:
        for number, one in enumerate(wanted := sorted(set(epsilons))):
            rows += _costs(one, recommend(block, one, unit_costs=costs))
            tell((number + 1) / len(wanted))
    if as_json:
        print_json({"unit_costs": asdict(costs), "mechanisms": rows})
        return
    console = terminal()
    console.print(f"Blurred times: windows of {block} periods, for {analysis}", style="bold")
    table = Table(*_COLUMNS)
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)
    console.print(
        "Private: which of two values of a block came first is ε-differentially private. The others promise a marginal "
        "dispatch budget and no differential privacy: `order proven` is how often, at least, a release proves which of "
        "two neighbouring values came first. The delay of block shuffle is the wait for the end of its block."
    )


def _costs(epsilon: float, made: Recommendation) -> list[dict[str, Any]]:
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
    """Return what --mechanism calls it."""
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
