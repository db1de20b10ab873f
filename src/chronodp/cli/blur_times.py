"""``chronodp blur-times``: values stay exact, their times are blurred."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chronodp.cli.options import Address, Analyst, Data, Json, Keys, Time
from chronodp.cli.places import check_place
from chronodp.cli.terminal import print_json, table_of, terminal
from chronodp.errors import InvalidArgument
from chronodp.report import watching

if TYPE_CHECKING:
    from chronodp.temporal import BlurredTable, Mechanism

__all__ = ["blur_times", "parse_mechanism"]

_ROWS = 12


def blur_times(
    data: Data,
    time: Time,
    value: Annotated[list[str], typer.Option(help="A column to move. May be repeated: they move together.")],
    block: Annotated[int, typer.Option(help="Periods of a block or window.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon of the guarantee; 0 shuffles evenly.")],
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

    **Examples**

    `chronodp budget open watch --unit swap:20 --epsilon 5`

    `chronodp blur-times pulse.csv --time at --user who --value pulse --block 20 --epsilon 5 --dataset watch
    --request january --out blurred.csv --page owner.html`
    """
    from chronodp import temporal
    from chronodp.ledger import Ledger

    chosen = parse_mechanism(mechanism, block, epsilon)
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
    for path in (out, page):
        if path is not None:
            console.print(f"Written: {path}")
