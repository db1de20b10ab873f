"""The program ``chronodp``: its commands, its version, and how it fails.

Exit codes: 0 done; 1 a certificate is not valid, a tally is not its ledger's, or an audit did not come out as it must;
2 the request was refused. A refusal is one sentence on standard error.
"""

from __future__ import annotations

import functools
import os
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
from chronodp.cli.choose import choose
from chronodp.cli.collect import collect
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
from chronodp.cli.read import read
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
from chronodp.cli.watch import watch
from chronodp.errors import CertificateInvalid, ChronodpError, InvalidArgument
from chronodp.owner import owner_told

__all__ = ["app", "main"]


class _InOrder(TyperGroup):
    """Commands in the order in which they are named here; Typer would put those with parts of their own last."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - what Typer calls
        return [name for commands in _PANELS.values() for name, _ in commands]


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
    "Watch a stream": (("live", live), ("stream", stream), ("watch", watch)),
    "Serve analysts": (("serve", serve), ("curator", curator), ("token", token)),
    "Collect from devices": (("device", device), ("collect", collect)),
    "Train across holders": (("federate", federate),),
    "Check what was released": (
        ("verify", verify),
        ("key", key),
        ("dossier", dossier),
        ("schema", schema),
        ("audit", audit),
    ),
    "Compare and research": (
        ("account", account),
        ("choose", choose),
        ("spectrum", spectrum),
        ("blur-times", blur_times),
        ("leakage", leakage),
        ("chain", chain),
        ("fran", fran),
    ),
}


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"chronodp {__version__}")
        raise typer.Exit


def _chronodp(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Differential privacy for time series: guarantees that are stated, paid for, durable and checkable."""
    del version
    context.with_resource(owner_told(_tell_owner))


@functools.cache
def _program(whole: frozenset[str]) -> typer.Typer:
    """Return the program with the commands in ``whole``; of all others the overview shows name and first line.

    Reading the options of some fifty commands takes longer than most of them run.
    """
    program = typer.Typer(
        cls=_InOrder,
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(_chronodp)
    for panel, commands in _PANELS.items():
        for name, command in commands:
            shown = command if name in whole else _in_name(command)
            if isinstance(shown, typer.Typer):
                program.add_typer(shown, name=name, rich_help_panel=panel)
            else:
                program.command(name, rich_help_panel=panel)(shown)
    return program


def _in_name(command: Callable[..., object] | typer.Typer) -> Callable[..., object] | typer.Typer:
    """Return a command without options, with the same words about it."""
    if isinstance(command, typer.Typer):
        return typer.Typer(help=command.info.help)

    def nothing() -> None: ...

    nothing.__doc__ = command.__doc__
    return nothing


_NAMES = frozenset(name for commands in _PANELS.values() for name, _ in commands)
app = _program(_NAMES)


def main() -> None:
    """Run the program; a refusal is one sentence and exit code 2, never a traceback."""
    completing = any(name.endswith("_COMPLETE") for name in os.environ)  # then the shell has the words
    try:
        words = _pairs_apart(sys.argv[1:])
        (app if completing else _program(_NAMES.intersection(words)))(args=words)
    except CertificateInvalid as error:
        _complain("not valid", error)
        sys.exit(1)
    except ChronodpError as error:
        _complain("refused", error)
        sys.exit(2)


def _pairs_apart(words: Sequence[str]) -> list[str]:
    """Return the words of a call with ``--clip=-60,300``, as many write it, as ``--clip -60 300``.

    One number alone is refused here: what comes next on the line would be taken for the other.
    """

    def apart(word: str) -> list[str]:
        name, equals, pair = word.partition("=")
        return [name, *pair.split(",")] if name == "--clip" and equals and pair.count(",") == 1 else [word]

    found = list(chained.from_iterable(map(apart, words)))
    for place, word in enumerate(found):
        pair = found[place + 1 : place + 3]
        if word == "--clip" and not (len(pair) == 2 and all(map(_is_number, pair))):
            given = " ".join(one for one in pair if not one.startswith("--"))
            raise InvalidArgument("clip", given, "two numbers, the least and the most, such as --clip 0 100")
    return found


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _tell_owner(text: str) -> None:
    terminal(errors=True, soft_wrap=True).print(Text.assemble(("unread:", "bold yellow"), f" {text}"))


def _complain(what: str, error: ChronodpError) -> None:
    terminal(errors=True, soft_wrap=True).print(Text.assemble((f"{what}:", "bold red"), f" {error}"))
