"""Private filters: sensitivities by brute force, exact laws, predicted errors, storage, crashes, what is refused."""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import forkserver
from tests.conftest import Trials
from tests.state_space.systems import drawn, scalar, thermal

import chronodp as cdp
from chronodp.audit.exact import examine
from chronodp.errors import InvalidArgument, MissingBound, StreamConflict, UnitMismatch
from chronodp.privacy import Bounds, Contribution, Report, Unit, dump, load, per_period
from chronodp.privacy.touched import Touched, touched_periods
from chronodp.randomness import Entropy, seeded
from chronodp.series.noise import Noise
from chronodp.state_space import (
    CausedChange,
    MeasuredChange,
    PrivateFilter,
    StateSpace,
    design_filter,
    error_with_gain,
    errors_by_epsilon,
    impulse_response,
    plot_errors,
    rehearse_filter,
    solve_steady,
)
from chronodp.state_space.changes import cause_sensitivity
from chronodp.state_space.filter import Belief, first_belief
from chronodp.state_space.perturb import perturb

DESIGN = {"change": 1.0, "unit": cdp.Event(), "epsilon": 1.0, "delta": 1e-5}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("room", unit=cdp.Event(), epsilon=4.0, delta=1e-4)
        yield opened


def test_touched_periods_are_those_of_every_other_release(subtests: pytest.Subtests) -> None:
    units: list[tuple[Any, int | None]] = [
        (cdp.Event, None),
        (cdp.User, 3),
        (lambda relation: cdp.Window(4, relation), None),
    ]
    for unit, max_periods in units:
        for relation in ["add_remove", "replace"]:
            with subtests.test(relation=relation, unit=unit, max_periods=max_periods):
                for horizon in (4, 5, 20):
                    protected: Unit = unit(relation=relation)
                    touched = touched_periods(protected, horizon=horizon, max_periods=max_periods)
                    known = per_period(protected, Bounds(horizon, max_periods), Contribution.change(1.0))
                    assert touched.periods == known.l1 == pytest.approx(known.l2**2)


def brute_force(model: StateSpace, horizon: int, steps: tuple[int, ...]) -> tuple[float, float]:
    """The largest l1 and l2 change of all measurements over inputs of ±1 in the given steps."""
    response = impulse_response(model, horizon)
    inputs = response.shape[2]
    most = [0.0, 0.0]
    for signs in itertools.product((-1.0, 1.0), repeat=len(steps) * inputs):
        change = np.zeros((horizon, model.channels))
        for place, step in enumerate(steps):
            change[step:] += response[: horizon - step] @ np.array(signs[place * inputs : (place + 1) * inputs])
        most = [max(most[0], np.abs(change).sum()), max(most[1], float(np.linalg.norm(change)))]
    return most[0], most[1]


def test_causes_reach_no_farther_than_stated(subtests: pytest.Subtests) -> None:
    for seed in range(6):
        with subtests.test(seed=seed):
            generator = np.random.default_rng(seed)
            model = replace(
                drawn(generator, 2 + seed % 2, 1 + seed % 2), cause=generator.normal(size=(2 + seed % 2, 1 + seed % 2))
            )
            horizon = 7
            for count, together in ((1, True), (3, True), (2, False), (3, False)):
                stated = cause_sensitivity(model, CausedChange(1.0), Touched(count, together), horizon=horizon)
                places = (
                    [tuple(range(first, first + count)) for first in range(horizon - count + 1)]
                    if together
                    else list(itertools.combinations(range(horizon), count))
                )
                found = [brute_force(model, horizon, steps) for steps in places]
                assert max(l1 for l1, _ in found) <= stated.l1
                assert max(l2 for _, l2 in found) <= stated.l2
                if count == 1 and response_is_one_input(model):
                    assert max(l2 for _, l2 in found) == pytest.approx(stated.l2, rel=1e-8)


def response_is_one_input(model: StateSpace) -> bool:
    return len(model.cause[0]) == 1


def test_golden_pulses_of_occupancy(golden: Any) -> None:
    known = golden("applications/kalman.json")
    building = replace(thermal(known), cause=[[row[0]] for row in known["thermal2"]["B"]])
    for name, sensitivity in known["thermal2"]["dp"]["occupancy_pulse_l2_sensitivity_of_y"].items():
        steps = int(name.split("_", maxsplit=1)[0])
        found = cause_sensitivity(building, CausedChange(0.1), Touched(steps, together=True), horizon=2**14)
        assert found.l2 == pytest.approx(sensitivity, rel=1e-6)


def test_noise_for_every_statement_of_sensitivity(golden: Any) -> None:
    known = golden("applications/kalman.json")
    for periods in (24, 96, 720):
        design = design_filter(
            scalar(), change=1.0, unit=cdp.User(), max_periods=periods, horizon=1000, epsilon=1.0, delta=1e-5
        )
        assert design.noise.law == "gaussian"
        assert design.noise.scale == pytest.approx(known["user_level_sigma"][f"T={periods}"], rel=2e-4)
    for row in known["thermal2"]["designs_eps1_delta1e-5"][:2]:
        clip = 0.5 if "clip" in row["design"] else None
        design = design_filter(thermal(known), change=15.0, unit=cdp.Event(), clip=clip, epsilon=1.0, delta=1e-5)
        assert design.noise.sensitivity == pytest.approx(row["l2_sens_event"], rel=1e-5)
    # Two channels of one measurement both change.
    two = StateSpace([[0.9]], [[1.0], [2.0]], [[1.0]], np.eye(2))
    assert design_filter(two, change=1.0, unit=cdp.Event(), epsilon=1.0).noise.sensitivity == pytest.approx(
        2.0, rel=1e-5
    )
    caused = replace(scalar(), cause=[[1.0]])
    design = design_filter(caused, change=CausedChange(1.0), unit=cdp.Window(3), horizon=500, epsilon=1.0, delta=1e-5)
    assert [assumption.name for assumption in design.assumptions] == ["linear response"]
    assert load(dump(design), type(design)) == design


def coarse(clip: float | None) -> Any:
    """Two steps with Laplace noise on a grid coarse enough to enumerate: ε = 16 for a change of 2."""
    design = design_filter(scalar(initial_covariance=[[1.0]]), change=2.0, unit=cdp.Event(), clip=clip, epsilon=16.0)
    return replace(design, noise=Noise("laplace", 2.0, 0.125, 1.0))


@pytest.mark.parametrize("clip", [None, 1.0])
@pytest.mark.slow
def test_every_outcome_of_two_steps(clip: float | None) -> None:
    design = coarse(clip)
    prior = first_belief(design.model, added=design.added)

    def released(values: tuple[float, float], *, entropy: Entropy) -> object:
        return perturb(design, prior, np.array(values)[:, None], entropy)[0]

    finding = examine(released, [((-1.0, 0.0), (1.0, 0.0)), ((5.0, 1.0), (5.0, -1.0))])
    assert not finding.refutes(16.0 * (1 + 1e-9))
    assert finding.epsilon > 15.99  # and it is attained
    if clip is not None:  # with which even the largest change costs no more
        assert not examine(released, [((-50.0, 0.0), (50.0, 0.0))]).refutes(16.0 * (1 + 1e-9))


def test_noise_on_the_measurement_is_noise_on_the_innovation_in_a_closed_loop() -> None:
    """The state is the same up to rounding whether noise goes on measurements or on surprises."""
    design = design_filter(scalar(), **DESIGN)  # type: ignore[arg-type]  # of several kinds
    values = np.cumsum(np.random.default_rng(5).normal(size=(400, 1)), axis=0) * 0.1
    prior = first_belief(design.model, added=design.added)
    open_loop = perturb(design, prior, values, seeded(3))[1]
    wide = replace(design, clip=1e6)
    closed_loop = perturb(wide, prior, values, seeded(3))[1]
    np.testing.assert_allclose(closed_loop.value, open_loop.value, atol=1e-12)


@pytest.mark.parametrize("name", ["scalar", "thermal"])
@pytest.mark.slow
def test_simulated_error_is_the_predicted_one(name: str, golden: Any) -> None:
    model = scalar() if name == "scalar" else thermal(golden("applications/kalman.json"))
    design = design_filter(model, change=0.5, unit=cdp.Event(), epsilon=1.0, delta=1e-5)
    steps = 100_000 if name == "scalar" else 1_000_000  # walls forget slowly
    rehearsed = rehearse_filter(design, steps=steps, entropy=seeded(8))
    assert rehearsed.simulated == pytest.approx(rehearsed.predicted, rel=0.02 if name == "scalar" else 0.04)
    # The same test rejects noise that is a third too wide.
    wider = replace(design, noise=replace(design.noise, scale=design.noise.scale * 1.33))
    other = rehearse_filter(wider, steps=steps, entropy=seeded(8))
    assert other.simulated != pytest.approx(rehearsed.predicted, rel=0.02 if name == "scalar" else 0.04)


def test_the_gain_made_for_the_noise_is_the_best_of_all_gains() -> None:
    model, added = scalar(), 4.0
    best = solve_steady(model, added=added)
    for factor in (0.8, 0.95, 1.05, 1.2):
        assert error_with_gain(model, best.gain * factor, added=added)[0, 0] > best.posterior[0, 0]


@pytest.mark.slow
def test_clipping_is_optimistic_and_says_so(golden: Any, trials: Trials) -> None:
    known = golden("applications/kalman.json")
    model = thermal(known)
    steps = trials(100_000, least=10_000)
    loose, tight = (
        rehearse_filter(
            design_filter(model, change=15.0, unit=cdp.Event(), clip=clip, epsilon=2.7, delta=0.0),
            steps=steps,
            entropy=seeded(4),
        )
        for clip in (0.5, 0.05)
    )
    assert loose.clipped < 0.01
    assert tight.clipped > 0.2
    assert tight.optimism > 0.05 + abs(loose.optimism)


def test_errors_against_epsilon_and_their_figure() -> None:
    table = errors_by_epsilon(scalar(), [0.1, 1.0, 10.0], change=1.0, unit=cdp.Event(), delta=1e-5)
    assert table["rmse"].is_monotonic_decreasing
    assert (table["rmse"] <= table["rmse_old_gain"] + 1e-12).all()
    assert (table["rmse_exact"] <= table["rmse"]).all()
    assert (table["rmse"] <= table["rmse_blind"]).all()
    figure = plot_errors(table)
    assert [trace.name for trace in figure.data] == ["state 0", "state 0"]
    assert figure.layout.xaxis.type == "log"
    walk = errors_by_epsilon(StateSpace([[1.0]], [[1.0]], [[1.0]], [[1.0]]), [1.0], change=1.0, unit=cdp.Event())
    assert math.isinf(walk["rmse_blind"][0])


def test_a_filter_goes_on_where_it_stopped(ledger: cdp.Ledger) -> None:
    design = design_filter(scalar(), horizon=8, **DESIGN)  # type: ignore[arg-type]  # of several kinds
    live = PrivateFilter(design, ledger=ledger, dataset="room", name="heat", entropy=seeded(1))
    values = [[0.5], [float("nan")], [1.5], [0.2]]
    whole = live.steps(values)
    assert live.step(None).period == 4
    again = PrivateFilter.resume(ledger, "heat", entropy=seeded(2))
    assert again.period == 5
    np.testing.assert_allclose(again.filtered().value[:4], whole.value, atol=1e-12)
    assert np.isnan(again.released()[[1, 4]]).all()
    mutant = PrivateFilter.resume(ledger, "heat", entropy=seeded(2))
    next_value = again.step([0.7]).value
    with pytest.raises(StreamConflict):
        mutant.step([0.7])
    np.testing.assert_allclose(again.filtered().value[-1], next_value, atol=1e-12)
    assert again.smoothed().deviation[2, 0] < again.filtered().deviation[2, 0]
    assert ledger.status("room").charges == 1
    again.steps([[0.1], [0.1]])
    assert again.finished
    with pytest.raises(StreamConflict, match="0 are left"):
        again.step([0.0])
    assert str(again.certificate).startswith("SEEDED RUN")
    assert "post-processing" in str(again.certificate)


def test_clipped_surprises_are_stored_as_they_were_used(ledger: cdp.Ledger) -> None:
    design = design_filter(scalar(), clip=0.3, **DESIGN)  # type: ignore[arg-type]  # of several kinds
    live = PrivateFilter(design, ledger=ledger, dataset="room", name="heat", entropy=seeded(1))
    told = [live.step([value]).value for value in (0.5, 900.0, -3.0)]
    resumed = PrivateFilter.resume(ledger, "heat")
    np.testing.assert_allclose(resumed.filtered().value, told, atol=1e-12)
    assert isinstance(resumed._next, Belief)
    np.testing.assert_allclose(resumed._next.mean, live._next.mean, atol=1e-12)
    assert np.abs(resumed.released()).max() < 100
    assert "clipped" in str(live.certificate)


def test_a_cause_must_be_accepted_by_the_budget(ledger: cdp.Ledger) -> None:
    model = replace(scalar(), cause=[[1.0]])
    design = design_filter(model, change=CausedChange(1.0), unit=cdp.Event(), horizon=100, epsilon=1.0, delta=1e-5)
    with pytest.raises(UnitMismatch, match="linear response"):
        PrivateFilter(design, ledger=ledger, dataset="room", name="heat")
    ledger.open("caused", unit=cdp.Event(), epsilon=4.0, delta=1e-4, accepts=("linear response",))
    live = PrivateFilter(design, ledger=ledger, dataset="caused", name="heat")
    assert "linear response" in str(live.certificate)


VICTIM = """
import sys, chronodp as cdp
from chronodp.state_space import PrivateFilter, StateSpace, design_filter
ledger = cdp.Ledger(sys.argv[1])
try:
    live = PrivateFilter.resume(ledger, "heat")
except cdp.errors.StreamConflict:
    room = StateSpace([[0.95]], [[1.0]], [[0.1]], [[0.5]])
    design = design_filter(room, change=1.0, unit=cdp.Event(), epsilon=1.0, delta=1e-5)
    live = PrivateFilter(design, ledger=ledger, dataset="room", name="heat")
print("ready", live.period, flush=True)
while True:
    made = live.step([1.0])
    print(f"{made.period} {float(made.value[0])!r}", flush=True)  # written whole or not at all
"""


@pytest.mark.kill
def test_kill_at_any_moment_loses_nothing_and_repeats_nothing(
    ledger: cdp.Ledger, tmp_path: Path, trials: Trials
) -> None:
    chance = np.random.default_rng()
    announced: dict[int, float] = {}
    for _ in range(trials(100, least=3)):
        process = forkserver.start("-c", VICTIM, str(tmp_path / "budget.db"))
        assert process.stdout.readline().split()[:1] == ["ready"]
        lines = [process.stdout.readline() for _ in range(int(chance.integers(0, 6)))]
        time.sleep(float(chance.uniform(0.0, 0.02)))
        process.kill()
        for line in (*lines, *process.stdout.read().splitlines()):
            period, _, value = line.strip().partition(" ")
            assert int(period) not in announced  # no step was announced twice
            announced[int(period)] = float(value)
        process.wait()
        process.close()
    live = PrivateFilter.resume(ledger, "heat")
    states = live.filtered().value[:, 0]
    assert len(states) == live.period >= len(announced) > 0
    for at, shown in announced.items():
        assert shown == pytest.approx(states[at], abs=1e-9)
    assert ledger.status("room").charges == 1


def test_designs_that_are_refused() -> None:
    with pytest.raises(MissingBound, match="max_periods"):
        design_filter(scalar(), change=1.0, unit=cdp.User(), epsilon=1.0)
    with pytest.raises(InvalidArgument, match="left out"):
        design_filter(scalar(), change=1.0, unit=cdp.Event(), max_periods=3, epsilon=1.0)
    with pytest.raises(InvalidArgument, match="Event, User, UserPeriod or Window"):
        design_filter(scalar(), change=1.0, unit=Report(), epsilon=1.0)
    with pytest.raises(MissingBound, match="cause"):
        design_filter(scalar(), change=CausedChange(1.0), unit=cdp.Event(), horizon=10, epsilon=1.0)
    caused = replace(scalar(), cause=[[1.0]])
    with pytest.raises(MissingBound, match="horizon"):
        design_filter(caused, change=CausedChange(1.0), unit=cdp.Event(), epsilon=1.0)
    wild = StateSpace([[1.2]], [[1.0]], [[1.0]], [[1.0]], cause=[[1.0]])
    with pytest.raises(InvalidArgument, match="unstable system"):
        design_filter(wild, change=CausedChange(1.0), unit=cdp.Event(), horizon=10_000, epsilon=1.0)
    for wrong in ({"change": 0.0}, {"change": MeasuredChange}, {"epsilon": 0.0}, {"clip": -1.0}, {"horizon": 0}):
        with pytest.raises(InvalidArgument):
            design_filter(scalar(), **(DESIGN | wrong))  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(InvalidArgument, match="cannot be drawn exactly"):
        design_filter(scalar(), **(DESIGN | {"epsilon": 1e-12, "delta": 0.0}))  # type: ignore[arg-type]  # of several kinds
    blind = StateSpace([[1.2]], [[0.0]], [[1.0]], [[1.0]])
    with pytest.raises(InvalidArgument, match="detectable"):
        design_filter(blind, **DESIGN)  # type: ignore[arg-type]  # of several kinds


@pytest.mark.parametrize("wrong", [[1.0, 2.0], ["a"], [float("inf")], [[1.0], [2.0]]])
def test_measurements_that_are_refused_spend_and_tell_nothing(wrong: Any, ledger: cdp.Ledger) -> None:
    design = design_filter(scalar(), **DESIGN)  # type: ignore[arg-type]  # of several kinds
    live = PrivateFilter(design, ledger=ledger, dataset="room", name="heat")
    with pytest.raises(InvalidArgument, match="got a ndarray"):
        live.step(wrong)
    with pytest.raises(StreamConflict, match="goes on with step 0"):
        live.step([1.0], period=3)
    assert live.period == 0
    assert json.loads(json.dumps(ledger.released_steps("heat"))) == []
