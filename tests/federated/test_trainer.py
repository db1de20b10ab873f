"""A holder's rounds: paid before drawn, stored before told, repeated as they were."""

from __future__ import annotations

import hashlib
import signal
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import nn

import chronodp as cdp
from chronodp.accounting import pld, renyi
from chronodp.errors import BudgetExhausted, InvalidArgument, StreamConflict
from chronodp.federated import Federation, Holder
from chronodp.federated.budgeting import check_budget, check_people, ledger_epsilon, noise_for
from chronodp.federated.choosing import choose_model
from chronodp.federated.forecasts import choose_band, forecast, worst_errors
from chronodp.federated.models import Architecture, Convolution, ModelDesign, Recurrent
from chronodp.federated.training import (
    Trainer,
    TrainingPlan,
    area_under_curve,
    losses_of_people,
    plan_training,
    predict,
    read_people,
    read_plan,
)
from chronodp.federated.training.clipping import whole_rows
from chronodp.federated.training.gradients import PersonGradients
from chronodp.privacy import (
    BoundedRangeCost,
    PureCost,
    RepeatedCost,
    SampledGaussianCost,
    SequenceCost,
    User,
    dump,
    load,
)
from chronodp.randomness import seeded
from tests import forkserver
from tests.cases import case
from tests.cli.clinics import MODEL, TOP
from tests.conftest import Trials
from tests.federated.people import design, make_people, make_plan, make_trainer, open_ledger


def test_a_round_is_paid_once_and_repeated_as_stored(tmp_path: Path) -> None:
    plan = make_plan()
    start = plan.model.first_parameters()
    with open_ledger(tmp_path, plan, "north") as ledger:
        holder = make_trainer(plan, ledger)
        assert isinstance(holder, Holder)
        first = holder.update(1, start)
        assert np.array_equal(holder.update(1, start), first)
        assert len(ledger.history("north")) == 1
        second = holder.update(2, start)
        assert not np.array_equal(first, second)
        assert [entry.purpose for entry in ledger.history("north")] == ["trial/north/round 2", "trial/north/round 1"]
    with cdp.Ledger(tmp_path / "budget.db") as ledger:  # a new process with other noise, and even other data
        again = make_trainer(plan, ledger, people=make_people(61))
        assert np.array_equal(again.update(1, start), first)
        assert len(ledger.history("north")) == 2


@pytest.mark.slow
def test_another_model_under_the_same_round_is_refused(tmp_path: Path) -> None:
    plan = make_plan()
    start = plan.model.first_parameters()
    with open_ledger(tmp_path, plan, "north") as ledger:
        make_trainer(plan, ledger).update(1, start)
        with pytest.raises(StreamConflict, match="another plan"):
            make_trainer(plan, ledger).update(1, start + np.float32(1))
        with pytest.raises(StreamConflict, match="another plan"):
            make_trainer(make_plan(learning_rate=0.5), ledger).update(1, start)
        assert len(ledger.history("north")) == 1


def test_an_update_is_what_the_steps_say(tmp_path: Path) -> None:
    """Two steps by hand, with the same entropy."""
    plan = make_plan(momentum=0.5)
    start = plan.model.first_parameters()
    with open_ledger(tmp_path, plan, "north") as ledger:
        found = make_trainer(plan, ledger, entropy=seeded(5)).update(1, start)
    values, targets = make_people(60, seed=sum(map(ord, "north")))
    inputs, wanted = plan.model.inputs.prepare(values), plan.model.outcome.prepare(targets)
    gradients, entropy = PersonGradients(plan.model.build(), plan.model.outcome, (6, 4)), seeded(5)
    at, speed = start, np.zeros(len(start))
    for _ in range(2):
        inside = np.flatnonzero(entropy.coins(int(0.2 * 2**62 // 1), 2**62, 60))
        rows = np.concatenate(list(gradients.rows(at, inputs[inside], wanted[inside])))
        noisy = whole_rows(rows, clip=1.0, resolution=2**18).sum(0) + entropy.gaussian(2.0**18, len(start))
        speed = 0.5 * speed + noisy / 2**18 / (0.2 * 60)  # the declared 60, whoever was sampled
        at = (at - speed).astype(np.float32)
    assert found == pytest.approx((at - start) * 0.5, abs=1e-5)


def test_only_the_declared_number_of_people_scales(tmp_path: Path) -> None:
    """With nobody there, an update is noise of the declared scale: no division by an empty sample."""
    plan = make_plan(local_steps=1)
    with open_ledger(tmp_path, plan, "north") as ledger:
        holder = make_trainer(plan, ledger, people=make_people(0), entropy=seeded(1))
        update = holder.update(1, plan.model.first_parameters())
    noise = seeded(1)
    noise.coins(1, 2, 0)
    expected = noise.gaussian(2.0**18, len(update)) / 2**18 / 12 * 0.5
    assert update == pytest.approx(-expected, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("architecture", [Recurrent(3), Convolution(3, 2, 2)], ids=str)
def test_a_run_that_stops_goes_on_with_the_same_bits(tmp_path: Path, architecture: Architecture) -> None:
    """Also where groups have other sizes: they change how long a step takes, and no bit of it."""
    plan = make_plan(design(architecture))
    start = plan.model.first_parameters()
    with open_ledger(tmp_path, plan, "whole", "parts") as ledger:

        def holder(dataset: str, sizes: str, seed: int) -> Trainer:
            people = make_people(60)
            return make_trainer(plan, ledger, dataset, people=people, entropy=seeded(seed), group_sizes=sizes)

        whole = [holder("whole", "one", number).update(number, start) for number in (1, 2, 3)]
        for number in (1, 2, 3):  # a process of its own each
            assert np.array_equal(holder("parts", "several", number).update(number, start), whole[number - 1])
        again = holder("parts", "one", 9)
        assert all(np.array_equal(again.update(number, start), whole[number - 1]) for number in (1, 2, 3))


@pytest.mark.slow
def test_seeds_repeat_a_run_and_are_told(tmp_path: Path) -> None:
    plan = make_plan(design(Recurrent(3)))
    models = []
    for attempt in range(2):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        with open_ledger(folder, plan, "north", "south") as ledger:
            holders = [make_trainer(plan, ledger, name, entropy=seeded(name)) for name in ("north", "south")]
            models.append(Federation(holders, plan.task(), start=plan.model.first_parameters()).run())
            assert "SEEDED RUN" in str(holders[0].certificate)
            quiet = make_trainer(plan, ledger, "north")
            assert "SEEDED RUN" not in str(quiet.certificate)
            quiet.update(1, plan.model.first_parameters())  # stored by a seeded run
            assert "SEEDED RUN" in str(quiet.certificate)
    assert np.array_equal(models[0], models[1])


@pytest.mark.slow
def test_training_learns(tmp_path: Path) -> None:
    from chronodp.federated.training import StepDesign

    step = StepDesign(clip=1.0, sigma=0.5, rate=0.5)
    plan = make_plan(design(Convolution(4, 2, 2)), step=step, rounds=6, local_steps=4, learning_rate=0.5)
    start = plan.model.first_parameters()
    values, targets = make_people(400, seed=9)
    with open_ledger(tmp_path, plan, "north", "south") as ledger:
        holders = [make_trainer(plan, ledger, name, entropy=seeded(name)) for name in ("north", "south")]
        done = Federation(holders, plan.task(), start=start).run()
        assert len(ledger.history("north")) == 6
    before, after = (area_under_curve(predict(plan.model, at, values), targets) for at in (start, done))
    assert after > max(0.8, before)
    losses = [losses_of_people(plan.model, at, values, targets).mean() for at in (start, done)]
    assert losses[1] < losses[0]


def test_missing_and_absurd_values_are_no_reason_to_stop(tmp_path: Path) -> None:
    plan = make_plan()
    values, targets = make_people(60)
    values[:20], values[20, 0], targets[5] = np.nan, np.inf, np.nan
    values[21] = 1e300
    with open_ledger(tmp_path, plan, "north") as ledger:
        holder = make_trainer(plan, ledger, people=(values, targets))
        assert np.isfinite(holder.update(1, plan.model.first_parameters())).all()


def test_bad_holders_are_refused_before_anything_is_spent(tmp_path: Path) -> None:
    plan = make_plan()
    values, targets = make_people(60)
    with open_ledger(tmp_path, plan, "north") as ledger:
        good = {"people": 60, "all_people": 120, "ledger": ledger, "dataset": "north", "name": "north", "run": "trial"}
        cases: list[tuple[str, tuple[object, ...], dict[str, object]]] = [
            ("people must be at least 50", (plan, values, targets), {"people": 40}),
            ("delta must be at most", (plan, values, targets), {"people": 2000, "all_people": 2000}),
            ("all_people", (plan, values, targets), {"all_people": 59}),
            ("targets", (plan, values, targets[:-1]), {}),
            ("values", (plan, values[:, :, :1], targets), {}),
            ("values", (plan, "people", targets), {}),
            ("plan", (None, values, targets), {}),
            ("name must be a name of up to 64", (plan, values, targets), {"name": "a/b"}),
            ("run must be a name of up to 64", (plan, values, targets), {"run": "the spring"}),
            ("BatchNorm1d", (plan, values, targets), {"network": nn.Sequential(nn.Flatten(-2), nn.BatchNorm1d(24))}),
            ("entropy", (plan, values, targets), {"entropy": np.random.default_rng(0)}),
            ("group_sizes must be one or several", (plan, values, targets), {"group_sizes": "many"}),
            ("device must be cpu", (plan, values, targets), {"device": "tpu"}),
        ]
        for named, arguments, changes in cases:
            with pytest.raises(InvalidArgument, match=named):
                Trainer(*arguments, **(good | changes))  # type: ignore[arg-type]
        holder = make_trainer(plan, ledger)
        start = plan.model.first_parameters()
        for wrong in (start[:-1], start * np.float32(np.nan), start.reshape(1, -1), list(start)):
            with pytest.raises(InvalidArgument, match="parameters must be 25 finite numbers"):
                holder.update(1, wrong)  # type: ignore[arg-type]
        for number in (0, 4, 1.0):
            with pytest.raises(InvalidArgument, match="round_number"):
                holder.update(number, start)  # type: ignore[arg-type]
        assert not ledger.history("north")
        assert "." not in repr(holder)


def test_a_network_of_ones_own_trains(tmp_path: Path) -> None:
    plan = make_plan()
    network = nn.Sequential(nn.Flatten(-2), nn.Linear(24, 5), nn.LayerNorm(5), nn.Tanh(), nn.Linear(5, 1))
    with open_ledger(tmp_path, plan, "north") as ledger:
        holder = make_trainer(plan, ledger, network=network)
        start = plan.model.first_parameters(network)
        assert holder.task.size == len(start) != make_trainer(plan, ledger).task.size
        assert holder.update(1, start).any()


@pytest.mark.kill
@pytest.mark.parametrize("point", ["stream written", "stream committed", "step written", "step committed"])
def test_each_round_is_paid_once_and_told_with_one_value(point: str, tmp_path: Path, trials: Trials) -> None:
    rounds, told = make_plan().rounds, dict[str, set[str]]()
    for number in range(trials(20, least=1)):
        victim = forkserver.start("-m", "tests.federated.victim", str(tmp_path), point, str(1 + number % 2))
        died = victim.wait(120.0)
        victim.close()
        with cdp.Ledger(tmp_path / "budget.db") as ledger:
            charges = len(ledger.history("north"))
        file = tmp_path / "told.txt"
        told.clear()
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
            round_number, digest = line.split()
            told.setdefault(round_number, set()).add(digest)
        assert all(len(values) == 1 for values in told.values())
        assert len(told) <= charges <= rounds
        if died == 0:
            break
        assert died == -signal.SIGKILL
    plan = make_plan()
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("north", unit=cdp.User(), epsilon=plan.ledger_epsilon, delta=plan.delta, rule="renyi")
        holder = make_trainer(plan, ledger)
        for number in range(1, rounds + 1):
            found = hashlib.sha256(holder.update(number, plan.model.first_parameters()).tobytes()).hexdigest()
            assert told.get(str(number), {found}) == {found}
        assert len(ledger.history("north")) == rounds


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
