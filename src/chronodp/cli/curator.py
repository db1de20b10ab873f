"""``chronodp curator``: a policy to begin with, checked before it is served."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from chronodp.cli.curated_town import prepare_town
from chronodp.cli.curator_holds import add_holds, holds_of, show_holds
from chronodp.cli.options import Json
from chronodp.cli.terminal import print_json, terminal

__all__ = ["curator"]

curator = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Set up the curator's service, check its policy, and hold jobs back.",
)
add_holds(curator)


@curator.command()
def init(
    folder: Annotated[Path, typer.Argument(help="Where the policy, the data and the ledger go.")] = Path(
        "chronodp-curator"
    ),
    households: Annotated[int, typer.Option(help="How many households the made-up town has.")] = 5_000,
    as_json: Json = False,
) -> None:
    """Make a folder with a made-up town, a policy to change, a ledger, tokens, and a first release.

    **Example**

    `chronodp curator init town` and then `chronodp serve --policy town/policy.toml --ledger town/budget.db`
    """
    made = prepare_town(folder, households=households)
    if as_json:
        print_json(made)
        return
    console = terminal(soft_wrap=True)
    told = " holds policy.toml, town.parquet and budget.db. Tokens, shown this once:"
    console.print(Text.assemble((str(folder), "bold"), told))
    for name, token in made["tokens"].items():
        console.print(f"  {name:<8}{token}")
    console.print(f"Next: chronodp serve --policy {folder / 'policy.toml'} --ledger {folder / 'budget.db'}")


@curator.command()
def check(
    policy: Annotated[Path, typer.Argument(help="The policy's file.")],
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger",
            "-l",
            help="The ledger's file, or postgresql://...: show also which jobs are held, by whom and why.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read a policy, and say what it allows or which line is wrong. Reads no rows.

    Files that are missing, or lack a column that the policy names, are warned of.

    **Examples**

    `chronodp curator check policy.toml`

    `chronodp curator check policy.toml --ledger budget.db`
    """
    from chronodp.service import policy_words, read_policy, source_warnings

    read = read_policy(policy)
    warnings = [*read.warnings, *source_warnings(read)]
    words = {name: policy_words(dataset) for name, dataset in read.datasets.items()}
    held = None if ledger is None else holds_of(ledger)
    if as_json:
        told = {"datasets": list(read.datasets), "analysts": list(read.analysts)}
        print_json({**told, "words": words, "warnings": warnings} | ({} if held is None else {"holds": held}))
        return
    table = Table("dataset", "protects", "grid", "budget", "analysts", "releases")
    for name, dataset in read.datasets.items():
        budget = f"({dataset.epsilon:g}, {dataset.delta:g})" + (f" every {dataset.renews}" if dataset.renews else "")
        analysts = ", ".join(f"{who} {part.epsilon:g}" for who, part in dataset.analysts.items()) or "nobody"
        shared = "shared" if dataset.share else "kept apart"
        table.add_row(name, str(dataset.unit.on(dataset.calendar)), str(dataset.calendar), budget, analysts, shared)
    console = terminal(soft_wrap=True)
    terminal().print(table)
    for name, sentences in words.items():
        console.print(Text(name, "bold"))
        for sentence in sentences:
            console.print(Text(f"  {sentence}"))
    for warning in warnings:
        console.print(Text.assemble(("Warning: ", "bold yellow"), warning))
    if held is not None:
        show_holds(held)
