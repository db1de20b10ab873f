"""How well each order predicts the end of one piece, from a fit on its beginning; and of many pieces at once."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chronodp.engines import Progress
from chronodp.privacy import check_positive, check_whole
from chronodp.selection.arima.fitting import Fit, check_fit, fit_coefficients
from chronodp.selection.arima.order import Order

__all__ = ["Validation", "losses_of"]

Floats = NDArray[np.float64]

_CHUNK = 8


@dataclass(frozen=True, slots=True)
class Validation:
    """What is done with each piece, all of it public.

    Attributes:
        fit: how coefficients are fitted.
        holdout: how many of the last values are predicted, each from all before it, and not fitted to.
        longest: how many of the last values of a piece are used at all.
        largest_error: errors beyond count as this large, in units of the data; all losses then lie in [0, 1]. Without
            it losses are mean squares, relative to the variance of the piece's beginning.
    """

    fit: Fit
    holdout: int
    longest: int
    largest_error: float | None = None

    def __post_init__(self) -> None:
        check_fit(self.fit, ())
        check_whole("holdout", self.holdout)
        check_whole("longest", self.longest, least=self.holdout + 2)
        if self.largest_error is not None:
            check_positive("largest_error", self.largest_error)

    def __str__(self) -> str:
        clipped = "" if self.largest_error is None else f", errors up to {self.largest_error!r}"
        tail = f"the last {self.holdout} of at most {self.longest} values"
        return f"one-step errors of {tail}{clipped}, fitted by {self.fit}"


def losses_of(
    pieces: Sequence[Floats],
    orders: tuple[Order, ...],
    validation: Validation,
    *,
    workers: int = 1,
    progress: Progress = lambda _: None,
) -> Floats:
    """Return one row of losses a piece, one column an order; infinite where a fit failed. FOR THE OWNER ONLY.

    A row depends on its own piece only. With several workers pieces are fitted in as many processes.
    """
    check_whole("workers", workers, most=256)
    check_fit(validation.fit, orders)
    rows = []
    for row in _rows(pieces, partial(_losses, orders=orders, validation=validation), workers):
        rows.append(row)
        progress(len(rows) / len(pieces))
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(orders))


def _rows(pieces: Sequence[Floats], work: partial[list[float]], workers: int) -> Iterator[list[float]]:
    if workers == 1:
        yield from map(work, pieces)
        return
    # A forked child may inherit a lock that another thread held.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(work, pieces, chunksize=_CHUNK)


def _losses(piece: Floats, *, orders: tuple[Order, ...], validation: Validation) -> list[float]:
    values = piece[np.isfinite(piece)][-validation.longest :]
    with np.errstate(all="ignore"):
        return [_loss(values, order, validation) for order in orders]


def _loss(values: Floats, order: Order, validation: Validation) -> float:
    from scipy.signal import lfilter

    differenced = np.diff(values, order.differences)
    beginning = differenced[: max(len(differenced) - validation.holdout, 0)]
    if len(beginning) < 2 + 2 * (order.autoregressive + order.moving_average):
        return math.inf
    # In units of the piece's own spread, which all orders share: powers of large values then seldom overflow.
    spread = float(np.std(values[: len(values) - validation.holdout])) or 1.0
    scaled = beginning / spread
    if not np.all(np.isfinite(scaled)):  # some libraries print about such numbers, which would tell of them
        return math.inf
    try:
        found = fit_coefficients(scaled, order, validation.fit)
    except Exception:  # any failure of a fit is a candidate's, and must not be the caller's: it would tell of the data
        return math.inf
    past = np.concatenate(([1.0], -found.autoregressive))
    errors = lfilter(past, np.concatenate(([1.0], found.moving_average)), differenced / spread - found.mean)
    squares = errors[-validation.holdout :] ** 2
    if validation.largest_error is not None:
        squares = np.minimum(squares * (spread / validation.largest_error) ** 2, 1.0)
    loss = float(squares.mean())
    return loss if math.isfinite(loss) else math.inf
