"""The program ``chronodp``: its commands, its version, and how it fails.

Exit codes: 0 done; 1 a certificate is not valid, a tally is not its ledger's, or an audit did not come out as it must;
2 the request was refused. A refusal is one sentence on standard error.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.text import Text

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
from chronodp.cli.schema import schema
from chronodp.cli.serve import serve
from chronodp.cli.spectrum import spectrum
from chronodp.cli.stream import stream
from chronodp.cli.terminal import terminal
from chronodp.cli.token import token
from chronodp.cli.verify import verify
from chronodp.cli.watch import plan_alert, watch
from chronodp.errors import CertificateInvalid, ChronodpError

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(plan)
app.command()(diagnose)
app.command()(release)
app.command()(read)
app.add_typer(lifetime, name="lifetime")
app.command()(stream)
app.command()(spectrum)
app.command()(watch)
app.command()(live)
app.command()(plan_alert)
app.command()(check)
app.command()(blur_times)
app.command()(plan_blur)
app.command()(compare)
app.command()(rehearse)
app.command()(choose)
app.command("choose-order")(choose_order)
app.add_typer(chain, name="chain")
app.command()(leakage)
app.add_typer(fran, name="fran")
app.command()(account)
app.command()(explain)
app.add_typer(budget, name="budget")
app.add_typer(device, name="device")
app.command()(collect)
app.add_typer(federate, name="federate")
app.command()(serve)
app.add_typer(curator, name="curator")
app.add_typer(token, name="token")
app.command()(key)
app.command()(verify)
app.command()(dossier)
app.command()(schema)
app.command()(audit)
app.command()(demo)


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
        app()
    except CertificateInvalid as error:
        _complain("not valid", error)
        sys.exit(1)
    except ChronodpError as error:
        _complain("refused", error)
        sys.exit(2)


def _complain(what: str, error: ChronodpError) -> None:
    terminal(errors=True, soft_wrap=True).print(Text.assemble((f"{what}:", "bold red"), f" {error}"))
