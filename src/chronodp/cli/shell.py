"""The program ``chronodp``: its commands, its version, and how it fails.

Exit codes: 0 done; 1 a certificate is not valid, a tally is not its ledger's, or an audit did not come out as it must;
2 the request was refused. A refusal is one sentence on standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import chain as chained
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from chronodp import __version__
from chronodp.cli.account import account
from chronodp.cli.audit import audit
from chronodp.cli.blur_times import blur_times
from chronodp.cli.budget import budget
from chronodp.cli.chain import chain
from chronodp.cli.check import check
from chronodp.cli.choose import choose
from chronodp.cli.choose_order import choose_order
from chronodp.cli.collect import collect
from chronodp.cli.compare import compare
from chronodp.cli.curator import curator
from chronodp.cli.demo import demo
from chronodp.cli.device import device
from chronodp.cli.diagnose import diagnose
from chronodp.cli.dossier import dossier
from chronodp.cli.explain import explain
from chronodp.cli.federate import federate
from chronodp.cli.fran import fran
from chronodp.cli.key import key
from chronodp.cli.leakage import leakage
from chronodp.cli.lifetime import lifetime
from chronodp.cli.live import live
from chronodp.cli.plan import plan
from chronodp.cli.plan_blur import plan_blur
from chronodp.cli.read import read
from chronodp.cli.rehearse import rehearse
from chronodp.cli.release import release
from chronodp.cli.run import run
from chronodp.cli.schema import schema
from chronodp.cli.serve import serve
from chronodp.cli.spectrum import spectrum
from chronodp.cli.start import start
from chronodp.cli.stream import stream
from chronodp.cli.terminal import terminal
from chronodp.cli.token import token
from chronodp.cli.verify import verify
from chronodp.cli.watch import plan_alert, watch
from chronodp.errors import CertificateInvalid, ChronodpError

__all__ = ["app", "main"]


class _InOrder(TyperGroup):
    """Commands in the order in which they are named here; Typer would put those with parts of their own last."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - what Typer calls
        return [name for commands in _PANELS.values() for name, _ in commands]


app = typer.Typer(
    cls=_InOrder,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


# What the help shows, in this order: each panel with its commands, what is used daily first.
_PANELS: dict[str, tuple[tuple[str, Callable[..., object] | typer.Typer], ...]] = {
    "Publish a table": (
        ("demo", demo),
        ("start", start),
        ("plan", plan),
        ("diagnose", diagnose),
        ("release", release),
        ("run", run),
        ("read", read),
        ("budget", budget),
        ("lifetime", lifetime),
        ("explain", explain),
    ),
    "Watch a stream": (
        ("live", live),
        ("stream", stream),
        ("watch", watch),
        ("plan-alert", plan_alert),
        ("check", check),
    ),
    "Serve analysts": (("serve", serve), ("curator", curator), ("token", token)),
    "Collect from devices": (("device", device), ("collect", collect)),
    "Train across holders": (("federate", federate), ("choose-order", choose_order)),
    "Check what was released": (
        ("verify", verify),
        ("key", key),
        ("dossier", dossier),
        ("schema", schema),
        ("audit", audit),
    ),
    "Compare and research": (
        ("compare", compare),
        ("account", account),
        ("rehearse", rehearse),
        ("choose", choose),
        ("spectrum", spectrum),
        ("blur-times", blur_times),
        ("plan-blur", plan_blur),
        ("leakage", leakage),
        ("chain", chain),
        ("fran", fran),
    ),
}
for _panel, _commands in _PANELS.items():
    for _name, _command in _commands:
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name, rich_help_panel=_panel)
        else:
            app.command(_name, rich_help_panel=_panel)(_command)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"chronodp {__version__}")
        raise typer.Exit


@app.callback()
def _chronodp(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop."),
    ] = False,
) -> None:
    """Differential privacy for time series: guarantees that are stated, paid for, durable and checkable."""


def main() -> None:
    """Run the program; a refusal is one sentence and exit code 2, never a traceback."""
    try:
        app(args=_pairs_apart(sys.argv[1:]))
    except CertificateInvalid as error:
        _complain("not valid", error)
        sys.exit(1)
    except ChronodpError as error:
        _complain("refused", error)
        sys.exit(2)


def _pairs_apart(words: Sequence[str]) -> list[str]:
    """Return the words of a call with ``--clip=-60,300``, as many write it, as ``--clip -60 300``."""

    def apart(word: str) -> list[str]:
        name, equals, pair = word.partition("=")
        return [name, *pair.split(",")] if name == "--clip" and equals and pair.count(",") == 1 else [word]

    return list(chained.from_iterable(map(apart, words)))


def _complain(what: str, error: ChronodpError) -> None:
    terminal(errors=True, soft_wrap=True).print(Text.assemble((f"{what}:", "bold red"), f" {error}"))
