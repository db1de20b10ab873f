"""Finding shapes with little error: buffers for running totals, bands for any filter.

``python -m chronodp.series.shapes.optimise`` renews the table of buffers that is shipped (`buffered_table.json`), in
some minutes. Error and sensitivity of buffers are sums of geometric series, so the search costs the same for 2^10
periods as for 2^30. Whatever comes out is only a proposal: `errors` and `sensitivity` compute what a shape is worth.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib import resources

import numpy as np

from chronodp.privacy import check_whole
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.buffered_table import TABLE, Aim, Row
from chronodp.series.shapes.power_series import Floats, product, reciprocal
from chronodp.series.shapes.toeplitz import Banded, SquareRoot
from chronodp.series.workloads import CausalFilter

__all__ = ["tune_bands", "tune_buffers", "write_table"]

_AIMS: tuple[Aim, ...] = ("mean", "max")
_HORIZONS = tuple(2**power for power in range(10, 21))
_FEW = tuple(2**power for power in range(6, 21, 2))
_BUFFERS = (2, 3, 4, 5, 6)
_FIRST = (0.02, 0.1)  # minus the logarithm of the largest zero's distance from 1, where the search begins
_LIMITS = (-8.0, 3.5)  # of the logarithms of steps in the logarithm: from touching to a factor of 10^14
_PERIODS = (2, 4, 7, 12, 24, 31, 64, 128, 366)


def tune_buffers(
    horizon: int, buffers: int, *, aim: Aim = "mean", periods: int = 1, endless: bool = False
) -> BufferedLinear:
    """Return buffers with the least error on running totals of ``horizon`` periods.

    Args:
        horizon: periods in the series.
        buffers: how many.
        aim: the mean error over all periods, or the error of the last.
        periods: how many periods of one person count.
        endless: whether the sensitivity is that of a series without end; one period only.
    """
    from scipy.optimize import minimize

    check_whole("horizon", horizon, least=2)
    check_whole("buffers", buffers, most=12)
    check_whole("periods", periods, most=1 if endless else horizon)

    def objective(point: Floats) -> float:
        poles, zeros = _distances(point)
        error = _error_square(poles, zeros, horizon, aim)
        return float(np.log(error) + np.log(_reach_square(poles, zeros, None if endless else horizon, periods)))

    best, point = math.inf, np.zeros(2 * buffers)
    for first in _FIRST:
        # Evenly spread in the logarithm, from below one over the horizon up to the first zero.
        start = np.full(2 * buffers, np.log(max(np.log(horizon) / (2 * buffers), 0.2)))
        start[-1] = np.log(first)
        least = math.inf
        while True:  # a fresh start forgets a bad estimate of the curvature
            found = minimize(
                objective,
                start,
                method="L-BFGS-B",
                bounds=[_LIMITS] * len(start),
                options={"maxiter": 4000, "maxfun": 200_000, "maxcor": 30, "ftol": 1e-16, "gtol": 1e-10},
            )
            if not found.fun < least - 1e-10:
                break
            least, start = float(found.fun), np.asarray(found.x, dtype=np.float64)
        if least < best:
            best, point = least, start
    poles, zeros = _distances(point)
    return BufferedLinear(tuple((1.0 - poles).tolist()), tuple(_weights(poles, zeros).tolist()))


def tune_bands(workload: CausalFilter, horizon: int, bands: int, *, periods: int = 1) -> Banded:
    """Return the falling filter of so many bands with the least error, for ``periods`` periods of one person.

    The search runs over the falls c_j - c_{j+1} ≥ 0, so that the sensitivity is exact, with the gradient by hand:
    the answers' filter e = a / c changes by -(e / c) dc.
    """
    from scipy.optimize import minimize

    check_whole("bands", bands, most=horizon)
    response = workload.response(horizon)
    weights = np.arange(horizon, 0.0, -1.0) / horizon  # an error counts once for every later answer

    def objective(falls: Floats) -> tuple[float, Floats]:
        column = np.zeros(horizon)
        column[:bands] = np.cumsum(falls[::-1])[::-1]
        with np.errstate(over="ignore", invalid="ignore"):
            inverse = reciprocal(column, horizon)
            answers = product(response, inverse, horizon)
            error = float(weights @ answers**2)
            lagged = product(answers, inverse, horizon)
            by_error = -2 * product((weights * answers)[::-1], lagged, horizon)[::-1][:bands]
        sums = _moving(column, periods)
        reach = float(sums @ sums)
        by_reach = 2 * _moving(sums[::-1], periods)[::-1][:bands]
        if not np.isfinite(error) or not np.isfinite(by_error).all():
            return 1e9, np.zeros(bands)
        slope = np.cumsum(by_error / error + by_reach / reach)
        return float(np.log(error) + np.log(reach)), slope

    root = SquareRoot(workload).coefficients(horizon)[:bands]
    start = np.maximum(-np.diff(root, append=0.0), 1e-6)
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * (bands - 1) + [(1e-9, None)],
        options={"maxiter": 400, "ftol": 1e-10, "gtol": 1e-8},
    )
    column = np.cumsum(np.asarray(found.x)[::-1])[::-1]
    return Banded(tuple((column / column[0]).tolist()))


def write_table(report: Callable[[str], None] = print) -> None:
    """Compute the table of buffers and write it beside this file."""
    rows = [Row("series", horizon, aim, 1, buffers) for horizon in _HORIZONS for buffers in _BUFFERS for aim in _AIMS]
    rows += [
        Row("series", horizon, "mean", periods, 3) for horizon in _FEW for periods in _PERIODS if 4 * periods <= horizon
    ]
    rows += [Row("endless", 2**20, "max", 1, 4), Row("endless", 2**30, "max", 1, 6)]
    lines = []
    for row in rows:
        shape = tune_buffers(row.horizon, row.buffers, aim=row.aim, periods=row.periods, endless=row.kind == "endless")
        lines.append(json.dumps({**row._asdict(), "theta": shape.theta, "omega": shape.omega}))
        report(str(row))
    with resources.as_file(resources.files(__package__) / TABLE) as path:
        path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _distances(point: Floats) -> tuple[Floats, Floats]:
    """Poles and zeros by their distances from 1, alternating and rising, from free numbers."""
    logs = -np.cumsum(np.exp(point[::-1]))[::-1]
    both = np.exp(logs)
    return both[::2], both[1::2]


def _weights(poles: Floats, zeros: Floats) -> Floats:
    """The weights of the decays of a rational filter: its residues."""
    apart = poles[None, :] - poles[:, None]
    np.fill_diagonal(apart, 1.0)
    residues: Floats = np.prod(zeros[None, :] - poles[:, None], axis=1) / np.prod(apart, axis=1)
    return residues


def _error_square(poles: Floats, zeros: Floats, horizon: int, aim: Aim) -> float:
    """The variance of the last running total, Σ_t e_t², or the mean over all, Σ_t (n - t) e_t² / n.

    Their noise has the filter e_t = limit + Σ_i g_i (1 - zero_i)^t with all terms above 0: nothing cancels.
    """
    limit = float(np.exp(np.log(poles).sum() - np.log(zeros).sum()))
    gains = np.concatenate(([limit], -_weights(zeros, poles) / zeros))
    decay = np.concatenate(([0.0], np.log1p(-zeros)))
    rate = decay[:, None] + decay[None, :]
    ratio = np.exp(rate)
    fall = -np.expm1(rate)
    fall[0, 0] = 1.0
    sums = -np.expm1(horizon * rate) / fall
    sums[0, 0] = horizon
    if aim == "mean":
        sums = (horizon - ratio * sums) / fall / horizon
        sums[0, 0] = (horizon + 1) / 2
    return float(gains @ sums @ gains)


def _reach_square(poles: Floats, zeros: Floats, horizon: int | None, periods: int) -> float:
    """‖Σ_{j<periods} shift_j c‖²: the first periods one by one, then decays; None: without end."""
    weights = _weights(poles, zeros)
    decay = np.log1p(-poles)
    rate = decay[:, None] + decay[None, :]
    rising = 1.0 + -np.expm1(np.outer(np.arange(periods), decay)) @ (weights / poles)
    after = weights * -np.expm1(periods * decay) / poles
    left = 1.0 if horizon is None else -np.expm1((horizon - periods) * rate)
    return float(rising @ rising + after @ (left / -np.expm1(rate)) @ after)


def _moving(column: Floats, periods: int) -> Floats:
    sums = np.cumsum(column)
    sums[periods:] -= sums[:-periods].copy()
    return sums


if __name__ == "__main__":
    write_table()
