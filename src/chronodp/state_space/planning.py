"""Error against epsilon, before anything is spent; and what a clip costs, on a simulated system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Floats
from chronodp.privacy import Unit, check_whole
from chronodp.randomness import Entropy, check_entropy
from chronodp.report import Line, series_figure
from chronodp.state_space.changes import Change
from chronodp.state_space.design import FilterDesign, design_filter
from chronodp.state_space.filter import filter_states, first_belief, run_on
from chronodp.state_space.model import StateSpace
from chronodp.state_space.perturb import perturb
from chronodp.state_space.steady import error_with_gain, solve_steady, wander

if TYPE_CHECKING:
    import pandas

__all__ = ["Rehearsed", "errors_by_epsilon", "plot_errors", "rehearse_filter"]

_FINE = 2.0**26  # steps of a simulated deviation


@dataclass(frozen=True, slots=True, eq=False)
class Rehearsed:
    """A private filter run on a simulated system.

    Attributes:
        predicted: mean square error of each state by the Riccati equation, which knows of no clip.
        simulated: the same in the simulation.
        clipped: the share of measurements whose surprise was cut; 0 without a clip.
    """

    predicted: Floats
    simulated: Floats
    clipped: float

    @property
    def optimism(self) -> float:
        """By which part the prediction of the sum over states is too low; around 0 without a clip."""
        return float(self.simulated.sum() / self.predicted.sum() - 1)


def errors_by_epsilon(
    model: StateSpace,
    epsilons: Sequence[float],
    *,
    change: float | Change,
    unit: Unit,
    horizon: int | None = None,
    max_periods: int | None = None,
    clip: float | None = None,
    delta: float = 0.0,
) -> pandas.DataFrame:
    """Return the steady error of each state for each epsilon. Reads no data and spends nothing.

    Columns: epsilon, sigma (deviation of the noise in a measurement), state, rmse (gain made for the noise),
    rmse_old_gain (gain made without privacy), rmse_exact (without privacy), rmse_blind (without measurements; infinite
    if the state wanders off). An rmse near rmse_blind says that the measurements are not worth their epsilon.

    >>> from chronodp.privacy import Event
    >>> room = StateSpace(transition=[[0.95]], observation=[[1.0]], process_noise=[[0.1]], measurement_noise=[[0.5]])
    >>> table = errors_by_epsilon(room, [0.1, 1.0, 10.0], change=1.0, unit=Event(), delta=1e-5)
    >>> (table["rmse"] ** 2).round(4).tolist()
    [0.9766, 0.3693, 0.1707]
    """
    import pandas

    if not len(epsilons):
        raise InvalidArgument("epsilons", "none", "at least one epsilon")
    exact, blind = solve_steady(model), wander(model)
    unseen = np.full(model.states, np.inf) if blind is None else np.sqrt(np.diagonal(blind))
    rows = []
    for epsilon in epsilons:
        design = design_filter(
            model,
            change=change,
            unit=unit,
            horizon=horizon,
            max_periods=max_periods,
            clip=clip,
            epsilon=epsilon,
            delta=delta,
        )
        steady = solve_steady(model, added=design.added)
        old = error_with_gain(model, exact.gain, added=design.added)
        rows += [
            {
                "epsilon": float(epsilon),
                "sigma": design.noise.deviation,
                "state": state,
                "rmse": float(np.sqrt(steady.posterior[state, state])),
                "rmse_old_gain": float(np.sqrt(old[state, state])),
                "rmse_exact": float(np.sqrt(exact.posterior[state, state])),
                "rmse_blind": float(unseen[state]),
            }
            for state in range(model.states)
        ]
    return pandas.DataFrame(rows)


def plot_errors(table: pandas.DataFrame) -> Any:
    """Return a Plotly figure of `errors_by_epsilon`: each state between its error without privacy and without data."""
    lines = []
    for state, part in table.sort_values("epsilon").groupby("state", sort=True):
        bounds = (part["rmse_exact"].tolist(), part["rmse_blind"].tolist())
        lines.append(Line(f"state {state}", part["epsilon"].tolist(), part["rmse"].tolist(), *bounds))
    figure = series_figure(lines, title="Error against epsilon", value_name="root mean square error")
    figure.update_xaxes(title_text="epsilon", type="log", rangeslider_visible=False)
    return figure


def rehearse_filter(design: FilterDesign, *, steps: int = 100_000, entropy: Entropy | None = None) -> Rehearsed:
    """Simulate the system and its private filter, and compare the error with the predicted one. Reads no data.

    The Riccati equation knows nothing of a clip. Once it bites, errors are larger than predicted; by how much is told
    here, for a system that moves as the model says.

    >>> from chronodp.privacy import Event
    >>> from chronodp.randomness import seeded
    >>> room = StateSpace(transition=[[0.95]], observation=[[1.0]], process_noise=[[0.1]], measurement_noise=[[0.5]])
    >>> design = design_filter(room, change=1.0, unit=Event(), epsilon=1.0, delta=1e-5)
    >>> abs(rehearse_filter(design, steps=20_000, entropy=seeded(1)).optimism) < 0.1
    True
    """
    if not isinstance(design, FilterDesign):
        raise InvalidArgument("design", design, "what design_filter(...) returns")
    check_whole("steps", steps, least=100)
    bits = check_entropy(entropy)
    states, measured = _simulate(design, steps, bits)
    if design.clip is None:
        noisy = measured + design.noise.draws(bits)(measured.shape) * design.noise.step
        value, clipped = filter_states(design.model, noisy, added=design.added).value, 0.0
    else:
        track = perturb(design, first_belief(design.model, added=design.added), measured, bits)[1]
        value = track.value
        onward, observation, _, _ = design.model.matrices
        surprises = measured[1:] - value[:-1] @ (observation @ onward).T
        clipped = float(np.mean(np.abs(surprises) > design.clip))
    return Rehearsed(np.diagonal(design.steady.posterior), np.mean((value - states) ** 2, axis=0), clipped)


def _simulate(design: FilterDesign, steps: int, entropy: Entropy) -> tuple[Floats, Floats]:
    """Return states and measurements of a system that starts where a settled filter would believe it."""
    onward, observation, process, noise = design.model.matrices
    first = first_belief(design.model, added=design.added)
    moves = _normal(entropy, (steps, design.model.states)) @ _root(process).T
    moves[0] = first.mean + _root(first.covariance) @ _normal(entropy, (design.model.states,))
    states = run_on(onward, moves)
    sensed = _normal(entropy, (steps, design.model.channels)) @ _root(noise).T
    return states, states @ observation.T + sensed


def _normal(entropy: Entropy, shape: tuple[int, ...]) -> Floats:
    drawn: Floats = entropy.gaussian(_FINE, shape) / _FINE
    return drawn


def _root(covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    root: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
