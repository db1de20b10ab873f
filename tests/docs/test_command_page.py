"""The page that says which command does what names every command."""

from __future__ import annotations

import re

import typer

from chronodp.cli.shell import app
from tests.docs.pages import ROOT


def test_every_command_has_its_line() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    firsts = [line.split("|")[1] for line in page.partition("## Without a command")[0].splitlines() if line[:1] == "|"]
    named = re.findall(r"`([\w-]+)`", " ".join(firsts))
    assert sorted(named) == sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
