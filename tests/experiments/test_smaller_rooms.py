"""Rooms of experiments with few tests: alerts, federated training, choosing a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.alerts import claims as alerts
from experiments.alerts.air import make_days, read_days
from experiments.alerts.comparisons import chance_of_alarm
from experiments.alerts.detection import measure_detection
from experiments.federated import claims as federated
from experiments.federated.accounting import DELTA, STEPS, distribution_epsilon, renyi_epsilon
from experiments.model_selection import claims as model_selection
from experiments.model_selection.accuracy import ORDERS, accuracy, generated_people, people_losses, utilities_of
from tests.experiments.rooms import check_room, check_words, find_all, series, stated

from chronodp.selection import ExponentialMechanism, PermuteAndFlip

pytestmark = pytest.mark.slow


@stated
def test_verdicts_of_alerts() -> None:
    findings = find_all(alerts.claims(series()))
    check_words(findings, "alerts.json", {})
    assert all(one.word == "as expected" for name, one in findings.items() if name.startswith("N"))
    assert round(chance_of_alarm(), 4) == 0.0536
    check_room(findings, "alerts")


def test_an_alert_is_near_the_bad_air_where_the_budget_is_large() -> None:
    rows = measure_detection(make_days(), runs=5)
    assert abs([row for row in rows if row.noise == "exponential noise"][-1].delay) < 30


def test_a_file_is_read_day_by_day(tmp_path: Path) -> None:
    path = tmp_path / "air.csv"
    path.write_text("date,CO2,Light\n2026-01-01 10:00:00,450,1\n2026-01-02 10:00:00,900,0\n2026-01-02 09:59:00,800,0\n")
    assert [day.tolist() for day in read_days(path)] == [[450.0], [800.0, 900.0]]


@stated
def test_verdicts_of_federated() -> None:
    findings = find_all(federated.claims(series()))
    check_words(findings, "federated.json", {})
    assert {one.word for name, one in findings.items() if name.startswith("N")} == {"as expected"}
    check_room(findings, "federated")


def test_the_account_meets_the_reference() -> None:
    assert round(renyi_epsilon(STEPS, DELTA), 3) == 5.878
    assert round(distribution_epsilon(STEPS), 3) == 5.148


@stated
def test_votes_find_the_order_and_raw_losses_do_not() -> None:
    findings = find_all(model_selection.claims(series()))
    check_words(findings, "model_selection.json", {})
    assert findings["A20"].word == "holds only: utilities whose sensitivity is bounded"
    assert {one.word for name, one in findings.items() if name.startswith("N")} == {"as expected"}
    check_room(findings, "model_selection")


def test_accuracy_grows_with_epsilon_and_is_best_by_permute_and_flip() -> None:
    utilities = utilities_of(people_losses(generated_people(people=20, length=100)))
    for values in utilities.values():
        assert len(values) == len(ORDERS)
        found = [accuracy(values, PermuteAndFlip(), epsilon) for epsilon in (0.1, 0.5, 2.0)]
        assert found == sorted(found)
        assert accuracy(values, ExponentialMechanism(), 0.5) <= found[1]
        assert accuracy(values, PermuteAndFlip(), 0.5, replaced=True) <= found[1]
