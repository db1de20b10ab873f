"""``chronodp plan``: price and error of a release, before anything is read or spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from chronodp.cli.asking import Asked, asks
from chronodp.cli.options import Json
from chronodp.cli.terminal import print_json, table_of, terminal
from chronodp.cli.workload import is_workload, plan_workload
from chronodp.errors import InvalidArgument
from chronodp.privacy import to_document

if TYPE_CHECKING:
    import pandas

    from chronodp.series import Plan

__all__ = ["plan"]


@asks
def plan(
    *,
    asked: Asked,
    diagnose: Annotated[bool, typer.Option("--diagnose", hidden=True)] = False,
    expect: Annotated[
        float | None,
        typer.Option(help="About how large a number will be: the plan then says how far off that is."),
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
    """
    if diagnose:
        raise InvalidArgument("diagnose", True, "left out: use chronodp diagnose, with the same options")
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
