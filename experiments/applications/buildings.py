"""The heat of a building: filters, the noise that privacy adds to them, and what one measurement's price covers."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from tests.audit.mutants import MUTANTS
from tests.audit.registry import Mutant

import chronodp as cdp
from chronodp import state_space as ss
from chronodp.audit.exact import examine
from chronodp.randomness import seeded
from experiments.claims import Claim, Pair, Tolerance, above, bound, computation, equal, order, rising
from experiments.claims.computations import scaled

__all__ = ["building_claims"]

PLACE = "Applications, Advanced Monitoring and Control Systems"
EPSILON, DELTA = 2.0, 1e-6
CHANGE = 0.2
ADDED = (0.0, 0.5, 1.0, 2.0, 8.0)
_MUTANT = "noise on the surprises of a filter that sees exact measurements"

ROOM = ss.StateSpace(transition=[[0.95]], observation=[[1.0]], process_noise=[[0.1]], measurement_noise=[[0.5]])
BUILDING = ss.StateSpace(
    transition=[[0.62, 0.38], [0.04, 0.95]],
    observation=[[1.0, 0.0]],
    process_noise=[[0.0025, 0.0], [0.0, 0.0001]],
    measurement_noise=[[0.01]],
    cause=[[0.4], [0.01]],
)
"""Air and walls of a room, a quarter of an hour on; a cause is a kilowatt of heat."""


@computation()
def steady_error(added: float) -> float:
    """Return the steady posterior variance by the Riccati equation with privacy noise added to the measurement's."""
    return float(ss.solve_steady(ROOM, added=added).posterior[0, 0])


@computation(doubled=scaled(2.0))
def simulated_error(added: float, *, exact_predictions: bool, steps: int = 100_000) -> float:
    """Return the mean square error of who follows a filter through noisy innovations.

    With exact predictions the filter itself runs on exact measurements, and noise goes onto the innovations that it
    tells; without, each prediction is made from what was told before, with the gain for both noises.
    """
    chance = np.random.default_rng(1)
    onward, process, sensor = 0.95, 0.1, 0.5
    gain = float(ss.solve_steady(ROOM, added=0.0 if exact_predictions else added).gain[0, 0])
    moves = chance.normal(0.0, np.sqrt(process), steps)
    errors = chance.normal(0.0, np.sqrt(sensor), steps)
    noise = chance.normal(0.0, np.sqrt(added), steps)
    state = filtered = followed = total = 0.0
    for move, error, hidden in zip(moves.tolist(), errors.tolist(), noise.tolist(), strict=True):
        state = onward * state + move
        predicted = onward * (filtered if exact_predictions else followed)
        innovation = state + error - predicted
        filtered = predicted + gain * innovation
        followed = onward * followed + gain * (innovation + hidden)
        total += (state - followed) ** 2
    return total / steps


@computation()
def innovations_change(steps: int = 200) -> float:
    """Return the l1 change of all innovations when one measurement moves by 1 and predictions come from exact ones."""
    gain = float(ss.solve_steady(ROOM).gain[0, 0])
    moved, state = 0.0, 0.0
    for step in range(steps):
        innovation = float(step == 0) - 0.95 * state
        state = 0.95 * state + gain * innovation
        moved += abs(innovation)
    return moved


@computation()
def audited_innovations() -> float:
    """Return the least ε that the auditor leaves to noise on the innovations of such a filter."""
    return examine(_mutant().broken, _mutant().neighbours).epsilon


@computation()
def rehearsed_error() -> float:
    """Return how far a rehearsed private filter of a building is off what was planned, as a ratio."""
    return 1 + ss.rehearse_filter(_design(), steps=20_000, entropy=seeded(1)).optimism


@computation()
def air_error(column: str) -> float:
    """Return the error of the air's temperature: with the gain for both noises, the old gain, or no measurement."""
    table = ss.errors_by_epsilon(BUILDING, [EPSILON], change=CHANGE, unit=cdp.Event(), delta=DELTA)
    return float(table.iloc[0][column])


@computation()
def guest_over_measurement() -> float:
    """Return what a guest of 0.1 kW for four hours moves of all measurements, in measurements that are paid for."""
    guest = ss.design_filter(
        BUILDING, change=ss.CausedChange(0.1), unit=cdp.Window(16), horizon=2880, epsilon=EPSILON, delta=DELTA
    )
    return guest.noise.sensitivity / _design().noise.sensitivity


def building_claims() -> list[Claim]:
    """Return the claims on filters."""
    claim = partial(Claim, source="applications", place=PLACE)
    room = "ours: a scalar system with A = 0.95, Q = 0.1, R = 0.5"
    return [
        claim(
            id="A12",
            says="To a Kalman filter, privacy noise on its innovations is additional measurement noise.",
            rule=equal,
            stated="the error is that of R + v",
            tolerance=Tolerance(relative=0.05),
            readings={
                "the filter predicts from exact measurements": lambda: _as_measurement_noise(exact_predictions=True),
                "predictions use the noisy measurements": lambda: _as_measurement_noise(exact_predictions=False),
            },
            tokens=("indistinguishable from additional measurement noise",),
            parameters=room,
        ),
        claim(
            id="A13",
            says="By the steady Riccati equation the posterior variance grows with the variance of the privacy noise.",
            rule=rising,
            stated="rises with v",
            readings={"v = 0, 0.5, 1, 2, 8": lambda: [steady_error(added) for added in ADDED]},
            tokens=("posterior estimation error variance increases as a direct function",),
            parameters=room,
        ),
        claim(
            id="A14",
            says="Noise on the innovations protects at the price of one measurement (implied).",
            rule=bound,
            stated="all innovations change by what the measurement changes",
            readings={
                "predictions from exact measurements": lambda: [
                    Pair(innovations_change(), 1.0, "l1 change per unit of one measurement")
                ]
            },
            tokens=("*innovation* sequence",),
            parameters=room,
        ),
        claim(
            id="N04d",
            place="beside A14",
            says="Of a small filter that predicts from exact measurements and tells noisy innovations at ε = 8 for one "
            "measurement, the auditor leaves no ε below 12.",
            rule=above,
            stated=8.0,
            readings={"enumerated": audited_innovations},
            origin="ours",
        ),
        claim(
            id="N21",
            place="beside A13",
            says="A private filter of a building, rehearsed over 20,000 steps, has the error that the Riccati equation "
            "tells.",
            rule=equal,
            stated="as planned",
            tolerance=Tolerance(relative=0.05),
            readings={"rehearsed / planned": lambda: [Pair(rehearsed_error(), 1.0, "20,000 steps")]},
            origin="ours",
        ),
        claim(
            id="N22",
            place="beside A12",
            says="A gain made for both noises tells the air's temperature better than the old gain, and that better "
            "than no measurement.",
            rule=order,
            stated="both noises < old gain < blind",
            readings={
                "error of the air": lambda: [
                    Pair(air_error("rmse"), air_error("rmse_old_gain"), "against the old gain"),
                    Pair(air_error("rmse_old_gain"), air_error("rmse_blind"), "the old gain against none"),
                ]
            },
            origin="ours",
        ),
        claim(
            id="N04c",
            place="beside A14",
            says="Noise for one measurement does not hide occupancy that shows in the heat: a guest of 0.1 kW for four "
            "hours moves all measurements together by several times what is paid for.",
            rule=above,
            stated=1.0,
            readings={"times one measurement": guest_over_measurement},
            origin="ours",
        ),
    ]


def _as_measurement_noise(*, exact_predictions: bool) -> list[Pair]:
    return [
        Pair(simulated_error(added, exact_predictions=exact_predictions), steady_error(added), f"v = {added:g}")
        for added in (0.5, 2.0)
    ]


@cache
def _design() -> ss.FilterDesign:
    return ss.design_filter(BUILDING, change=CHANGE, unit=cdp.Event(), epsilon=EPSILON, delta=DELTA)


@cache
def _mutant() -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == _MUTANT)
