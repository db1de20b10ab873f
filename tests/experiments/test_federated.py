from __future__ import annotations

import pytest
from experiments.federated import __main__ as experiment, households
from experiments.federated.attacking import attack_training
from experiments.federated.patients import generate_patients
from experiments.federated.sepsis import measure

pytestmark = pytest.mark.long


def test_the_reset_accountant_is_wrong_and_the_reference_is_met() -> None:
    whole, reset = experiment.accounting()
    assert "Rényi 5.878" in whole.ours
    assert "PLD 5.148" in whole.ours
    assert "ε = 3.4" in reset.source
    assert reset.verdict == "false"


def test_training_learns_and_secure_aggregation_changes_next_to_nothing() -> None:
    patients = generate_patients(2000)
    without = measure(patients, epsilon=None, seeds=1, rounds=6)
    private, secure = (measure(patients, epsilon=8.0, seeds=1, rounds=2, secure=ring) for ring in (False, True))
    assert without.mean > 0.55
    assert abs(secure.mean - private.mean) < 1e-3


def test_a_private_forecaster_beats_the_last_value() -> None:
    error, naive = households.errors(epsilon=4.0, people=300, seeds=1, rounds=10)
    assert error < naive


def test_the_attack_catches_training_without_noise_alone() -> None:
    bare, claimed = attack_training(None, epsilon=4.0, rounds=4, noise=False)
    hidden, _ = attack_training(None, epsilon=4.0, rounds=4, noise=True)
    assert bare.refutes(claimed)
    assert not hidden.refutes(claimed)
