"""Quantiles beside counts at one price: shares, debit, reading, and large histograms in parts."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import chronodp as cdp
from chronodp.accounting import basic, gaussian
from chronodp.dataset import ReleaseTogether
from chronodp.dataset.joint.quantiles import QuantilePart, SharedQuantiles
from chronodp.dataset.joint.release import together_text
from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.ledger import MOST_LISTED, verify
from chronodp.postprocess import Law
from chronodp.privacy import BoundedRangeCost, PureCost, RecordUnit, RepeatedCost
from chronodp.randomness import seeded
from chronodp.series import QuantileRelease, Release

BUDGET = {"dataset": "d", "unit": cdp.User(), "epsilon": 50.0, "delta": 1e-2}

EDGES = np.linspace(0, 8, 201).tolist()
MANY = [round(0.01 * one, 2) for one in range(1, 100)]
TERMS: list[tuple[Law, float]] = [("laplace", 0.0), ("gaussian", 1e-3)]


def trips(unit: RecordUnit | None = None, **changes: Any) -> cdp.TimeSeries:
    chance = np.random.default_rng(2)
    days = pd.to_datetime("2026-01-01") + pd.to_timedelta(chance.integers(0, 4, 4_000), unit="D")
    values = np.minimum(chance.lognormal(size=4_000), 8.0)
    rows = pd.DataFrame({"t": days, "u": [f"p{one}" for one in range(4_000)], "v": values})
    given: dict[str, Any] = {"unit": unit or cdp.User(), "start": "2026-01-01", "end": "2026-01-05", "max_periods": 1}
    return cdp.TimeSeries(rows, time="t", user="u", every="1D", **(given | changes))


def both(asked: cdp.TimeSeries, fractions: list[float]) -> dict[str, Any]:
    return {"trips": asked.count(), "length": asked.quantiles("v", fractions, edges=EDGES)}


@pytest.mark.slow
def test_errors_fall_as_one_by_the_share(subtests: pytest.Subtests) -> None:
    """And no part costs more than its share, at shares at which a range costs far less than in proportion too."""
    every_law: list[Law] = ["laplace", "gaussian"]
    every_fractions: list[list[float]] = [[0.5], [0.1, 0.5, 0.9], MANY]
    every_unit: list[RecordUnit] = [cdp.User(), cdp.User("replace"), cdp.Event()]
    for law, fractions, unit in itertools.product(every_law, every_fractions, every_unit):
        with subtests.test(law=law, fractions=fractions, unit=unit):
            query = trips(unit, max_periods=1 if unit.limited else None).quantiles("v", fractions, edges=EDGES)
            shared = SharedQuantiles(query.table, query.records)  # type: ignore[arg-type]
            one = shared.at(law, 1.0)
            assert one is not None
            for share in (1e-3, 0.05, 0.4, 3.0, 8.0):
                part = shared.at(law, share)
                assert part is not None
                # What rounding shaped noise adds grows against one person's change where noise is very wide.
                near = 2e-5 if part.drawn or law == "laplace" else 1e-5 / share
                assert part.rmse * share == pytest.approx(one.rmse, rel=max(2e-5, near))
                if law == "gaussian":
                    assert gaussian.mu(part.cost) <= share
                else:
                    assert basic.epsilon(part.cost, 0.0) <= share


@pytest.mark.slow
@pytest.mark.parametrize(("law", "delta"), TERMS)
def test_a_median_and_a_count_at_one_price(law: Law, delta: float, ledger: cdp.Ledger, tmp_path: Path) -> None:
    plan = cdp.plan_together(both(trips(max_periods=4), [0.5]), epsilon=2.0, delta=delta, weights=(1.0, 1.0))
    assert plan.chosen.law == law
    part = plan.parts["length"]
    assert isinstance(part, QuantilePart)
    kind = PureCost if law == "laplace" else BoundedRangeCost
    assert isinstance(part.cost, RepeatedCost)
    assert isinstance(part.cost.cost, kind)
    assert "ranks (one deviation)" in " ".join(str(plan).split())
    assert ("drawn bins by their range" in plan.certificate_for(seeded=False).theorem) == (law == "gaussian")
    made = plan.release(ledger, dataset="d", request="one", entropy=seeded(1))
    length, count = made["length"], made["trips"]
    assert isinstance(length, QuantileRelease)
    assert isinstance(count, Release)
    truth = trips()._records.data.groupby("t")["v"]  # type: ignore[attr-defined]
    below = [(days < value).mean() for (_, days), value in zip(truth, length.to_pandas()["value"], strict=True)]
    assert np.allclose(below, 0.5, atol=0.05)
    assert np.allclose(count.to_pandas()["value"], truth.size(), atol=60)
    assert length.quantile(0.5).to_pandas()["value"].equals(made.view("length").to_pandas()["value"])
    assert set(made.to_pandas()["query"]) == {"trips", "length"}
    assert ledger.status("d").charges == 1
    again = ReleaseTogether.load(made.save(tmp_path / "both.json"))
    assert again.to_pandas().equals(made.to_pandas())
    with pytest.raises(InvalidArgument, match="signed as one"):
        length.save(tmp_path / "length.json")
    verify(made.signed, ledger.public_key, release=made.text)


@pytest.mark.slow
def test_other_quantiles_do_not_follow(ledger: cdp.Ledger) -> None:
    hours = trips()
    one, other = (hours.quantiles("v", [q], edges=EDGES) for q in (0.5, 0.9))
    plan = cdp.plan_together({"a": one, "b": other}, epsilon=1.0)
    assert not plan.chosen.sources
    made = plan.release(ledger, dataset="d", request="two", entropy=seeded(1))
    content = json.loads(made.text)
    content["parts"].pop("b")
    content["derived"] = {"b": {"from": "a", "every": "2D"}}
    made.__dict__["_content"] = content
    with pytest.raises(UnknownDocument, match="longer periods"):
        made.view("b")


@pytest.mark.slow
def test_many_small_histograms_are_packed_together() -> None:
    """Each may list its numbers, and all of them would not fit a row."""
    asked = trips(end="2029-11-01").quantiles("v", MANY, edges=np.linspace(0, 8, 401).tolist())
    part = SharedQuantiles(asked.table, asked.records).at("gaussian", 1.0)  # type: ignore[arg-type]
    assert part is not None
    assert MOST_LISTED / 2 < part.plan.cells <= MOST_LISTED
    counts = np.zeros((part.plan.design.table.horizon, part.plan.design.bins), np.int64)
    written = part.plan.draw(counts, seeded(1))
    assert not written.parts
    packed = together_text({"a": written, "b": written}, {})
    assert len(packed.text) < 200_000
    assert sum(numbers.size for numbers in packed.unpack()) == 2 * part.plan.cells
