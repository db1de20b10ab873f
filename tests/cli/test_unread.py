"""What a command tells the owner of rows that cannot be read: one line on standard error, and nothing elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from chronodp.cli.shell import app

GIVEN = "--time at --user who --every 1D --start 2026-01-01 --end 2026-01-04 --max-periods 2 --epsilon 1"


def chronodp(line: str) -> Result:
    result = CliRunner().invoke(app, line.split(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "31/01/2026,ann,1\n19970101,bob,2\n2026-01-02,eve,x\n2026-01-02,ann,3\n"
    Path("rows.csv").write_text(f"at,who,kwh\n{rows}", encoding="utf-8")
    chronodp("budget open meters --epsilon 4")


@pytest.mark.slow
@pytest.mark.parametrize("told", ["--sum kwh --clip 0 5", "--sum kwh --find clip --delta 1e-6"])
def test_a_release_says_it_in_one_line_of_standard_error(told: str) -> None:
    if "find" in told:
        chronodp("budget open found --epsilon 4 --delta 1e-5 --reserve 5e-6")
    budget = "found" if "find" in told else "meters"
    made = chronodp(f"release rows.csv {GIVEN} {told} --dataset {budget} --request a --out a.csv --page a.html --json")
    lines = [line for line in made.stderr.splitlines() if "left out" in line]
    assert len(lines) == 1
    assert lines[0].startswith("unread: rows.csv: 1 of 4 rows were read, 3 left out: 2 without a time that can be read")
    published = made.stdout + "".join(path.read_text(encoding="utf-8") for path in (Path("a.csv"), Path("a.html")))
    assert "were read" not in published


@pytest.mark.slow
def test_a_table_that_is_read_is_released_without_a_line() -> None:
    Path("rows.csv").write_text("at,who,kwh\n2026-01-02,ann,1\n2027-01-02,ann,1\n", encoding="utf-8")
    made = chronodp(f"release rows.csv {GIVEN} --count --dataset meters --request a")
    assert "unread" not in made.stderr
