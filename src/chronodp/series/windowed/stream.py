"""A windowed stream: values in, releases out, one step after another, each on disk before it is published."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.ledger import DurableStream, Ledger, framed_codec
from chronodp.privacy import Certificate, Claim, Guarantee, Window
from chronodp.randomness import Entropy
from chronodp.series.window_rows import Row, check_totals, rows_by_step
from chronodp.series.windowed.advance import advance
from chronodp.series.windowed.design import WindowedDesign, as_window, design_windowed
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


class WindowedStream(DurableStream[WindowedDesign, WindowedState]):
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

    columns: ClassVar[tuple[str, ...]] = ("value",)
    codec = framed_codec(
        WindowedDesign, lambda snapshot: snapshot.state.to_bytes(), lambda _, stored: WindowedState.from_bytes(stored)
    )
    takes = ("design", WindowedDesign, "a WindowedDesign")

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
        unit = as_window(window)
        design = design_windowed(
            mechanism, unit=unit, change=change, columns=columns, max_groups=max_groups, epsilon=epsilon, delta=delta
        )
        self._open(design, ledger, dataset, name, analyst, entropy)

    @property
    def rolling_spend(self) -> Fraction:
        """The largest share of the guarantee, from 0 to 1, that any window so far was charged."""
        return self._state.rolling_spend(self.design)

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
            seeded=self._seeded,
        )

    def step(self, values: ArrayLike) -> WindowedAnswer:
        """Release the next step: one number, or with several columns one each."""
        with self._lock:
            before = self._state
            after, released = advance(self.design, before, values, self._entropy)
            self._commit(after, [released.tolist()])
            charged = int(after.spent[-1])
        value = float(released[0]) if self.design.columns == 1 else released
        return WindowedAnswer(before.step, value, charged > self.design.watch, Fraction(charged, self.design.total))

    def released(self) -> NDArray[np.float64]:
        """Return all releases so far, steps by columns, read back from the ledger; nothing is spent."""
        rows = self._committed()
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.design.columns)

    def release_windows(self, first: int, totals: ArrayLike, *, level: float = 0.95) -> list[list[Row]]:
        """Release windows from ``first`` on, windows by columns, one after another, as rows by window."""
        del level  # it has no intervals
        numbers = check_totals(totals, self.design.columns)
        self._check_next(first, len(numbers), length=first + len(numbers), left_out="a window without records is 0")
        return rows_by_step(len(numbers), value=np.array([self.step(row).value for row in numbers]))

    def released_windows(self, first: int, end: int, *, level: float = 0.95) -> list[list[Row]]:
        """Return rows of windows released before, as `release_windows` did."""
        del level
        return rows_by_step(end - first, value=self.released()[first:end])

    def __repr__(self) -> str:
        return f"WindowedStream({self.design.mechanism}, {self.design.unit}, {self.period} steps released)"

    @classmethod
    def _start(cls, design: WindowedDesign, entropy: Entropy) -> WindowedState:
        del entropy
        return start(design)
