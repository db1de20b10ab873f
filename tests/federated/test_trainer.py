"""A holder's rounds: paid before drawn, stored before told, repeated as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torch import nn

import chronodp as cdp
from chronodp.errors import BudgetExhausted, InvalidArgument, StreamConflict
from chronodp.federated import Federation, Holder
from chronodp.federated.models import Architecture, Convolution, Recurrent
from chronodp.federated.training import Trainer, area_under_curve, losses_of_people, predict
from chronodp.federated.training.clipping import whole_rows
from chronodp.federated.training.gradients import PersonGradients
from chronodp.randomness import seeded
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
        again = make_trainer(plan, ledger, count=61)
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


def test_training_stops_at_the_budget(tmp_path: Path) -> None:
    plan = make_plan(rounds=3)
    start = plan.model.first_parameters()
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        less = make_plan(rounds=2).ledger_epsilon
        ledger.open("north", unit=cdp.User(), epsilon=less, delta=plan.delta, rule="renyi")
        holder = make_trainer(plan, ledger)
        holder.update(1, start)
        holder.update(2, start)
        with pytest.raises(BudgetExhausted, match=r"spent .*; this needs .* at most .* fits"):
            holder.update(3, start)
        assert len(ledger.history("north")) == 2


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
        holder = make_trainer(plan, ledger, entropy=seeded(1), count=0)
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
    values, targets = make_people(60)
    with open_ledger(tmp_path, plan, "whole", "parts") as ledger:

        def holder(dataset: str, sizes: str, seed: int) -> Trainer:
            return Trainer(
                plan,
                values,
                targets,
                people=60,
                all_people=60,
                ledger=ledger,
                dataset=dataset,
                name=dataset,
                run="trial",
                entropy=seeded(seed),
                group_sizes=sizes,
            )

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
def test_training_learns_and_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    from chronodp.federated.training import StepDesign

    step = StepDesign(clip=1.0, sigma=0.5, rate=0.5)
    plan = make_plan(design(Convolution(4, 2, 2)), step=step, rounds=6, local_steps=4, learning_rate=0.5)
    file = tmp_path / "model.npz"
    start = plan.model.first_parameters()
    values, targets = make_people(400, seed=9)
    with open_ledger(tmp_path, plan, "north", "south") as ledger:
        holders = [make_trainer(plan, ledger, name, entropy=seeded(name)) for name in ("north", "south")]
        first = Federation(holders, plan.task(), start=start, checkpoint=file).rounds()
        told = [next(first).number, next(first).number]
        again = Federation(holders, plan.task(), start=start, checkpoint=file)
        done = again.run(lambda made: told.append(made.number))
        assert told == [1, 2, 3, 4, 5, 6]
        assert len(ledger.history("north")) == 6
        whole = Federation(holders, plan.task(), start=start).run()  # every round is stored by now
        assert np.array_equal(whole, done)
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
        holder = Trainer(
            plan, values, targets, people=60, all_people=60, ledger=ledger, dataset="north", name="north", run="absurd"
        )
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
    values, targets = make_people(60)
    with open_ledger(tmp_path, plan, "north") as ledger:
        holder = Trainer(
            plan,
            values,
            targets,
            people=60,
            all_people=60,
            ledger=ledger,
            dataset="north",
            name="north",
            run="own",
            network=network,
        )
        start = plan.model.first_parameters(network)
        assert holder.task.size == len(start) != make_trainer(plan, ledger).task.size
        assert holder.update(1, start).any()


def test_a_holder_alone_trains_with_nobody_to_hide_from(tmp_path: Path) -> None:
    plan = make_plan()
    start = plan.model.first_parameters()
    with open_ledger(tmp_path, plan, "north") as ledger:
        holder = make_trainer(plan, ledger, entropy=seeded(1))
        with pytest.raises(InvalidArgument, match="holders must be"):
            Federation([holder], plan.task(), start=start)
        made = list(Federation([holder], plan.task(), aggregation="plain", start=start).rounds())
        grid = plan.update_clip / (2**31 - 1)
        assert np.abs(made[0].parameters - start - holder.update(1, start)).max() < grid + 1e-6
        assert [one.survivors for one in made] == [("north",)] * plan.rounds
