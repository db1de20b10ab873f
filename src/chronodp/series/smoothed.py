"""Smoothing what a release shows: a view in, a view out, and the certificate says what was done."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from chronodp.errors import InvalidArgument
from chronodp.postprocess import (
    Floats,
    Growing,
    Method,
    NonNegative,
    RandomWalk,
    Trend,
    as_deviations,
    check_method,
    smooth_within,
)
from chronodp.series.estimates import Estimates
from chronodp.series.readings.made import LinearReading
from chronodp.series.views import View

__all__ = ["smooth_view"]


def smooth_view(view: View, *, method: Method, deviation: ArrayLike | None = None) -> View:
    """Return a view with its estimates smoothed, at the same level; its certificate tells what was done.

    See `smooth` for what each method does to bias and interval. What the release says of its numbers is checked: only
    running totals can be `Growing`, only what is never negative `NonNegative`, and a `RandomWalk` or `Trend` needs
    noise that is independent from row to row, as single periods and coarser ones have it in a release that was tuned
    for `EachPeriod`. That sums are whole, or the totals of an ``Aggregate`` never negative, is your word.

    Args:
        view: such as ``release.running_total()`` or ``release.each_period()``.
        method: what is known or supposed of the truth.
        deviation: of the noise in each row; read from the intervals unless you know better. For means, whose intervals
            are lopsided, a `RandomWalk` or `Trend` needs it said.

    Guarantee: free; that of the release.

    >>> from chronodp.privacy import Certificate, Claim, Event, Guarantee, LaplaceCost
    >>> from chronodp.series import Count, Table
    >>> claim = Claim(Event(), LaplaceCost(sensitivity=1.0, scale=1.0), "a page")
    >>> certificate = Certificate("Laplace noise, white noise", claim, Guarantee(Event(), 1.0), "definition", "a grid")
    >>> value = np.array([[4.0], [1.0], [-2.0]])
    >>> counts = Estimates(value, value - 3.0, value + 3.0)
    >>> view = View(
    ...     Table(Count(), Event(), 3), "count of people", np.arange(3), counts, 0.95, certificate, "people", "laplace",
    ...     "single", apart=True,
    ... )
    >>> smooth_view(view, method=NonNegative()).to_pandas()
       period  value  lower  upper
    0       0    3.0    1.0    7.0
    1       1    0.0    0.0    4.0
    2       2    0.0    0.0    1.0
    """
    check_method(method)
    _check_truth(view, method)
    _check_noise(view, method)
    if not view.estimates.value.size:  # no key was found: there is nothing to smooth
        return view
    spread = _read_deviation(view) if deviation is None else _given_deviation(view, deviation)
    found = smooth_within(view.estimates, spread, method=method, level=view.level)
    return replace(
        view,
        title=f"{view.title}, smoothed",
        estimates=Estimates(found.value, found.lower, found.upper),
        certificate=view.certificate.after(found.note),
        apart=False,
        made=None,
    )


def _check_truth(view: View, method: Method) -> None:
    """Refuse a constraint that the truth need not meet."""
    if view.cells is not None:
        allowed = "of counts, sums or means: smooth first; ratios, changes and what is published come last"
        raise InvalidArgument("view", view.title, allowed)
    measure = view.table.periods.measure
    if measure.bin_edges and not view.binned:
        raise InvalidArgument("view", view.title, "of counts, sums or means: quantiles are in order already")
    if isinstance(method, RandomWalk | Trend):
        return
    if isinstance(method, Growing) and view.reading != "running":
        raise InvalidArgument("method", str(method), "used on release.running_total() itself; other series may fall")
    if measure.ratio:
        raise InvalidArgument(
            "method",
            str(method),
            f"RandomWalk or Trend for {measure.noun}s, which stay within what their clip allows already",
        )
    if measure.negative or (isinstance(view.made, LinearReading) and not view.made.nonnegative):
        allowed = f"RandomWalk or Trend: {view.title if view.columns else measure} may be negative"
        raise InvalidArgument("method", str(method), allowed)
    if method.whole and (measure.averages or view.reading == "rolling"):
        raise InvalidArgument("whole", True, "False: means are not whole numbers")


def _check_noise(view: View, method: Method) -> None:
    """Refuse noise that rows share, where a method takes each row's to be its own."""
    if isinstance(method, RandomWalk | Trend) and not view.apart:
        raise InvalidArgument(
            "view",
            view.title,
            "each_period() or resample(...) of a release tuned for EachPeriod(): for a RandomWalk or Trend, rows must "
            "not share their noise",
        )
    if isinstance(method, NonNegative) and method.keep_total and view.reading not in ("single", "coarser"):
        raise InvalidArgument("keep_total", True, "False where rows overlap: their total is of nothing")


def _given_deviation(view: View, deviation: ArrayLike) -> Floats:
    periods, places = view.estimates.value.shape
    return as_deviations("deviation", deviation, (periods, places))


def _read_deviation(view: View) -> Floats:
    """The deviation that a row's interval tells, by the law of the noise."""
    from scipy.special import ndtri

    if view.columns is not None and isinstance(view.made, LinearReading):  # sums of groups: by their weights
        return np.broadcast_to(np.sqrt(view.made.linear.variance()), view.estimates.value.shape)
    value, lower, upper = view.estimates.value, view.estimates.lower, view.estimates.upper
    half = (upper - lower) / 2
    if not (np.all(half > 0) and np.allclose(value - lower, half, rtol=1e-6, atol=1e-9 * float(half.max()))):
        raise InvalidArgument("deviation", None, "given where intervals are not even on both sides, as here")
    normal = float(ndtri((1 + view.level) / 2))
    if view.law == "gaussian":
        return half / normal
    laplace = -math.log1p(-view.level) / math.sqrt(2)
    if view.apart and view.reading == "single":
        return half / laplace
    # A sum of Laplace noise lies between one term of it and the normal law: never take too little.
    return half / min(laplace, normal)
