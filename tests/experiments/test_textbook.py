from __future__ import annotations

import json
from pathlib import Path

import pytest
from experiments.textbook import adjacency, background, composition, growth, interpretation, renyi, sparse_vector
from experiments.textbook.claims import claims
from tests.experiments.rooms import check_room, check_words, find_all, series, stated

from chronodp.local import RandomizedResponse

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent.parent / "golden" / "claims"


@stated
def test_verdicts() -> None:
    findings = find_all(claims(series()))
    assert {f"T{number:02}" for number in range(1, 36)} <= set(findings)
    check_words(findings, "textbook.json", {})
    check_room(findings, "textbook")


def test_reference_numbers() -> None:
    known = json.loads((GOLDEN / "textbook_numbers.json").read_text(encoding="utf-8"))
    exact = pytest.approx
    assert composition.advanced_epsilon(0.05, 1440, 1e-7) == exact(known["advanced"])
    assert growth.first_below(0.05) == known["advanced below basic from"]
    assert growth.overtaken(0.05, 1e-7) == exact(known["terms equal at"])
    # The reference takes a wide difference quotient: off by 4e-5 from (root / 2 + linear) / (root + linear).
    assert [growth.growth(t) for t in (1440, 100_000, 1_000_000)] == exact(known["exponents"], rel=1e-4)
    ratios = [interpretation.beyond(eps, delta, eps) / delta for eps, delta in interpretation.GUARANTEES]
    assert ratios == exact(known["failures over delta"], rel=1e-6)
    assert renyi.textbook_epsilon(*renyi.DAY) == exact(known["renyi"]["textbook"])
    assert renyi.exact_epsilon(*renyi.DAY) == exact(known["renyi"]["exact"])
    for (alerts, shared, each), row in zip(sparse_vector.SPLITS, known["sparse vector"], strict=True):
        losses = [
            max(sparse_vector.worst_loss(alerts, shared, each, factor=factor, silent=silent) for silent in (50, 1000))
            for factor in (2.0, 1.0)
        ]
        assert losses == exact(row, abs=1e-6)
    assert adjacency.noise_of_last_total(1440, summed=False) == exact(known["naive noise"][0], rel=1e-3)
    assert adjacency.noise_of_last_total(1440, summed=True) == exact(known["naive noise"][1], rel=1e-3)
    assert RandomizedResponse(1.0).law.variance(0.0, 1000) == exact(known["variance of a share"])


def test_adversaries_of_the_reference() -> None:
    known = json.loads((GOLDEN / "adversaries.json").read_text(encoding="utf-8"))
    for row in known["advantages"]:
        at = row["memory"], row["deviation"]
        for name in ("one reading", "average", "likelihood ratio", "background known"):
            assert background.advantage(name, *at) == pytest.approx(row[name], rel=1e-6)
    assert background.at_one() == pytest.approx(known["bound at 1"])
    assert background.at_best() == pytest.approx(known["bound at its best"], rel=1e-5)
