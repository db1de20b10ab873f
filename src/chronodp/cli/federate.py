"""``chronodp federate``: training across holders."""

from __future__ import annotations

import typer

from chronodp.cli.federate_simulate import simulate

__all__ = ["federate"]

federate = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Train one model on the data of several holders."
)
federate.command()(simulate)


@federate.callback()
def _federate() -> None:
    """Keep the group a group while it has one command."""
