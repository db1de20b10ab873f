"""Coefficients of a model, fitted to one piece of data: in closed form, or by maximum likelihood.

Nothing here is private by itself: what is fitted never leaves its piece.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole, document
from chronodp.selection.arima.order import Order

__all__ = ["Coefficients", "Fit", "LeastSquares", "MaximumLikelihood", "check_fit", "fit_coefficients"]

Floats = NDArray[np.float64]


@document("least_squares")
@dataclass(frozen=True, slots=True)
class LeastSquares:
    """Regression on past values; with past errors, by Hannan and Rissanen's three regressions. Milliseconds a fit.

    References:
        Hannan, Rissanen (1982), Recursive estimation of mixed autoregressive-moving average order.
    """

    def __str__(self) -> str:
        return "least squares"


@document("maximum_likelihood")
@dataclass(frozen=True, slots=True)
class MaximumLikelihood:
    """Exact Gaussian likelihood through a state space, climbed in at most ``iterations`` steps. Slow.

    The number of steps is public; a fit that has not arrived by then is used as it stands.
    """

    iterations: int = 50

    def __post_init__(self) -> None:
        check_whole("iterations", self.iterations, most=10_000)

    def __str__(self) -> str:
        return f"maximum likelihood in {self.iterations} steps"


Fit: TypeAlias = LeastSquares | MaximumLikelihood


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Mean, weights of past values and weights of past errors."""

    mean: float
    autoregressive: Floats
    moving_average: Floats


def check_fit(fit: Fit, orders: Iterable[Order]) -> None:
    """Raise unless there is what fits these orders: a missing library must not look like fits that fail."""
    if not isinstance(fit, Fit):
        raise InvalidArgument("fit", fit, "LeastSquares() or MaximumLikelihood(iterations=50)")
    needed = isinstance(fit, MaximumLikelihood) or any(order.moving_average for order in orders)
    if needed and importlib.util.find_spec("statsmodels") is None:
        allowed = "least squares of orders p,d,0 without statsmodels; pip install 'chronodp[models]' for the others"
        raise InvalidArgument("fit", str(fit), allowed)


def fit_coefficients(values: Floats, order: Order, fit: Fit) -> Coefficients:
    """Return the coefficients for values that are differenced already. May raise whatever linear algebra raises."""
    # A differenced series has no mean of its own, as is usual.
    mean = float(values.mean()) if not order.differences else 0.0
    centred = values - mean
    if isinstance(fit, MaximumLikelihood):
        return _climb(centred, order, mean, fit.iterations)
    if order.moving_average:
        return _regress_thrice(centred, order, mean)
    return Coefficients(mean, _regress(centred, order.autoregressive), np.zeros(0))


def _regress(centred: Floats, lags: int) -> Floats:
    if not lags:
        return np.zeros(0)
    past = np.lib.stride_tricks.sliding_window_view(centred, lags)[:-1, ::-1]
    return np.asarray(np.linalg.lstsq(past, centred[lags:])[0], dtype=np.float64)


def _regress_thrice(centred: Floats, order: Order, mean: float) -> Coefficients:
    from statsmodels.tsa.arima.estimators.hannan_rissanen import hannan_rissanen

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about starting values: they would tell of the data
        found = hannan_rissanen(centred, ar_order=order.autoregressive, ma_order=order.moving_average, demean=False)[0]
    return Coefficients(mean, np.asarray(found.ar_params), _invertible(np.asarray(found.ma_params)))


def _climb(centred: Floats, order: Order, mean: float, iterations: int) -> Coefficients:
    from statsmodels.tsa.arima.model import ARIMA

    shape, trend = (order.autoregressive, 0, order.moving_average), "n" if order.differences else "c"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about starting values and convergence: they would tell of the data
        found = ARIMA(centred, order=shape, trend=trend).fit(method_kwargs={"maxiter": iterations, "disp": 0})
    moved = 0.0 if order.differences else float(found.params[0])
    return Coefficients(mean + moved, np.asarray(found.arparams), np.asarray(found.maparams))


def _invertible(weights: Floats) -> Floats:
    """Return weights of the same autocorrelations whose errors can be told from the values: roots turned outward."""
    if not len(weights) or not weights.any():
        return weights
    roots = np.roots(np.concatenate((weights[::-1], [1.0])))
    outward = np.where(np.abs(roots) < 1, 1 / np.where(roots == 0, 1, roots).conj(), roots)
    turned = np.real(np.poly(outward))[::-1]
    found: Floats = np.zeros(len(weights))
    found[: len(turned) - 1] = turned[1:] / turned[0]
    return found
