"""``chronodp rehearse``: every way of protecting windows, tried on an example that is public."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from chronodp.cli.terminal import print_json, table_of, terminal
from chronodp.errors import InvalidArgument
from chronodp.privacy import counted

__all__ = ["rehearse"]


def rehearse(
    example: Annotated[Path, typer.Argument(help="A CSV file with a header; every column of numbers is a series.")],
    window: Annotated[int, typer.Option(help="How many consecutive periods are protected together.")],
    change: Annotated[float, typer.Option(help="The most one person changes one series in one period.")],
    epsilon: Annotated[float, typer.Option(help="Epsilon for any window.")],
    delta: Annotated[float, typer.Option(help="Delta for any window; 0 for a pure one.")] = 0.0,
    max_groups: Annotated[int, typer.Option(help="In how many series one person counts within a period.")] = 1,
    runs: Annotated[int, typer.Option(help="How often each is tried.")] = 4,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a mechanism.")] = False,
) -> None:
    """Show the error of every mechanism for windows on an example series, best first. Nothing is spent.

    The example must be public: last year's published figures, or numbers made up to move like the private ones.

    **Example**

    `chronodp rehearse published-2025.csv --window 24 --change 1 --epsilon 1 --delta 1e-6`
    """
    import pandas

    from chronodp.series.windowed import rehearse as rehearse_windows

    try:
        numbers = pandas.read_csv(example).select_dtypes("number")
    except (OSError, ValueError):
        raise InvalidArgument("example", str(example), "a CSV file with a header that can be read") from None
    if not numbers.shape[1]:
        raise InvalidArgument("example", str(example), "a CSV file with a column of numbers")
    table = rehearse_windows(
        numbers.to_numpy(float),
        window=window,
        change=change,
        epsilon=epsilon,
        delta=delta,
        max_groups=max_groups,
        runs=runs,
    )
    if as_json:
        print_json(json.loads(table.to_json(orient="records")))
        return
    title = f"windows of {counted(window, 'period')}, {numbers.shape[1]:,} series of {counted(len(numbers), 'step')}"
    terminal().print(table_of(table, title))
