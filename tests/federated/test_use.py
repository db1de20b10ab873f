"""What is done with trained models: a vote on architectures, bands around forecasts, and an attack."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, binom

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.federated.choosing import choose_model
from chronodp.federated.forecasts import choose_band, forecast, worst_errors
from chronodp.federated.membership import attack, chance_under, make_canaries, toss
from chronodp.privacy import PureCost
from chronodp.randomness import seeded
from tests.conftest import Trials
from tests.federated.people import INPUTS, design


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
    assert ledger.history("held out")[0].cost == '{"epsilon":1.0,"kind":"pure"}'
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
        assert band.choice.certificate.claim.cost == PureCost(0.5)
    with pytest.raises(InvalidArgument, match="people must be enough"):
        choose_band(errors, largest=100.0, people=20, epsilon=0.1, ledger=ledger, dataset="held out", request="few")
    with pytest.raises(InvalidArgument, match="errors"):
        choose_band([[1.0]], largest=1.0, people=900, epsilon=1.0, ledger=ledger, dataset="held out", request="bad")
    ledger.close_connection()


def test_one_person_moves_the_utility_of_a_width_by_no_more_than_stated() -> None:
    """The utilities of `choose_band`, by hand, for everybody and for everybody but one."""
    a, b, widths = 102, 922, np.linspace(1, 10, 20)
    errors = np.random.default_rng(2).random(50) * 10

    def utilities(known: NDArray[np.float64]) -> NDArray[np.int64]:
        within = (known[:, None] <= widths).sum(0)
        found: NDArray[np.int64] = -np.abs(a * within - b * (len(known) - within))
        return found

    moved = [np.abs(utilities(errors) - utilities(np.delete(errors, place))).max() for place in range(50)]
    assert max(moved) == b


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


def test_the_bound_without_delta_is_clopper_and_pearsons() -> None:
    coins = np.arange(400) % 2 == 0
    scores = np.where(np.arange(400) % 10 == 0, -1.0, 1.0) * np.where(coins, 1.0, -1.0)
    found = attack(scores, coins, guesses=400, delta=0.0)
    share = float(beta.ppf(0.05, found.right, found.guesses - found.right + 1))
    assert found.epsilon == pytest.approx(np.log(share / (1 - share)), abs=1e-4)
    assert attack(scores, coins, guesses=400, delta=1e-4).epsilon < found.epsilon


def test_randomised_response_is_not_wronged_and_a_leak_is_found(trials: Trials) -> None:
    """Coins told truthfully with chance e / (1 + e) are exactly ε = 1: a bound above it is a false alarm."""
    chance, runs, alarms = np.random.default_rng(1), trials(4000, least=400), 0
    truth = np.e / (1 + np.e)
    for _ in range(runs):
        coins = chance.random(200) < 0.5
        told = np.where(chance.random(200) < truth, coins, ~coins)
        alarms += attack(told + 0.0, coins, guesses=200, delta=0.0).refutes(1.0)
    assert binom.sf(alarms - 1, runs, 0.05) > 1e-9  # no more often than one time in twenty
    coins = toss(400, seeded(1))
    assert attack(coins + 0.0, coins, guesses=300, delta=1e-5).refutes(4.0)  # whoever tells all is caught
    assert attack(np.zeros(400), coins, guesses=300, delta=1e-5).epsilon < 1.0


def test_the_bound_holds_for_leaks_computed_exactly() -> None:
    """Responses that each leak with chance delta, and responses that leak all together with chance delta."""
    for epsilon, delta, count in ((0.5, 0.01, 8), (1.0, 0.1, 12), (0.0, 0.3, 5)):
        truth = np.exp(epsilon) / (1 + np.exp(epsilon))
        for right in range(count + 1):
            most = chance_under(epsilon, right, guesses=count, canaries=count, delta=delta)
            alone = binom.sf(right - 1, count, delta + (1 - delta) * truth)
            together = delta + (1 - delta) * binom.sf(right - 1, count, truth)
            assert max(alone, together) <= most * (1 + 1e-12)


def test_more_epsilon_explains_more_right_guesses() -> None:
    chances = [chance_under(epsilon, 150, guesses=200, canaries=400, delta=1e-5) for epsilon in (0.0, 0.5, 1.0, 2.0)]
    assert chances == sorted(chances)
    assert chance_under(0.0, 0, guesses=10, canaries=10, delta=0.0) == 1.0


def test_bad_attacks_are_refused() -> None:
    coins = np.array([True, False])
    for scores, included, guesses in (
        ([1.0], coins, 1),
        ([1.0, np.nan], coins, 1),
        ([1.0, 2.0], [1, 0], 1),
        ([1.0, 2.0], coins, 3),
    ):
        with pytest.raises(InvalidArgument):
            attack(scores, included, guesses=guesses, delta=0.0)
    canaries = make_canaries(INPUTS, 11)
    assert canaries.shape == (11, 6, 2)
    assert (~np.isnan(canaries)).sum(axis=(1, 2)).tolist() == [1] * 11
    assert (~np.isnan(canaries)).sum(axis=0).max() == 1
    with pytest.raises(InvalidArgument, match="count"):
        make_canaries(INPUTS, 13)
