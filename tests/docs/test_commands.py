"""Every command that a page shows can be typed: it exists, its options exist, and none that it needs is missing."""

from __future__ import annotations

import re
from typing import Any

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


def test_every_command_that_a_page_shows_can_be_typed() -> None:
    assert len(SHOWN) > 60
    readme = [words for page, words in SHOWN if page == ROOT / "README.md"]
    assert ["explain", "--epsilon", "1", "--delta", "1e-6"] in readme
    wrong = [(page.name, " ".join(words), said) for page, words in SHOWN if (said := complaint(words))]
    assert not wrong


def test_what_cannot_be_typed_is_noticed() -> None:
    for words in (
        "magic",
        "explain --epsilom 1",
        "explain --delta 1e-6",
        "verify --json",
        "budget open meters",
        "explain --epsilon 1 2",
    ):
        assert complaint(words.split()), words


def test_every_command_has_its_line_on_the_page_of_commands() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    firsts = [line.split("|")[1] for line in page.partition("## Without a command")[0].splitlines() if line[:1] == "|"]
    assert sorted(re.findall(r"`([\w-]+)`", " ".join(firsts))) == sorted(SHELL.commands)
