from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from experiments.correlated_sequences import panel
from experiments.correlated_sequences.__main__ import draw, measure

pytestmark = pytest.mark.long


def test_what_holds_and_what_does_not() -> None:
    verdicts = {verdict.claim: verdict for verdict in measure()}
    said = " ".join(verdict.ours for verdict in verdicts.values())
    for number in (
        "0.6031",
        "1.2962",
        "0.8321",
        "9.0247e-05",
        "4.5124e-05",
        "8.3864e-05",
        "39.992%",
        "1.4907",
        "0.7559",
    ):
        assert number in said, number
    assert "0.374, 0.400, 0.409, 0.400, 0.374" in said
    false = [claim for claim, verdict in verdicts.items() if verdict.verdict == "false"]
    assert sum(claim.startswith("Theorem 1") for claim in false) == 3
    for start in ("Theorem 2 bounds", "Lemma 1", "3a: U-shaped", "3c: from", "5: CSDP at", "5: plain", "conclusion"):
        assert any(claim.startswith(start) for claim in false), start
    for start in ("Proposition 1", "3b: below", "4b: error", "4c: ε_C", "5: age-dependent", "made-up vitals"):
        assert not any(claim.startswith(start) for claim in false), start


def test_every_panel_is_drawn(tmp_path: Path) -> None:
    pages = draw(tmp_path / "pages")
    assert len(pages) == 10
    assert all(page.stat().st_size > 10_000 for page in pages)


def test_a_table_of_vitals_is_read(tmp_path: Path) -> None:
    rows = [
        {"patient": who, "HR": 70 + who, "O2Sat": None if hour else 97, "SBP": 120, "Resp": 15 + hour}
        for who in (1, 2, 30)
        for hour in range(panel.HOURS if who < 30 else 3)
    ]
    path = tmp_path / "vitals.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    assert panel.read(path).shape == (2, panel.HOURS, 4)
