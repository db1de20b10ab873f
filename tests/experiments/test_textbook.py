from __future__ import annotations

import pytest
from experiments.textbook.__main__ import measure

pytestmark = pytest.mark.long


def test_everything_in_the_chapter_holds_but_one_sentence() -> None:
    verdicts = measure()
    assert len(verdicts) >= 20
    wrong = [verdict for verdict in verdicts if verdict.verdict == "false"]
    assert {verdict.claim.split(";")[0] for verdict in wrong} == {
        "the odds move by at most e^ε except with probability δ"
    }
    assert "16 δ" in wrong[0].ours
    assert "111 δ" in wrong[1].ours
