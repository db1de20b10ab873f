"""What is shown on the terminal: names and cells are data, and are shown as they are."""

from __future__ import annotations

import pandas as pd
import pytest

from chronodp.cli.terminal import table_of, terminal

ODD = "[/a] [red]b :house:"


def test_names_are_shown_as_they_are(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    terminal().print(table_of(pd.DataFrame({ODD: [ODD, "plain"], "value": [1.5, 2.5]}), f"title {ODD}"))
    shown = capsys.readouterr().out
    assert shown.count(ODD) == 3
    assert "1.5" in shown
