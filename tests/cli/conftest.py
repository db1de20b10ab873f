"""How the commands are called in tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from chronodp.cli import main
from chronodp.cli.shell import app
from tests import forkserver

_runner = CliRunner(env={"COLUMNS": "160", "TERM": "dumb", "NO_COLOR": "1"})


def run(*arguments: str) -> str:
    """Run a command that must succeed, and return what it prints."""
    result = _runner.invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def charges(dataset: str, ledger: object = "budget.db") -> int:
    """Return how many charges a budget has paid."""
    return int(json.loads(run("budget", "status", dataset, "--json", "--ledger", str(ledger)))["charges"])


def pipe(text: str, *arguments: str) -> str:
    """Run a command that must succeed, with a text as its standard input, and return what it prints."""
    result = _runner.invoke(app, arguments, input=text, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def feed(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as its own process, with a text as its standard input."""
    return forkserver.run("-c", "from chronodp.cli import main; main()", *arguments, text=text, cwd=Path.cwd())


@pytest.fixture
def refuse(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that must be refused, and return the sentence that says why."""

    def call(*arguments: str, code: int = 2) -> str:
        monkeypatch.setattr(sys, "argv", ["chronodp", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == code
        captured = capsys.readouterr()
        assert captured.out == ""
        assert "Traceback" not in captured.err
        return " ".join(captured.err.split())

    return call
