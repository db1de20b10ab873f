"""A private filter: measurements in, states out, step by step, each on disk before it is published.

Only noisy measurements are released and stored. The state is computed from them, so it is free, and after a restart
it is computed again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.ledger import DurableStream, Ledger, Snapshot, StateCodec
from chronodp.postprocess import Floats, NormalEstimates
from chronodp.privacy import Certificate, Claim, Guarantee, check_fraction, load
from chronodp.randomness import Entropy
from chronodp.state_space.design import FilterDesign
from chronodp.state_space.filter import Belief, filter_states, first_belief, pass_through, predict
from chronodp.state_space.perturb import Row, perturb
from chronodp.state_space.smoother import smooth_states

__all__ = ["PrivateFilter", "StateAnswer"]

_ARGUMENT = "docs/explanation/proofs/state-estimation.md"


@dataclass(frozen=True, slots=True, eq=False)
class StateAnswer:
    """Private estimates of one or more states.

    Attributes:
        period: the number of the step, from 0; of several steps an array.
        value: the estimate, n numbers; of several steps steps × n.
        lower: the lower ends of intervals, which hold as far as the model does.
        upper: the upper ends.
    """

    period: Any
    value: Floats
    lower: Floats
    upper: Floats


def _body(snapshot: Snapshot[FilterDesign, None]) -> bytes:
    return json.dumps({"design": snapshot.plan, "seeded": snapshot.seeded}).encode()


def _decode(sealed: bytes) -> Snapshot[FilterDesign, None]:
    head = json.loads(sealed)
    design: FilterDesign = load(head["design"], FilterDesign)
    return Snapshot(head["design"], design, None, bool(head["seeded"]))


class PrivateFilter(DurableStream[FilterDesign, None]):
    """Estimates the state of a system from measurements that never leave without noise.

    Each step releases the measurement on a grid with noise, or with a ``clip`` the public prediction plus the clipped
    surprise with noise, and moves the state by the gain made for R + σ² I. A channel that is NaN has no measurement;
    that it has none is taken for public.

    Guarantee: all answers together are (epsilon, delta)-differentially private for the unit, however measurements are
    chosen; exact in finite precision. With a `CausedChange` this rests on the model, and the certificate says so. A
    step is never drawn twice. The argument stands in ``docs/explanation/proofs/state-estimation.md``.

    Args:
        design: made by `design_filter`.
        ledger: what pays, once, when the filter opens; and where it lives.
        dataset: whose budget pays.
        name: of the stream.
        analyst: whose part of the budget pays.
        entropy: of the noise; secure unless a test says otherwise.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> from chronodp.state_space import StateSpace, design_filter
    >>> room = StateSpace(transition=[[0.95]], observation=[[1.0]], process_noise=[[0.1]], measurement_noise=[[0.5]])
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("room", unit=cdp.Event(), epsilon=1.0, delta=1e-5)
    >>> design = design_filter(room, change=1.0, unit=cdp.Event(), epsilon=1.0, delta=1e-5)
    >>> live = PrivateFilter(design, ledger=ledger, dataset="room", name="heat")
    >>> first = live.step([0.4])
    >>> live.steps([[0.5], [float("nan")], [0.3]]).value.shape, PrivateFilter.resume(ledger, "heat").period
    ((3, 1), 4)
    >>> ledger.close_connection()

    References:
        Le Ny, Pappas (2014), Differentially private filtering.
    """

    codec = StateCodec(_body, _decode)
    takes = ("design", FilterDesign, "what design_filter(...) returns")

    _next: Belief

    def __init__(
        self,
        design: FilterDesign,
        *,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> None:
        self._open(design, ledger, dataset, name, analyst, entropy)

    @property
    def certificate(self) -> Certificate:
        """What is promised for all steps together."""
        design = self.design
        what = "measurements" if design.clip is None else f"surprises clipped to ±{design.clip:g}"
        what += f" of {design.model.channels} channels step by step, {design.change}"
        return Certificate(
            mechanism=f"{what}; {design.noise.law} noise",
            claim=Claim(design.unit, design.cost, _ARGUMENT),
            guarantee=Guarantee(design.unit, design.epsilon, design.delta, design.assumptions),
            theorem=design.noise.theorem,
            precision=f"whole numbers on a grid of {design.noise.step:g}; what rounding adds is in the sensitivity",
            seeded=self._seeded,
            processing=("states estimated by a Kalman filter whose gain is made for the noise",),
        )

    def step(self, measurement: ArrayLike | None, *, period: int | None = None, level: float = 0.95) -> StateAnswer:
        """Release the next state.

        Args:
            measurement: one number a channel; NaN for a channel that has none, and None if none has.
            period: the number of the step, checked if given: steps come one after another, none twice.
            level: of the interval.
        """
        given = np.full(self.design.model.channels, np.nan) if measurement is None else np.atleast_1d(measurement)
        made = self.steps(given[None], first=period, level=level)
        return StateAnswer(int(made.period[0]), made.value[0], made.lower[0], made.upper[0])

    def steps(self, values: ArrayLike, *, first: int | None = None, level: float = 0.95) -> StateAnswer:
        """Release several states at once, in one transaction; values are steps × channels."""
        from scipy.special import ndtri

        wide = float(ndtri((1 + check_fraction("level", level)) / 2))
        numbers = _check_values(values, self.design.model.channels)
        design = self.design
        with self._lock:
            begin = self.period
            self._check_next(first, len(numbers), length=design.length, left_out="step(None) has no measurement")
            if not len(numbers):
                empty = np.zeros((0, design.model.states))
                return StateAnswer(np.zeros(0, np.int64), empty, empty, empty)
            rows, beliefs, following = perturb(design, self._next, numbers, self._entropy)
            self._commit(None, rows, finished=begin + len(rows) == design.length)
            self._next = following
        half = wide * beliefs.deviation
        return StateAnswer(
            np.arange(begin, begin + len(rows)), beliefs.value, beliefs.value - half, beliefs.value + half
        )

    def released(self) -> Floats:
        """Return the noisy measurements of all steps so far, steps × channels, NaN where there was none. Free."""
        rows: Sequence[Row] = self._committed()
        numbers = np.array(rows, dtype=np.float64).reshape(len(rows), self.design.model.channels)
        return numbers * self.design.noise.step

    def filtered(self) -> NormalEstimates:
        """Return all states so far, each from measurements up to it. Free."""
        return filter_states(self.design.model, self.released(), added=self.design.added)

    def smoothed(self) -> NormalEstimates:
        """Return all states so far, each from all measurements. Free."""
        return smooth_states(self.design.model, self.released(), added=self.design.added)

    def __repr__(self) -> str:
        return f"PrivateFilter({self.name!r}, {self.design.model.states} states, {self.period} steps released)"

    @classmethod
    def _start(cls, design: FilterDesign, entropy: Entropy) -> None:
        """Nothing: the state is computed from what was released."""

    def _prepare(self) -> None:
        model, added = self.design.model, self.design.added
        self._next = first_belief(model, added=added)
        if self.period:
            passed = pass_through(model, self.released(), added=added, first=self._next)
            self._next = predict(model, Belief(passed.means[-1], passed.posterior[-1]))


def _check_values(values: ArrayLike, channels: int) -> Floats:
    allowed = f"numbers, steps × {channels} channels, NaN where there is none"
    try:
        numbers: NDArray[Any] = np.asarray(values)
    except (ValueError, TypeError):
        raise InvalidArgument("values", values, allowed, private=True) from None
    if numbers.ndim == 1 and channels == 1:
        numbers = numbers[:, None]
    if numbers.dtype.kind not in "iuf" or numbers.ndim != 2 or numbers.shape[1] != channels or np.isinf(numbers).any():
        raise InvalidArgument("values", values, allowed, private=True)
    return numbers.astype(np.float64)
