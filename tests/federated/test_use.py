"""What is done with trained models: a vote on architectures, and bands around forecasts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.federated.choosing import choose_model
from chronodp.federated.forecasts import choose_band, forecast, worst_errors
from chronodp.privacy import BoundedRangeCost, PureCost
from chronodp.randomness import seeded
from tests.federated.people import design


@pytest.fixture
def ledger(tmp_path: Path) -> cdp.Ledger:
    made = cdp.Ledger(tmp_path / "budget.db")
    made.open("held out", unit=cdp.User(), epsilon=10.0)
    return made


def test_people_vote_for_the_model_that_serves_them(ledger: cdp.Ledger) -> None:
    chance = np.random.default_rng(1)
    losses = {"linear": chance.random(400) + 0.3, "recurrent": chance.random(400), "nothing": np.full(400, np.inf)}
    made = choose_model(losses, epsilon=1.0, ledger=ledger, dataset="held out", request="which")
    assert made.winner == "recurrent"
    assert ledger.history("held out")[0].cost == PureCost(1.0)
    with pytest.raises(InvalidArgument, match="losses"):
        choose_model(losses | {"other": np.zeros(3)}, epsilon=1.0, ledger=ledger, dataset="held out", request="two")
    ledger.close_connection()


def test_a_band_holds_the_stated_share_of_people(ledger: cdp.Ledger) -> None:
    errors = np.random.default_rng(1).exponential(10.0, 5000)
    for number in range(5):
        band = choose_band(
            errors,
            largest=100.0,
            people=5000,
            epsilon=0.5,
            level=0.9,
            ledger=ledger,
            dataset="held out",
            request=f"band {number}",
            entropy=seeded(number),
        )
        assert 0.9 <= np.mean(errors <= band.margin) < 0.95
        assert band.choice.certificate.claim.cost == BoundedRangeCost(0.5)
    with pytest.raises(InvalidArgument, match="people must be enough"):
        choose_band(errors, largest=100.0, people=20, epsilon=0.1, ledger=ledger, dataset="held out", request="few")
    with pytest.raises(InvalidArgument, match="errors"):
        choose_band([[1.0]], largest=1.0, people=900, epsilon=1.0, ledger=ledger, dataset="held out", request="bad")
    ledger.close_connection()


def test_forecasts_come_with_their_band(ledger: cdp.Ledger) -> None:
    model = design(horizon=3)
    values = np.random.default_rng(1).uniform(60, 100, (40, 6, 2))
    targets = np.full((40, 3), 80.0)
    targets[0] = np.nan
    at = model.first_parameters()
    errors = worst_errors(model, at, values, targets)
    assert np.isnan(errors[0])
    assert not np.isnan(errors[1:]).any()
    band = choose_band(errors, largest=120.0, people=4000, epsilon=5.0, ledger=ledger, dataset="held out", request="b")
    middle, lower, upper = forecast(model, at, values, band)
    assert middle.shape == (40, 3)
    assert upper - lower == pytest.approx(2 * band.margin)
    with pytest.raises(InvalidArgument, match="forecasts"):
        forecast(design(), at, values, band)
    ledger.close_connection()
