"""Alerts: values in, and out of them only which steps lie beyond a threshold; quiet steps cost nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from chronodp.alerts.advance import advance, start, tell_values
from chronodp.alerts.answer import AlertAnswer
from chronodp.alerts.design import AlertDesign, design_alert
from chronodp.alerts.noise import Noise
from chronodp.alerts.plan import plan_alert
from chronodp.alerts.scaling import to_quantum
from chronodp.alerts.split import Split
from chronodp.alerts.state import AlertState
from chronodp.errors import StreamConflict
from chronodp.ledger import DurableStream, Ledger, framed_codec
from chronodp.privacy import Certificate, Claim, Guarantee, at_least
from chronodp.privacy.units import RecordUnit
from chronodp.randomness import Entropy, Lineage
from chronodp.series import Row, check_totals

__all__ = ["Alert"]

_ARGUMENT = "docs/explanation/proofs/alerts.md"
_SHOWN = 20  # of the newest alerts, where one shows itself
_AHEAD = 4096  # draws of noise made ahead for single steps


class Alert(DurableStream[AlertDesign, AlertState]):
    """Tells which steps lie beyond a threshold, and halts for good after the last alert that is paid for.

    Guarantee: all answers together are epsilon-differentially private for the unit, however values are chosen and
    however many steps are quiet; with values told, epsilon + max_alerts × value_epsilon. All values may change at
    once, each by at most ``change``: so a person is protected in however many steps they count. Exact in finite
    precision. An alert is on disk before it is published. The argument stands in ``docs/explanation/proofs/alerts.md``.

    Args:
        above: fire when a value is at or above this. Either this or ``below``.
        below: fire when a value is at or below this.
        change: the most that one unit changes any value.
        unit: who is protected.
        max_alerts: how many alerts are paid for.
        epsilon: of all alerts together, paid when the alert opens; or a `Split` of your own.
        monotone: True if one unit moves all values in one direction, as in counts that nobody can lower: noise of
            values is then halved. Only for units that are added or removed; and unless the unit is a `User`, values
            must not come from choosing among one person's periods.
        value_epsilon: also tell a noisy value with each alert, at this price each.
        noise: `Exponential()`, or the textbook's `Laplace()`.
        ledger: what pays, and where the alert lives.
        dataset: whose budget pays.
        name: of the alert.
        analyst: whose part of the budget pays.
        entropy: of the noise; secure unless a test says otherwise.

    References:
        Dwork, Naor, Reingold, Rothblum, Vadhan (2009), On the complexity of differentially private data release.
        Lyu, Su, Li (2017), Understanding the sparse vector technique for differential privacy.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("meters", unit=cdp.User(), epsilon=2.0)
    >>> alarm = Alert(above=500.0, change=1.0, unit=cdp.User(), max_alerts=2, epsilon=1.0,
    ...               ledger=ledger, dataset="meters", name="alarm")
    >>> [bool(alarm.step(value)) for value in (100.0, 900.0, 100.0)]
    [False, True, False]
    >>> Alert.resume(ledger, "alarm").alerts                 # after a restart or a crash
    1
    >>> ledger.close_connection()
    """

    columns: ClassVar[tuple[str, ...]] = ("alert", "alert_value")
    plan = staticmethod(plan_alert)
    codec = framed_codec(
        AlertDesign, lambda snapshot: snapshot.state.to_bytes(), lambda _, stored: AlertState.from_bytes(stored)
    )
    takes = ("design", AlertDesign, "an AlertDesign")

    # If the ledger fails while an alert is written, the error itself shows that a step fired. So the alert counts from
    # then on and must be written before anything else is asked: until then this is ahead of what is on disk.
    _newest: AlertState
    _unwritten: list[dict[str, int | float | None]]
    _period: int
    _noise: list[int]
    _generation: int

    def __init__(
        self,
        *,
        above: float | None = None,
        below: float | None = None,
        change: float,
        unit: RecordUnit,
        max_alerts: int,
        epsilon: float | Split,
        monotone: bool = False,
        value_epsilon: float = 0.0,
        noise: Noise | None = None,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> None:
        design = design_alert(
            above=above,
            below=below,
            change=change,
            unit=unit,
            max_alerts=max_alerts,
            epsilon=epsilon,
            monotone=monotone,
            value_epsilon=value_epsilon,
            noise=noise,
        )
        self._open(design, ledger, dataset, name, analyst, entropy)

    @property
    def period(self) -> int:
        """The number of the next step, from 0."""
        return self._period

    @property
    def alerts(self) -> int:
        """How many alerts were published."""
        return self._newest.alerts

    @property
    def finished(self) -> bool:
        """Whether the last alert was published, as `halted` says."""
        return self.halted

    @property
    def halted(self) -> bool:
        """Whether the last alert was published: no step can be asked any more."""
        return self._newest.alerts == self.design.max_alerts

    @property
    def history(self) -> list[AlertAnswer]:
        """All alerts on disk: also those that a crash kept from being told."""
        return [AlertAnswer(line["alert"], True, line["value"]) for line in self._committed() if "alert" in line]

    @property
    def certificate(self) -> Certificate:
        """What is promised for all steps together."""
        design = self.design
        return Certificate(
            mechanism=f"sparse vector: {design}",
            claim=Claim(design.unit, design.cost, _ARGUMENT),
            guarantee=Guarantee(design.unit, design.cost.epsilon),
            theorem="the sparse vector technique (pure)",
            precision=f"whole numbers on a grid of {design.step:g}; the noise has exactly the stated law",
            seeded=self._seeded,
        )

    def step(self, value: float) -> AlertAnswer:
        """Ask whether the next value lies beyond the threshold."""
        with self._lock:
            self._check_open()
            design, state = self.design, self._newest
            steps = design.sign * to_quantum(value, design.step)
            period = self._period
            fired = steps + self._fresh() >= state.threshold
            self._period = period + 1
            if not fired:
                return AlertAnswer(period, False, None)
            told = None
            if design.value_epsilon:
                told = float(tell_values(design, np.array([steps]), self._entropy)[0])
            answer = AlertAnswer(period, True, told)
            self._write(AlertState(state.threshold, state.alerts + 1, period + 1), [_line(answer)])
            return answer

    def steps(self, values: ArrayLike) -> AlertAnswer:
        """Ask for several values at once; after the last alert the rest is not asked, and answers are fewer."""
        with self._lock:
            first = self._period
            self._check_open()
            state, alarms = advance(self.design, replace(self._newest, period=first), values, self._entropy)
            self._period = state.period
            fired, told = np.zeros(state.period - first, np.bool_), np.full(state.period - first, np.nan)
            fired[alarms.periods - first] = True
            if alarms.values is not None:
                told[alarms.periods - first] = alarms.values
            if len(alarms.periods):
                self._write(state, [_line(answer) for answer in alarms.answers()])
            return AlertAnswer(np.arange(first, state.period), fired, told)

    def save(self) -> None:
        """Put the number of the next step on disk, so that an alert resumed later goes on with it."""
        with self._lock:
            self._check_open()
            if self._period != self._newest.period:
                self._write(replace(self._newest, period=self._period), [{"saved": self._period}])

    def release_windows(self, first: int, totals: ArrayLike, *, level: float = 0.95) -> list[list[Row]]:
        """Ask for windows from ``first`` on; how many were asked is on disk before any answer is returned.

        Windows after the last alert that is paid for are not asked: their rows hold None.
        """
        del level  # it has no intervals
        if first != self._period:
            raise StreamConflict(f"window {first} is not the next one, {self._period}")
        numbers = check_totals(totals, 1)
        made = self.steps(numbers[:, 0])
        if not self.halted:
            self.save()
        values = [float(value) if np.isfinite(value) else None for value in made.value]
        asked = [_row(bool(fired), value) for fired, value in zip(made.fired, values, strict=True)]
        return asked + [_row(None, None) for _ in range(len(numbers) - len(asked))]

    def released_windows(self, first: int, end: int, *, level: float = 0.95) -> list[list[Row]]:
        """Return rows of windows asked before, as `release_windows` did: windows without an alert were quiet."""
        del level
        fired = {one.period: one.value for one in self.history}
        last = max(fired, default=-1) if self.halted else end
        return [
            _row(window in fired, fired.get(window)) if window <= last else _row(None, None)
            for window in range(first, end)
        ]

    def __repr__(self) -> str:
        return f"Alert({self.name!r}, {self.design}, {self.alerts} told)"

    @property
    def _answers(self) -> list[tuple[str, str]]:
        steps = ", ".join(f"{one.period:,}" for one in self.history[-_SHOWN:])
        told = f"{self.alerts:,} of {self.design.max_alerts:,} told" + (f", at step {steps}" if steps else "")
        return [
            ("Alert", f"{self.name}: {self.design}"),
            ("Steps", f"{self.period:,} asked"),
            ("Alerts", told + ("; halted, as no more were paid for" if self.halted else "")),
        ]

    @property
    def _promise(self) -> str:
        return str(self.certificate.guarantee)

    @classmethod
    def _start(cls, design: AlertDesign, entropy: Entropy) -> AlertState:
        return start(design, entropy)

    def _prepare(self) -> None:
        self._newest, self._unwritten, self._period = self._state, [], self._state.period
        self._noise, self._generation = [], Lineage.generation

    def _check_open(self) -> None:
        """Write what a failure left unwritten, and refuse if the last alert was published."""
        if self._unwritten:
            self._write(self._newest, self._unwritten)
        if self.halted:
            raise StreamConflict(
                f"alert {self.name!r} has published its {self.design.max_alerts} alerts and is halted for good; "
                "nothing was asked or spent: open another under a new name"
            )

    def _write(self, state: AlertState, lines: list[dict[str, int | float | None]]) -> None:
        """Commit a state and what led to it; it may be published once this returns."""
        self._newest, self._unwritten = state, lines
        self._commit(state, lines, finished=self.halted)
        self._unwritten = []

    def _fresh(self) -> int:
        """Return unused noise for a value, from a batch drawn ahead that no forked child shares."""
        if self._generation != Lineage.generation:
            self._noise, self._generation = [], Lineage.generation
        if not self._noise:
            drawn = self.design.noise.draw(at_least(self.design.query_scale), _AHEAD, self._entropy)
            self._noise = drawn[::-1].tolist()
        return self._noise.pop()


def _row(fired: bool | None, value: float | None) -> list[Row]:
    return [{"alert": fired, "alert_value": value}]


def _line(answer: AlertAnswer) -> dict[str, int | float | None]:
    return {"alert": answer.period, "value": answer.value}
