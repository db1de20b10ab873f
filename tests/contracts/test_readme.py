"""The first lines that a newcomer copies work as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chronodp.cli.town import write_town

ROOT = Path(__file__).parents[2]


def test_the_ten_lines_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    write_town(tmp_path / "jan.parquet", households=50, progress=lambda _: None)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert "everything of one person" in capsys.readouterr().out
    assert (tmp_path / "load.html").exists()
    names["ledger"].close_connection()  # type: ignore[attr-defined]
