from __future__ import annotations

import pytest
from experiments.devices.__main__ import measure

pytestmark = pytest.mark.long


def test_what_is_true_of_one_report_is_not_of_many() -> None:
    verdicts = {verdict.claim: verdict for verdict in measure()}
    assert len(verdicts) == 10
    wrong = {claim for claim, verdict in verdicts.items() if verdict.verdict == "false"}
    assert wrong == {
        "randomised response at ε = 1 in each slot hides a constant bit over time",
        "... and between any two histories",
        "... and with a second, fresh level",
        "two levels: the price does not grow with time",
        "the printed chance of the second level realises ε1 for every alphabet (Arcolezi et al. 2022)",
    }
    assert (
        "0.7311, 0.8755, 0.9934"
        in verdicts["randomised response at ε = 1 in each slot hides a constant bit over time"].ours
    )
    assert "ε1 = 0.6994" in list(verdicts.values())[-1].ours
