"""Live streams: one private answer a step, durable, with a few numbers of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.display import facts_html
from chronodp.errors import InvalidArgument
from chronodp.ledger import DurableStream, Ledger, framed_codec
from chronodp.privacy import Certificate, Claim, Guarantee, as_numbers, check_fraction, check_whole
from chronodp.privacy.units import RecordUnit
from chronodp.randomness import Entropy
from chronodp.series.answers import Intervals, Memory, answer, answer_steps
from chronodp.series.ongoing import Draw, OngoingNoise, ongoing_noise
from chronodp.series.recursion import Floats, Integers
from chronodp.series.stream_design import StreamDesign, design_stream
from chronodp.series.stream_picture import stream_chart, stream_figure
from chronodp.series.window_rows import Row, check_totals, rows_by_step
from chronodp.series.workloads import CausalFilter

__all__ = ["Stream", "StreamAnswer"]

_ARGUMENT = "docs/explanation/proofs/streams.md"


@dataclass(frozen=True, slots=True)
class StreamAnswer:
    """Private answers of one or more steps.

    Attributes:
        period: the number of the step, from 0; of several steps an array.
        value: the answer; an array of steps, of series, or of steps by series.
        lower: the lower end of its interval, which covers noise.
        upper: the upper end.
    """

    period: Any
    value: Any
    lower: Any
    upper: Any


@dataclass(frozen=True, slots=True)
class _State:
    """What a stream must remember: public but for the buffers, which would give the noise away."""

    answers: Memory
    buffers: Floats

    def to_bytes(self) -> bytes:
        rows = len(self.answers.numbers).to_bytes(4, "big")
        return rows + self.answers.numbers.tobytes() + self.buffers.tobytes()

    @classmethod
    def from_bytes(cls, stored: bytes, keys: int) -> Self:
        numbers = np.frombuffer(stored[4:], dtype=np.float64).reshape(-1, keys)
        rows = int.from_bytes(stored[:4], "big")
        return cls(Memory(numbers[:rows].copy()), numbers[rows:].copy())


class Stream(DurableStream[StreamDesign, _State]):
    """Answers a workload at every step, from values that may depend on earlier answers.

    Guarantee: all answers together are (epsilon, delta)-differentially private for the unit, however values are chosen;
    exact in finite precision. Nothing is announced that is not on disk; a step is never drawn twice. The argument
    stands in ``docs/explanation/proofs/streams.md``.

    Args:
        workload: what is answered: RunningTotal(), EachPeriod(), Rolling(7), Ewm(0.1) or any Filter.
        horizon: how many steps there will be; None if it is not known.
        change: the most that one unit changes the value of one step.
        unit: who is protected; Window(24, every="1h") says how long a step is, UserPeriod("1D", timezone="UTC") where.
        max_periods: how many steps one unit changes, for `User` and `UserPeriod`.
        epsilon: of the guarantee for the whole stream, paid at once when it opens.
        delta: of that guarantee.
        ledger: what pays, and where the stream lives.
        dataset: whose budget pays.
        name: of the stream.
        keys: how many series go side by side; values of a step are then as many.
        max_groups: in how many of them one person counts within a step.
        analyst: whose part of the budget pays.
        entropy: of the noise; secure unless a test says otherwise.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("visits", unit=cdp.Event(), epsilon=1.0, delta=1e-6)
    >>> live = Stream(cdp.RunningTotal(), horizon=1000, change=1.0, unit=cdp.Event(), epsilon=1.0, delta=1e-6,
    ...               ledger=ledger, dataset="visits", name="door")
    >>> first = live.step(3.0)
    >>> live.steps([0.0, 2.0, 5.0]).value.shape, Stream.resume(ledger, "door").period
    ((3,), 4)
    >>> ledger.close_connection()
    """

    columns: ClassVar[tuple[str, ...]] = ("value", "lower", "upper")
    codec = framed_codec(
        StreamDesign,
        lambda snapshot: snapshot.state.to_bytes(),
        lambda design, stored: _State.from_bytes(stored, design.keys),
    )
    takes = ("design", StreamDesign, "a StreamDesign")

    _noise: OngoingNoise
    _draw: Draw
    _length: int
    _intervals: Intervals

    def __init__(
        self,
        workload: CausalFilter,
        *,
        horizon: int | None,
        change: float,
        unit: RecordUnit,
        max_periods: int | None = None,
        epsilon: float,
        delta: float = 0.0,
        ledger: Ledger,
        dataset: str,
        name: str,
        keys: int = 1,
        max_groups: int = 1,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> None:
        design = design_stream(
            workload,
            unit=unit,
            change=change,
            horizon=horizon,
            max_periods=max_periods,
            keys=keys,
            max_groups=max_groups,
            epsilon=epsilon,
            delta=delta,
        )
        self._open(design, ledger, dataset, name, analyst, entropy)

    @property
    def certificate(self) -> Certificate:
        """What is promised for all steps together."""
        design = self.design
        return Certificate(
            mechanism=f"{design.workload} step by step; {design.noise.law} noise, {design.shape}",
            claim=Claim(design.unit, design.cost, _ARGUMENT),
            guarantee=Guarantee(design.unit, design.epsilon, design.delta),
            theorem=design.noise.theorem,
            precision=f"whole numbers on a grid of {design.noise.step:g}; what rounding adds over {design.length:,} "
            "steps is in the sensitivity",
            seeded=self._seeded,
        )

    def step(self, value: ArrayLike, *, period: int | None = None, level: float = 0.95) -> StreamAnswer:
        """Release the next step.

        Args:
            value: of the step; with several keys one number each.
            period: the number of the step, checked if given: steps come one after another, none twice.
            level: how often the interval holds the value before noise.
        """
        several: Any = [value]
        made = self.steps(several, first=period, level=level)
        if self.design.keys == 1:
            return StreamAnswer(int(made.period[0]), float(made.value[0]), float(made.lower[0]), float(made.upper[0]))
        return StreamAnswer(int(made.period[0]), made.value[0], made.lower[0], made.upper[0])

    def steps(self, values: ArrayLike, *, first: int | None = None, level: float = 0.95) -> StreamAnswer:
        """Release several steps at once, in one transaction; with several keys values are steps by keys."""
        intervals = self._intervals
        if not isinstance(level, float) or level != intervals.level:
            intervals = Intervals(self.design, level)
        numbers = self._check_values(values)
        design = self.design
        with self._lock:
            begin, self._intervals = self.period, intervals
            self._check_next(first, len(numbers), length=self._length, left_out="skip() counts them as 0")
            if not len(numbers):
                empty = np.zeros((0,) if design.keys == 1 else (0, design.keys))
                return StreamAnswer(np.zeros(0, np.int64), empty, empty, empty)
            noisy, buffers = self._add_noise(numbers)
            answers, after = answer(design.workload, self._state.answers, design.grid.to_values(noisy))
            half = intervals.halves(begin, len(numbers))
            self._commit(_State(after, buffers), noisy.tolist(), finished=begin + len(numbers) == self._length)
        return self._answer(begin, answers, half)

    def skip(self, count: int, *, level: float = 0.95) -> StreamAnswer:
        """Release ``count`` steps in which nothing came: they count as 0, and are answered like all others."""
        check_whole("count", count, most=self.design.length)
        return self.steps(np.zeros((count, self.design.keys)), level=level)

    def released(self, *, level: float = 0.95) -> StreamAnswer:
        """Return all answers so far, read back from the ledger; nothing is spent."""
        check_fraction("level", level)
        memory = Memory.start(self.design.workload, self.design.keys)
        answers, half, _ = answer_steps(self.design, memory, self._committed(), begin=0, level=level)
        return self._answer(0, answers, half)

    def release_windows(self, first: int, totals: ArrayLike, *, level: float = 0.95) -> list[list[Row]]:
        """Release windows from ``first`` on, windows by keys, and return rows by window, one a key."""
        numbers = check_totals(totals, self.design.keys)
        made = self.steps(numbers, first=first, level=level)
        return rows_by_step(len(numbers), value=made.value, lower=made.lower, upper=made.upper)

    def released_windows(self, first: int, end: int, *, level: float = 0.95) -> list[list[Row]]:
        """Return rows of windows released before, as `release_windows` did."""
        made = self.released(level=level)
        part = slice(first, end)
        return rows_by_step(end - first, value=made.value[part], lower=made.lower[part], upper=made.upper[part])

    def __repr__(self) -> str:
        return f"Stream({self.name!r}, {self.design.workload}, {self.period} steps released)"

    @property
    def _answers(self) -> list[tuple[str, str]]:
        design = self.design
        side = f" of {design.keys:,} series side by side" if design.keys > 1 else ""
        return [
            ("Stream", f"{self.name}: {design.workload}{side}"),
            ("Steps", f"{self.period:,} of {design.length:,} released"),
        ]

    @property
    def _promise(self) -> str:
        return str(self.certificate.guarantee)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: its newest answers in their band, then the same in words."""
        return f"<div>{stream_chart(self)}{facts_html(self._facts)}</div>"

    def plot(self) -> Any:
        """Return a Plotly figure of all answers so far in their bands, read back from the ledger; nothing is spent."""
        return stream_figure(self)

    @classmethod
    def _start(cls, design: StreamDesign, entropy: Entropy) -> _State:
        del entropy
        answers = Memory.start(design.workload, design.keys)
        return _State(answers, ongoing_noise(design.shape, design.length).start(design.keys))

    def _prepare(self) -> None:
        design = self.design
        self._length, self._intervals = design.length, Intervals(design, 0.95)
        self._noise, self._draw = ongoing_noise(design.shape, self._length), design.noise.draws(self._entropy)

    def _check_values(self, values: ArrayLike) -> NDArray[Any]:
        keys = self.design.keys
        allowed = "finite numbers, one a step" if keys == 1 else f"finite numbers, {keys} a step"
        numbers = as_numbers("values", values, allowed)
        if numbers.ndim == 1 and keys == 1:
            numbers = numbers[:, None]
        if numbers.ndim != 2 or numbers.shape[1] != keys or not np.all(np.isfinite(numbers)):
            raise InvalidArgument("values", values, allowed, private=True)
        return numbers

    def _add_noise(self, numbers: NDArray[Any]) -> tuple[Integers, Floats]:
        buffers, shaped = self._noise.advance(self._state.buffers, self.period, len(numbers), self._draw)
        return self.design.grid.to_quanta(numbers) + shaped, buffers

    def _answer(self, begin: int, answers: Floats, half: Floats) -> StreamAnswer:
        value, half = (answers[:, 0], half) if self.design.keys == 1 else (answers, half[:, None])
        return StreamAnswer(np.arange(begin, begin + len(answers)), value, value - half, value + half)
