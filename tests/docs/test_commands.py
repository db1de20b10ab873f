"""Every command that a page shows can be typed: it exists, its options exist, and none that it needs is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from chronodp.cli.shell import app
from tests.docs.pages import ROOT, commands, pages

SHELL: Any = typer.main.get_command(app)
REFUSED: Any = typer.BadParameter.__base__  # whatever is wrong with how a command was typed
SHOWN = [(page, words) for page in pages() for words in commands(page)]


def complaint(words: list[str]) -> str:
    """What the shell says to a command, short of running it; a page may end one that goes on by three dots."""
    command, given = SHELL, list(words)
    if given in (["--version"], ["--help"]):
        return ""
    while hasattr(command, "commands"):
        if not given:
            return ""
        if given[0] not in command.commands:
            return f"no command {given[0]}"
        command = command.commands[given.pop(0)]
    if not given or given[-1] in {"…", "..."}:
        return ""
    try:
        with command.context_class(command) as context:
            found, rest, _ = command.make_parser(context).parse_args(given)
    except REFUSED as error:
        return str(error)
    missing = [one.name for one in command.params if one.required and found.get(one.name) is None]
    return f"missing {missing}" if missing else " ".join(rest)


@pytest.mark.parametrize(("page", "words"), SHOWN, ids=lambda one: one.name if isinstance(one, Path) else " ".join(one))
def test_a_command_can_be_typed(page: Path, words: list[str]) -> None:
    assert not complaint(words), page


def test_commands_are_found() -> None:
    assert len(SHOWN) > 60
    assert ["explain", "--epsilon", "1", "--delta", "1e-6"] in [
        words for page, words in SHOWN if page == ROOT / "README.md"
    ]


@pytest.mark.parametrize(
    "words",
    [
        "magic",
        "explain --epsilom 1",
        "explain --delta 1e-6",
        "verify --json",
        "budget open meters",
        "explain --epsilon 1 2",
    ],
)
def test_what_cannot_be_typed_is_noticed(words: str) -> None:
    assert complaint(words.split())
