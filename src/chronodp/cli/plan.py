"""``chronodp plan``: price and error of a release, a workload or a stream, before anything is read or spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chronodp.cli.asking import Asked, asks
from chronodp.cli.options import Json, refuse_beside
from chronodp.cli.stream import parse_workload
from chronodp.cli.terminal import print_json, rows_of, table_of, terminal
from chronodp.cli.workload import is_workload, plan_workload
from chronodp.errors import InvalidArgument
from chronodp.privacy import Window, counted, parse_record_unit, to_document

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from numpy.typing import NDArray

    from chronodp.series import Plan

__all__ = ["plan"]


@asks
def plan(
    *,
    asked: Asked,
    expect: Annotated[
        float | None, typer.Option(help="About how large a number will be: the plan then says how far off that is.")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(help="Instead: the error of every noise shape for `running_total`, `each_period`, `rolling:7`, …"),
    ] = None,
    horizon: Annotated[int | None, typer.Option(help="With --compare: how many periods.")] = None,
    rehearse: Annotated[
        Path | None,
        typer.Option(
            help="Instead: the error of every mechanism for a unit such as `window:24`, tried on a CSV file that is "
            "public; every column of numbers is a series."
        ),
    ] = None,
    change: Annotated[
        float | None,
        typer.Option(help="With --compare or --rehearse: the most one unit changes one period; 1 if not given."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a release would protect, cost and get wrong. Free: no data is read.

    **Examples**

    `chronodp plan jan.parquet --time read_at --user meter_id --every 1h --start 2026-01-01 --end 2026-02-01
    --max-periods 24 --sum kwh --clip 0 5 --epsilon 1 --delta 1e-6`

    `chronodp plan --config load.toml --epsilon 0.5`; `chronodp diagnose --config load.toml` shows how the table is read

    `chronodp plan jan.parquet --time read_at --user meter_id --every 1h --start 2026-01-01 --end 2026-02-01
    --sum kwh --find clip --find max_periods --missing 0.05 --epsilon 1 --delta 1e-6` where nobody knows good bounds: a
    private step finds them, and a private figure tells what they took away

    `chronodp plan views.parquet --time at --user visitor --every 1D --start 2026-01-01 --end 2026-02-01
    --max-periods 10 --count --discover page --max-keys 10 --max-groups 3 --epsilon 1 --delta 1e-6` where nobody
    declared the pages: those that enough people hold are found, and the plan says how many that is. The budget needs a
    reserve: `chronodp budget open web --epsilon 1 --delta 1e-6 --reserve 4e-7`

    `chronodp plan workload.toml` for several queries with one price: what they share stands at the top of the file, and
    each has a table such as `[queries.peak]` with its options, or with `of = "load"` and `peak = "1D"`.

    `chronodp plan --compare running_total --horizon 8760 --unit event --epsilon 1 --delta 1e-6`

    `chronodp plan --rehearse published-2025.csv --unit window:24 --epsilon 1 --delta 1e-6`
    """
    if compare is not None or rehearse is not None:
        _plan_stream(asked, compare, horizon, rehearse, 1.0 if change is None else change, as_json=as_json)
        return
    refuse_beside("without --compare or --rehearse", horizon=horizon, change=change)
    if is_workload(asked):
        _plan_workload(asked, as_json=as_json)
        return
    from chronodp.series import FindPlan, QuantilePlan

    made: Plan | FindPlan | QuantilePlan = asked.plan(expect=expect)
    if as_json:
        content = {
            "design": to_document(made.design),
            # Bounds that are found decide it; of quantiles errors are of ranks.
            "half_width": None if isinstance(made, FindPlan | QuantilePlan) else made.half_width(),
            "alternatives": made.alternatives.to_dict("records"),
        }
        print_json(content, indent=2)
    else:
        console = terminal()
        console.print(str(made))
        title = "Candidates, the chosen one first"
        if isinstance(made, FindPlan):
            of = " of a size of 1" if made.design.finds_size and not made.design.finds_edges else ""
            title = f"What may be found, and the noise then{of}"
        console.print(table_of(_narrow(made.alternatives), title))
        console.print("Before you pay, look at how the table is read: chronodp diagnose, with the same options.")


def _narrow(candidates: pandas.DataFrame) -> pandas.DataFrame:
    """Return what a terminal of 80 columns shows of candidates: names that fit, and one error; `--json` has all."""
    if "half_width" not in candidates or "epsilon" not in candidates:
        return candidates
    kept = [name for name in ("cap", "shape", "noise", "scale", "half_width", "delta") if name in candidates]
    return candidates[kept].rename(columns={"cap": "counts", "half_width": "± in 95 of 100"})


def _plan_workload(asked: Asked, *, as_json: bool) -> None:
    made = plan_workload(asked)
    if as_json:
        content = {
            "epsilon": made.epsilon,
            "delta": made.delta,
            "noise": made.chosen.law,
            "queries": made.shares.to_dict("records"),
            "strategies": made.strategies.to_dict("records"),
        }
        print_json(content, indent=2)
        return
    console = terminal()
    console.print(str(made))
    console.print(table_of(made.shares, "Shares"))
    console.print(table_of(made.strategies, "Strategies, the chosen one first"))


def _plan_stream(
    asked: Asked, compare: str | None, horizon: int | None, rehearse: Path | None, change: float, *, as_json: bool
) -> None:
    """Show every candidate for a stream, best first: by theory, or tried on an example."""
    mode, own = ("--compare", "max_periods") if rehearse is None else ("--rehearse", "max_groups")
    shared = {"unit", "epsilon", "delta"}
    others = {name: value for name, value in asked.options.items() if name not in {own, *shared}}
    refuse_beside(f"beside {mode}", **others)
    price = {"epsilon": asked.needed("epsilon"), "delta": asked.options.get("delta", 0.0), "change": change}
    unit = parse_record_unit(asked.options.get("unit", "user"))
    if rehearse is None:
        from chronodp.series import compare as compare_shapes

        if horizon is None:
            raise InvalidArgument("horizon", None, "given beside --compare: how many periods")
        limit = asked.options.get("max_periods")
        try:
            workload = parse_workload(compare or "")
        except InvalidArgument as error:
            raise InvalidArgument("compare", compare, error.allowed) from None
        table = compare_shapes(workload, unit=unit, horizon=horizon, max_periods=limit, **price)
        title = f"{compare}, {counted(horizon, 'period')}"
    else:
        from chronodp.series.windowed import rehearse as rehearse_windows

        refuse_beside("beside --rehearse", compare=compare, horizon=horizon)
        if not isinstance(unit, Window):
            raise InvalidArgument("unit", asked.options.get("unit"), "a window, such as window:24, beside --rehearse")
        numbers = _example(rehearse)
        table = rehearse_windows(numbers, window=unit, max_groups=asked.options.get("max_groups", 1), **price)
        title = f"{unit}: {numbers.shape[1]:,} series of {counted(len(numbers), 'step')}"
    if as_json:
        print_json(rows_of(table))
        return
    terminal().print(table_of(table, title))


def _example(path: Path) -> NDArray[np.float64]:
    """Return every column of numbers of a CSV file."""
    import pandas

    try:
        numbers = pandas.read_csv(path).select_dtypes("number")
    except (OSError, ValueError):
        raise InvalidArgument("rehearse", str(path), "a CSV file with a header that can be read") from None
    if not numbers.shape[1]:
        raise InvalidArgument("rehearse", str(path), "a CSV file with a column of numbers")
    return numbers.to_numpy(float)
