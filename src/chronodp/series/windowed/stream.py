"""A windowed stream: values in, releases out, one step after another, each on disk before it is told."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.ledger import Ledger, Running, Spend, Standing, packed
from chronodp.privacy import Certificate, Claim, Guarantee, Window, dump
from chronodp.privacy.parameters import check_kind, check_whole
from chronodp.randomness import Entropy, check_entropy
from chronodp.series.windowed.advance import advance
from chronodp.series.windowed.design import LONGEST_WINDOW, WindowedDesign, design_windowed
from chronodp.series.windowed.mechanisms import WindowedMechanism
from chronodp.series.windowed.state import WindowedState, start

__all__ = ["WindowedAnswer", "WindowedStream"]

_ARGUMENT = "docs/explanation/proofs/w-event.md"


@dataclass(frozen=True, slots=True)
class WindowedAnswer:
    """What is released at one step. All of it is public.

    Attributes:
        period: the number of the step, from 0.
        value: the release: a number, or an array of columns.
        fresh: whether it was made from this step's values; otherwise the last release is repeated.
        spend: the share of the guarantee, from 0 to 1, that this step was charged.
    """

    period: int
    value: Any
    fresh: bool
    spend: Fraction


class WindowedStream:
    """Releases counts step by step, without end, so that any window of so many periods is protected.

    Guarantee: all releases together are (epsilon, delta)-differentially private for `Window` (everything of one person
    in any ``window`` consecutive periods), however values are chosen; exact in finite precision. What a person does
    over longer times adds up: n windows cost n epsilon. The argument stands in ``docs/explanation/proofs/w-event.md``.

    Args:
        mechanism: Uniform(), Sample(), BudgetDistribution() or BudgetAbsorption().
        window: how many consecutive periods are protected together; or a `Window` with its relation, and with the
            length of a period, such as Window(24, every="1h").
        change: the most that one person changes one column in one period.
        epsilon: of the guarantee.
        delta: of the guarantee; above 0 only for Uniform(), whose noise is then Gaussian.
        columns: how many series go side by side.
        max_groups: in how many of them one person counts within a period.
        ledger: what pays, once, when the stream opens; and where it lives.
        dataset: whose budget pays.
        name: of the stream.
        analyst: whose part of the budget pays.
        entropy: of the noise; secure unless a test says otherwise.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> from chronodp.series.windowed import Sample
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("ward", unit=cdp.Window(3), epsilon=1.0)
    >>> live = WindowedStream(Sample(), window=3, change=1.0, epsilon=1.0, ledger=ledger, dataset="ward", name="beds")
    >>> [live.step(value).fresh for value in (100, 101, 102, 103)], live.rolling_spend
    ([True, False, False, True], Fraction(1, 1))
    >>> WindowedStream.resume(ledger, "beds").period
    4
    >>> ledger.close_connection()
    """

    design: WindowedDesign
    _running: Running[WindowedDesign, WindowedState]

    def __init__(
        self,
        mechanism: WindowedMechanism,
        *,
        window: int | Window,
        change: float,
        epsilon: float,
        delta: float = 0.0,
        columns: int = 1,
        max_groups: int = 1,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> None:
        unit = window if isinstance(window, Window) else Window(check_whole("window", window, most=LONGEST_WINDOW))
        design = design_windowed(
            mechanism, unit=unit, change=change, columns=columns, max_groups=max_groups, epsilon=epsilon, delta=delta
        )
        self._open(design, ledger, dataset, name, analyst, entropy)

    @classmethod
    def open(
        cls,
        design: WindowedDesign,
        *,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> Self:
        """Return a stream of a design that was made before."""
        check_kind("design", design, WindowedDesign, "a WindowedDesign")
        stream = cls.__new__(cls)
        stream._open(design, ledger, dataset, name, analyst, entropy)
        return stream

    @classmethod
    def resume(cls, ledger: Ledger, name: str, *, entropy: Entropy | None = None) -> Self:
        """Return a stream where it stands, after a restart or a crash."""
        stream = cls.__new__(cls)
        stream._running = Running.resume(_FORM, ledger, name, entropy=entropy)
        stream.design = stream._running.design
        return stream

    @property
    def period(self) -> int:
        """The number of the next step, from 0."""
        return self._running.step

    @property
    def rolling_spend(self) -> Fraction:
        """The largest share of the guarantee, from 0 to 1, that any window so far was charged."""
        return self._running.memory.rolling_spend(self.design)

    @property
    def certificate(self) -> Certificate:
        """What is promised for all steps together."""
        design = self.design
        return Certificate(
            mechanism=f"counts step by step; {design.mechanism}",
            claim=Claim(design.unit, design.cost, _ARGUMENT),
            guarantee=Guarantee(design.unit, design.epsilon, design.delta),
            theorem="Gaussian differential privacy (exact)" if design.delta else "sums over any window (pure)",
            precision=f"whole numbers on a grid of {design.step:g}; shares of the budget are whole numbers",
            seeded=self._running.seeded,
        )

    def step(self, values: ArrayLike) -> WindowedAnswer:
        """Release the next step: one number, or with several columns one each."""
        running = self._running
        with running.lock:
            before = running.memory
            after, released = advance(self.design, before, values, running.entropy)
            running.advance(after, [released.tolist()])
            charged = int(after.spent[-1])
        value = float(released[0]) if self.design.columns == 1 else released
        return WindowedAnswer(before.step, value, charged > self.design.watch, Fraction(charged, self.design.total))

    def released(self) -> NDArray[np.float64]:
        """Return all releases so far, steps by columns, read back from the ledger; nothing is spent."""
        rows = self._running.released()
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.design.columns)

    def __repr__(self) -> str:
        return f"WindowedStream({self.design.mechanism}, {self.design.unit}, {self.period} steps released)"

    def _open(
        self,
        design: WindowedDesign,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str,
        entropy: Entropy | None,
    ) -> None:
        bits = check_entropy(entropy)
        self.design = design
        self._running = Running.open(
            _FORM,
            name,
            Standing(dump(design), design, start(design), bits.seeded),
            Spend(dataset, design.cost, design.unit, analyst),
            ledger=ledger,
            entropy=bits,
        )


_FORM = packed(WindowedDesign, WindowedState.to_bytes, lambda _, stored: WindowedState.from_bytes(stored))
