"""The help: what is used daily comes first, every command stands in a panel, and a pair may be written with a comma."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from chronodp.cli.shell import _PANELS, _pairs_apart, app
from tests import forkserver


def test_every_command_stands_in_one_panel() -> None:
    named = [name for commands in _PANELS.values() for name, _ in commands]
    assert len(named) == len(set(named)) == len(app.registered_commands) + len(app.registered_groups)


@pytest.mark.kill
def test_the_help_shows_panels_in_their_order() -> None:
    said = forkserver.run("-m", "chronodp", "--help").stdout
    headings = re.findall(r"─ ([A-Z][a-z ]+) ─", said)
    assert headings == ["Options", *_PANELS]


def test_a_pair_with_a_comma_is_two_words() -> None:
    assert _pairs_apart(["plan", "--clip=-60,300", "--sum", "v"]) == ["plan", "--clip", "-60", "300", "--sum", "v"]
    for left_alone in (["--clip", "-60", "300"], ["--clip=3"], ["--edges=0,1"], ["--clip=1,2,3"]):
        assert _pairs_apart(left_alone) == left_alone


@pytest.mark.kill
def test_a_clip_with_a_comma_is_planned(tmp_path: Path) -> None:
    Path(tmp_path / "delays.csv").write_text("at,who,delay\n2026-01-01,a,3\n", encoding="utf-8")
    words = "--time at --user who --every 1D --start 2026-01-01 --end 2026-02-01 --max-periods 3 --sum delay"
    done: subprocess.CompletedProcess[str] = forkserver.run(
        *("-m", "chronodp", "plan", "delays.csv", *words.split(), "--clip=-60,300", "--epsilon", "1"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "clipped to -60 … 300" in done.stdout
