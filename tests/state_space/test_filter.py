"""Steady states against reference values, filter and smoother against the joint normal law, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.state_space.systems import conditioned, drawn, scalar, thermal

from chronodp.accounting import gaussian
from chronodp.errors import InvalidArgument
from chronodp.state_space import StateSpace, error_with_gain, filter_states, smooth_states, solve_steady


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


def test_exact_predictions_plus_noisy_surprises_give_measurements_back(known: Any) -> None:
    """With more states than channels one combination of the told states carries no noise at all."""
    model = thermal(known)
    onward, observation, _, _ = model.matrices
    gain = solve_steady(model).gain
    generator = np.random.default_rng(1)
    values, state, told = generator.normal(size=30), np.zeros(2), []
    for value in values:
        expected = onward @ state
        surprise = value - observation @ expected
        told.append(expected + gain @ (surprise + generator.normal(0, 50.0, size=1)))
        state = expected + gain @ surprise
    blind = np.array([gain[1, 0], -gain[0, 0]])  # what the gain does not move
    seen, rows = np.array([blind @ state for state in told]), []
    for step in range(1, len(told)):
        link = (np.eye(2) - gain @ observation) @ onward
        row = np.zeros(len(told))
        for early in range(step):
            row[early] = float(blind @ onward @ np.linalg.matrix_power(link, step - 1 - early) @ gain[:, 0])
        rows.append(row[:-1])
    recovered = np.linalg.solve(np.array(rows), seen[1:])
    np.testing.assert_allclose(recovered, values[:-1], atol=1e-9)
