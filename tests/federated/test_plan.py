"""Prices before data: calibration, rounds and holders that compose, what a ledger must hold."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chronodp as cdp
from chronodp.accounting import pld, renyi
from chronodp.errors import BudgetExhausted, InvalidArgument
from chronodp.federated.budgeting import check_budget, check_people, ledger_epsilon, noise_for
from chronodp.federated.models import ModelDesign
from chronodp.federated.training import TrainingPlan, plan_training, read_people, read_plan
from chronodp.privacy import RepeatedCost, SampledGaussianCost, SequenceCost, User, dump, load
from tests.cases import case
from tests.cli.clinics import MODEL, TOP
from tests.federated.people import design, make_plan, open_ledger


@pytest.mark.slow
def test_noise_is_the_least_that_meets_the_target() -> None:
    sigma = noise_for(epsilon=5.148263, delta=1e-5, rate=0.1, steps=50)
    assert sigma == pytest.approx(1.0, rel=2e-3)

    def price(noise: float) -> float:
        return pld.epsilon(RepeatedCost(SampledGaussianCost(1.0, noise, 0.1), 50), 1e-5)

    assert price(sigma) <= 5.148263 < price(sigma * 0.998)
    with pytest.raises(InvalidArgument, match="epsilon"):
        noise_for(epsilon=1e-9, delta=1e-12, rate=0.5, steps=1000)


@pytest.mark.slow
def test_rounds_and_holders_count_what_a_person_pays() -> None:
    whole = make_plan(rounds=1, local_steps=50)
    cut = make_plan(rounds=10, local_steps=5)
    assert cut.cost == whole.cost
    rounds = SequenceCost((cut.round_cost,) * 10)
    assert renyi.epsilon(rounds, 1e-5) == renyi.epsilon(whole.cost, 1e-5)
    assert pld.epsilon(rounds, 1e-5) == pld.epsilon(whole.cost, 1e-5)
    forgetful = pld.epsilon(cut.round_cost, 1e-5)  # what an accountant that starts anew each round would say
    assert forgetful < 0.7 * pld.epsilon(rounds, 1e-5)
    once, thrice = make_plan(), make_plan(holders_per_person=3)
    assert thrice.cost == RepeatedCost(once.step.cost, 3 * once.rounds * once.local_steps)
    assert thrice.epsilon > once.epsilon
    assert thrice.round_cost == once.round_cost  # each holder's ledger pays for what that holder does
    assert "at most 3 holders" in str(thrice)


def test_a_budget_of_the_stated_size_pays_for_all_rounds_and_no_more(tmp_path: Path) -> None:
    plan = make_plan(rounds=7, delta=1e-5)
    assert plan.epsilon < plan.renyi_epsilon < plan.ledger_epsilon
    with open_ledger(tmp_path, plan, "north") as ledger:
        for _ in range(plan.rounds):
            ledger.spend("north", plan.round_cost, unit=User())
        with pytest.raises(BudgetExhausted, match=r"spent .*; this needs .* at most .* fits"):
            ledger.spend("north", plan.round_cost, unit=User())
    tight = ledger_epsilon(plan.round_cost, times=7, delta=1e-5) * (1 - 1e-6)
    with cdp.Ledger(tmp_path / "less.db") as ledger:
        ledger.open("north", unit=User(), epsilon=tight, delta=1e-5, rule="renyi")
        for _ in range(plan.rounds - 1):
            ledger.spend("north", plan.round_cost, unit=User())
        with pytest.raises(BudgetExhausted):
            ledger.spend("north", plan.round_cost, unit=User())


def test_other_rules_and_large_deltas_are_refused_with_the_reason(tmp_path: Path) -> None:
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("north", unit=User(), epsilon=4.0, delta=1e-5)
        with pytest.raises(InvalidArgument, match=r"rule='renyi'.*as much as everybody"):
            check_budget(ledger, "north")
    with pytest.raises(InvalidArgument, match="a Ledger"):
        check_budget(None, "north")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"delta must be at most 1 / people = 0.001: .*at random"):
        check_people(1000, delta=2e-3)
    assert check_people(1000, delta=2e-3, accept_large_delta=True) == 1000
    assert check_people(1000, delta=1e-3) == 1000
    with pytest.raises(InvalidArgument, match="people must be at least 500"):
        check_people(400, delta=1e-6, fewest=500)


def test_bad_plans_are_refused() -> None:
    changes: Any
    for changes, named in [
        ({"delta": 0.1}, "delta"),
        ({"batch": 100}, "batch"),
        ({"batch": 1000}, "batch"),
        ({"batch": 0}, "batch"),
        ({"rounds": 0}, "rounds"),
        ({"local_steps": 1.5}, "local_steps"),
        ({"holders_per_person": 0}, "holders_per_person"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"momentum": 1.0}, "momentum"),
        ({"model": "gru"}, "model"),
    ]:
        with case(changes, named):
            options: dict[str, object] = {
                "epsilon": 8.0,
                "delta": 1e-3,
                "people": 100,
                "batch": 10,
                "rounds": 1,
                "local_steps": 2,
            }
            model = changes.pop("model", design())
            with pytest.raises(InvalidArgument, match=f"^{named} "):
                plan_training(model, **(options | changes))


@pytest.mark.slow
def test_a_plan_has_a_json_form_and_a_task() -> None:
    plan = plan_training(design(), epsilon=8.0, delta=1e-3, people=100, batch=20, rounds=2, local_steps=2)
    assert (
        plan.epsilon <= 8.0 < pld.epsilon(RepeatedCost(SampledGaussianCost(1.0, 0.99 * plan.step.sigma, 0.2), 4), 1e-3)
    )
    again: TrainingPlan = load(dump(plan), TrainingPlan)
    assert again == plan
    assert again.fingerprint == plan.fingerprint
    task = plan.task()
    assert (task.rounds, task.size, task.clip) == (2, 25, 4.0)
    other: ModelDesign = design(horizon=2)
    assert make_plan(other).task().model != make_plan().task().model
    certificate = plan.certificate(seeded=False)
    assert certificate.claim.cost == plan.cost
    assert certificate.guarantee.epsilon == plan.epsilon


HEADER = "patient,hour,pulse,temperature,label"
PATIENTS = ("01", "1", "x, y")


@pytest.mark.slow
def test_rows_of_others_leave_a_person_as_they_are(tmp_path: Path) -> None:
    for clock in ["{}", "2026-01-{:02d}"]:
        for odd in ["", "z,3,70", "z,3,70,36.5,1,8,9", 'z,"3",many,36.5,0', "#"]:
            folder = Path(tempfile.mkdtemp(dir=tmp_path))
            with case(clock, odd):
                plan, table = folder / "people.toml", folder / "north.csv"
                plan.write_text(f'{TOP}{MODEL}[holders.north]\ndata = "north.csv"\npeople = 50\n', encoding="utf-8")
                rows = [
                    f'"{patient}",{clock.format(hour)},{60 + 10 * place + hour},36.5,{place % 2}'
                    for place, patient in enumerate(PATIENTS)
                    for hour in reversed(range(1, 13))
                ]
                table.write_text("\n".join([HEADER, odd, *rows]), encoding="utf-8")
                people = read_people(read_plan(plan), table)
                for place in range(len(PATIENTS)):
                    np.testing.assert_array_equal(people.values[place, :, 0], 60 + 10 * place + np.arange(1, 13))
                np.testing.assert_array_equal(people.targets[: len(PATIENTS)], [0, 1, 0])
