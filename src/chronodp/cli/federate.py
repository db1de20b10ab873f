"""``chronodp federate``: training across holders, rehearsed in one process."""

from __future__ import annotations

import typer

from chronodp.cli.federate_simulate import simulate

__all__ = ["federate"]

federate = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Train one model across holders that keep their data; the server sees sums only.\n\n"
    "`simulate` rehearses a run with every holder in this process. Between places Flower carries the messages.",
)

federate.command()(simulate)
