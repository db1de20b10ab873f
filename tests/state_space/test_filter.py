"""Filters, private and plain: reference values, laws by one joint normal law, exact odds, crashes, what is refused."""

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
from numpy.typing import NDArray
from tests import forkserver
from tests.conftest import Trials

import chronodp as cdp
from chronodp.accounting import gaussian
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
    filter_states,
    impulse_response,
    plot_errors,
    rehearse_filter,
    smooth_states,
    solve_steady,
)
from chronodp.state_space.changes import cause_sensitivity
from chronodp.state_space.filter import Belief, first_belief
from chronodp.state_space.perturb import perturb

Floats = NDArray[np.float64]


def scalar(**changed: Any) -> StateSpace:
    """The room of the reference values."""
    parts = {"transition": [[0.95]], "observation": [[1.0]], "process_noise": [[0.1]], "measurement_noise": [[0.5]]}
    return StateSpace(**(parts | changed))


def thermal(known: Any) -> StateSpace:
    """A building of air and walls, as the reference values have it."""
    thermal2 = known["thermal2"]
    return StateSpace(thermal2["A"], thermal2["C"], thermal2["Q"], [[thermal2["r"]]], cause=thermal2["B"])


def drawn(generator: np.random.Generator, states: int, channels: int) -> StateSpace:
    """A stable system with full covariances and a start of its own."""
    onward = generator.normal(size=(states, states))
    onward *= 0.9 / np.abs(np.linalg.eigvals(onward)).max()

    def covariance(size: int) -> Floats:
        root = generator.normal(size=(size, size))
        found: Floats = root @ root.T + 0.1 * np.eye(size)
        return found

    return StateSpace(
        onward,
        generator.normal(size=(channels, states)),
        covariance(states),
        covariance(channels),
        initial_mean=generator.normal(size=states),
        initial_covariance=covariance(states),
    )


def conditioned(model: StateSpace, values: Floats, added: float, upto: int) -> tuple[Floats, Floats]:
    """Means and variances of all states given values up to a step, by writing the joint normal law out."""
    onward, observation, process, noise = model.matrices
    n, steps = model.states, len(values)
    mean, covariance = [model.start], np.zeros((steps * n, steps * n))
    own = np.array(model.initial_covariance)
    for step in range(steps):
        here = slice(step * n, (step + 1) * n)
        covariance[here, here] = own
        for late in range(step + 1, steps):
            there = slice(late * n, (late + 1) * n)
            power = np.linalg.matrix_power(onward, late - step)
            covariance[there, here] = power @ own
            covariance[here, there] = covariance[there, here].T
        mean.append(onward @ mean[-1])
        own = onward @ own @ onward.T + process
    means = np.concatenate(mean[:-1])
    seen = ~np.isnan(values)
    seen[upto + 1 :] = False
    look = np.kron(np.eye(steps), observation)[seen.ravel()]
    whole = np.kron(np.eye(steps), noise + added * np.eye(model.channels))[np.ix_(seen.ravel(), seen.ravel())]
    gain = covariance @ look.T @ np.linalg.inv(look @ covariance @ look.T + whole)
    found = means + gain @ (values.ravel()[seen.ravel()] - look @ means)
    left = covariance - gain @ look @ covariance
    return found.reshape(steps, n), np.diagonal(left).reshape(steps, n)


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


@pytest.fixture
def known(golden: Any) -> Any:
    return golden("applications/kalman.json")


def test_golden_scalar(known: Any) -> None:
    for row in known["scalar"]["rows"]:
        steady = solve_steady(scalar(), added=row["sigma2"])
        assert steady.prior[0, 0] == pytest.approx(row["P_prior"], abs=1e-8)
        assert steady.posterior[0, 0] == pytest.approx(row["P_post"], abs=1e-8)
        assert steady.gain[0, 0] == pytest.approx(row["K"], abs=1e-8)
        old = error_with_gain(scalar(), solve_steady(scalar()).gain, added=row["sigma2"])
        assert old[0, 0] == pytest.approx(row["P_post_unredesigned_gain"], abs=1e-8)


def test_golden_thermal(known: Any) -> None:
    model = thermal(known)
    for row in known["thermal2"]["rows"]:
        steady = solve_steady(model, added=row["sigma2"])
        np.testing.assert_allclose(steady.prior, row["P_prior"], atol=1e-8)
        np.testing.assert_allclose(steady.posterior, row["P_post"], atol=1e-8)
        np.testing.assert_allclose(steady.gain[:, 0], row["K"], atol=1e-8)
        old = error_with_gain(model, solve_steady(model).gain, added=row["sigma2"])
        assert np.trace(old) == pytest.approx(row["trace_post_unredesigned"], abs=1e-8)


def test_golden_private_noise(known: Any) -> None:
    private = known["scalar_dp"]
    added = private["sigma"] ** 2
    steady = solve_steady(scalar(), added=added)
    assert steady.posterior[0, 0] == pytest.approx(private["input_pert_redesigned"]["P_post"], abs=1e-8)
    old = error_with_gain(scalar(), solve_steady(scalar()).gain, added=added)
    assert old[0, 0] == pytest.approx(private["input_pert_unredesigned_mse"], abs=1e-8)


def test_filter_and_smoother_are_the_joint_normal_law(subtests: pytest.Subtests) -> None:
    for states, channels in [(1, 1), (2, 1), (3, 2), (2, 3)]:
        with subtests.test(states=states, channels=channels):
            generator = np.random.default_rng(states * 10 + channels)
            model = drawn(generator, states, channels)
            values = generator.normal(size=(9, channels)) * 3
            values[2] = np.nan
            values[5, 0] = np.nan
            filtered, smoothed = filter_states(model, values, added=0.7), smooth_states(model, values, added=0.7)
            for step in range(len(values)):
                mean, variance = conditioned(model, values, 0.7, step)
                np.testing.assert_allclose(filtered.value[step], mean[step], atol=1e-9)
                np.testing.assert_allclose(filtered.deviation[step] ** 2, variance[step], atol=1e-9)
            mean, variance = conditioned(model, values, 0.7, len(values) - 1)
            np.testing.assert_allclose(smoothed.value, mean, atol=1e-9)
            np.testing.assert_allclose(smoothed.deviation**2, variance, atol=1e-9)


def test_steps_that_settle_are_the_same_as_one_by_one(subtests: pytest.Subtests) -> None:
    for steps in [1, 2, 40, 700]:
        with subtests.test(steps=steps):
            generator = np.random.default_rng(steps)
            start = drawn(generator, 3, 2)
            values = generator.normal(size=(steps, 2))
            if steps > 2:
                values[1] = np.nan
            track = filter_states(start, values, added=0.3)
            onward, observation, process, noise = start.matrices
            mean, covariance = start.start, np.array(start.initial_covariance)
            for step, value in enumerate(values):
                if not np.isnan(value).any():
                    gain = (
                        covariance
                        @ observation.T
                        @ np.linalg.inv(observation @ covariance @ observation.T + noise + 0.3 * np.eye(2))
                    )
                    mean = mean + gain @ (value - observation @ mean)
                    covariance = covariance - gain @ observation @ covariance
                np.testing.assert_allclose(track.value[step], mean, atol=1e-8)
                np.testing.assert_allclose(track.deviation[step] ** 2, np.diagonal(covariance), atol=1e-8)
                mean, covariance = onward @ mean, onward @ covariance @ onward.T + process


def test_a_smoother_far_from_both_ends_and_over_stretches() -> None:
    # q r / √(q² + 4 q r) for a random walk.
    walk = StateSpace([[1.0]], [[1.0]], [[0.1]], [[0.5]])
    values = np.random.default_rng(3).normal(size=40_000)
    smoothed = smooth_states(walk, values, added=0.5)
    assert smoothed.deviation[20_000, 0] ** 2 == pytest.approx(0.1 / np.sqrt(0.01 + 0.4), abs=1e-9)
    short = smooth_states(walk, values[20_000 - 200 : 20_000 + 200], added=0.5)
    assert smoothed.value[20_000, 0] == pytest.approx(short.value[200, 0], abs=1e-9)


def test_a_system_without_process_noise_in_a_fading_mode_is_fine() -> None:
    model = StateSpace([[0.5, 0.0], [0.0, 0.9]], [[1.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]], [[1.0]])
    assert solve_steady(model).posterior[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(smooth_states(model, np.ones((5, 1))).value).all()


def test_models_that_are_refused(subtests: pytest.Subtests) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"transition": [[1.0, 0.0]]}, "square, n × n"),
        ({"transition": []}, "square, n × n"),
        ({"observation": [[1.0, 0.0]]}, r"of shape \(m, 1\)"),
        ({"process_noise": [[1.0, 0.0], [0.0, 1.0]]}, r"process_noise must be of shape \(1, 1\)"),
        ({"process_noise": [[-0.1]]}, "positive semidefinite.*eigenvalue -0.1"),
        ({"measurement_noise": [[0.0]]}, "positive definite.*eigenvalue 0"),
        ({"measurement_noise": [[float("nan")]]}, "finite"),
        ({"transition": [["a"]]}, "n × n numbers"),
        ({"initial_mean": [0.0, 1.0]}, r"of shape \(1,\)"),
        ({"initial_covariance": [[-1.0]]}, "positive semidefinite"),
        ({"cause": [1.0]}, r"cause must be of shape \(1, 1\)"),
    ]
    for changed, said in wrong:
        with subtests.test(changed=changed, said=said), pytest.raises(InvalidArgument, match=said):
            scalar(**changed)
    with pytest.raises(InvalidArgument, match="symmetric"):
        StateSpace(np.eye(2) * 0.5, [[1.0, 0.0]], [[1.0, 0.5], [0.0, 1.0]], [[1.0]])
    with pytest.raises(InvalidArgument, match="steps × 1"):
        filter_states(scalar(), np.zeros((4, 2)))
    with pytest.raises(InvalidArgument, match="at least one period"):
        filter_states(scalar(), [])
    with pytest.raises(InvalidArgument, match="variance of at least 0"):
        solve_steady(scalar(), added=-1.0)
    with pytest.raises(InvalidArgument, match=r"of shape \(1, 1\)"):
        error_with_gain(scalar(), np.zeros((2, 1)))
    with pytest.raises(InvalidArgument, match="errors fade"):
        error_with_gain(StateSpace([[1.2]], [[1.0]], [[1.0]], [[1.0]]), np.zeros((1, 1)))


def test_systems_that_never_settle_are_refused_with_the_reason() -> None:
    unseen = StateSpace(np.diag([0.5, 1.2]), [[1.0, 0.0]], np.eye(2), [[1.0]])
    with pytest.raises(InvalidArgument, match=r"detectable.*eigenvalue 1.2 that no channel sees"):
        solve_steady(unseen)
    unmoved = StateSpace(np.diag([0.5, 1.0]), [[1.0, 1.0]], np.diag([1.0, 0.0]), [[1.0]])
    with pytest.raises(InvalidArgument, match=r"stabilisable.*eigenvalue 1 that no process noise moves"):
        solve_steady(unmoved)
    turning = np.array([[0.0, 1.1], [-1.1, 0.0]])
    with pytest.raises(InvalidArgument, match=r"0 ± 1.1i that no channel sees"):
        solve_steady(StateSpace(turning, [[0.0, 0.0]], np.eye(2), [[1.0]]))
    # With a start of its own such a system can still be filtered, for as long as it lasts.
    started = StateSpace(np.diag([0.5, 1.2]), [[1.0, 0.0]], np.eye(2), [[1.0]], initial_covariance=np.eye(2))
    deviation = filter_states(started, np.zeros((30, 1))).deviation
    assert deviation[-1, 1] > 50 * deviation[-1, 0]


def test_unstable_but_seen_systems_settle(known: Any) -> None:
    for row in known["open_loop_innovation_underclaim"]["rows"]:
        model = StateSpace([[row["a"]]], [[1.0]], [[row["q"]]], [[row["r"]]])
        assert solve_steady(model).gain[0, 0] == pytest.approx(row["K"], abs=1e-8)


def test_golden_price_of_noise_on_exact_surprises(known: Any) -> None:
    """A changed measurement stays in the state of a filter without privacy, and so in all its later surprises."""
    for row in known["open_loop_innovation_underclaim"]["rows"]:
        model = StateSpace([[row["a"]]], [[1.0]], [[row["q"]]], [[row["r"]]])
        gain = float(solve_steady(model).gain[0, 0])
        surprises, state = [], 0.0
        for measurement in [1.0] + [0.0] * 2000:
            surprises.append(measurement - row["a"] * state)
            state = row["a"] * state + gain * surprises[-1]
        reach = float(np.linalg.norm(surprises))
        assert reach == pytest.approx(row["open_loop_innovation_l2_gain"], rel=1e-8)
        true = gaussian.epsilon_of(reach * gaussian.mu_for(1.0, 1e-5), 1e-5)
        assert true == pytest.approx(row["true_eps_at_1e_5"], rel=1e-6)
