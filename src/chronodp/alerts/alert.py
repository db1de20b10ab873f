"""Alerts: values in, and out of them only which steps lie beyond a threshold; quiet steps cost nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from chronodp.alerts.advance import advance, start, tell_values
from chronodp.alerts.answer import AlertAnswer
from chronodp.alerts.design import AlertDesign, design_alert
from chronodp.alerts.noise import Noise
from chronodp.alerts.plan import plan_alert
from chronodp.alerts.record import FORM, AlertRecord
from chronodp.alerts.scaling import to_step
from chronodp.alerts.split import Split
from chronodp.alerts.state import AlertState
from chronodp.ledger import Ledger, Running, Spend, Standing
from chronodp.privacy import Certificate, Claim, Guarantee, dump
from chronodp.privacy.exact import at_least
from chronodp.privacy.parameters import check_kind
from chronodp.privacy.units import RecordUnit
from chronodp.randomness import Entropy, check_entropy
from chronodp.randomness.keystream import Lineage

__all__ = ["Alert"]

_ARGUMENT = "docs/explanation/proofs/alerts.md"
_AHEAD = 4096  # draws of noise made ahead for single steps


class Alert:
    """Tells which steps lie beyond a threshold, and halts for good after the last alert that is paid for.

    Guarantee: all answers together are epsilon-differentially private for the unit, however values are chosen and
    however many steps are quiet; with values told, epsilon + max_alerts × value_epsilon. All values may change at
    once, each by at most ``change``: so a person is protected in however many steps they count. Exact in finite
    precision. An alert is on disk before it is told. The argument stands in ``docs/explanation/proofs/alerts.md``.

    Args:
        above: fire when a value is at or above this. Either this or ``below``.
        below: fire when a value is at or below this.
        change: the most that one unit changes any value.
        unit: who is protected.
        max_alerts: how many alerts are paid for.
        epsilon: of all alerts together, paid when the alert opens; or a `Split` of your own.
        monotone: True if one unit moves all values in one direction, as in counts that nobody can lower: noise of
            values is then halved. Only for units that are there or not; and unless the unit is a `User`, values must
            not come from choosing among one person's periods.
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

    plan = staticmethod(plan_alert)

    _record: AlertRecord
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

    @classmethod
    def open(
        cls,
        design: AlertDesign,
        *,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> Self:
        """Return an alert of a design that was made before."""
        check_kind("design", design, AlertDesign, "an AlertDesign")
        alert = cls.__new__(cls)
        alert._open(design, ledger, dataset, name, analyst, entropy)
        return alert

    @classmethod
    def resume(cls, ledger: Ledger, name: str, *, entropy: Entropy | None = None) -> Self:
        """Return an alert where it stands, after a restart or a crash: the same noisy threshold, the same count.

        Quiet steps are not on disk: `period` goes on after the last alert or `save`. Steps since then may be asked
        again, or left out. Only one process may go on with an alert at a time.
        """
        alert = cls.__new__(cls)
        alert._begin(Running.resume(FORM, ledger, name, entropy=entropy))
        return alert

    @property
    def design(self) -> AlertDesign:
        """Everything public about it."""
        return self._record.design

    @property
    def period(self) -> int:
        """The number of the next step, from 0."""
        return self._period

    @property
    def alerts(self) -> int:
        """How many alerts were told."""
        return self._record.state.alerts

    @property
    def halted(self) -> bool:
        """Whether the last alert was told: no step can be asked any more."""
        return self._record.halted

    @property
    def history(self) -> list[AlertAnswer]:
        """All alerts on disk: also those that a crash kept from being told."""
        return self._record.history

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
            seeded=self._record.running.seeded,
        )

    def step(self, value: float) -> AlertAnswer:
        """Ask whether the next value lies beyond the threshold."""
        with self._record.running.lock:
            record = self._record
            record.check_open()
            design, state = record.design, record.state
            steps = design.sign * to_step(value, design.step)
            period = self._period
            fired = steps + self._fresh() >= state.threshold
            self._period = period + 1
            if not fired:
                return AlertAnswer(period, False, None)
            told = None
            if design.value_epsilon:
                told = float(tell_values(design, np.array([steps]), record.running.entropy)[0])
            answer = AlertAnswer(period, True, told)
            record.add(AlertState(state.threshold, state.alerts + 1, period + 1), [answer])
            return answer

    def steps(self, values: ArrayLike) -> AlertAnswer:
        """Ask for several values at once; after the last alert the rest is not asked, and answers are fewer."""
        with self._record.running.lock:
            record, first = self._record, self._period
            record.check_open()
            state, alarms = advance(self.design, replace(record.state, period=first), values, record.running.entropy)
            self._period = state.period
            fired, told = np.zeros(state.period - first, np.bool_), np.full(state.period - first, np.nan)
            fired[alarms.periods - first] = True
            if alarms.values is not None:
                told[alarms.periods - first] = alarms.values
            if len(alarms.periods):
                record.add(state, alarms.answers())
            return AlertAnswer(np.arange(first, state.period), fired, told)

    def save(self) -> None:
        """Put the number of the next step on disk, so that an alert resumed later goes on with it."""
        with self._record.running.lock:
            self._record.check_open()
            if self._period != self._record.state.period:
                self._record.save(replace(self._record.state, period=self._period))

    def __repr__(self) -> str:
        return f"Alert({self._record.running.name!r}, {self.design}, {self.alerts} told)"

    def _open(
        self,
        design: AlertDesign,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str,
        entropy: Entropy | None,
    ) -> None:
        bits = check_entropy(entropy)
        # The threshold's noise exists before the debit, but nothing tells of it: one transaction debits and seals it.
        standing = Standing(dump(design), design, start(design, bits), bits.seeded)
        spend = Spend(dataset, design.cost, design.unit, analyst)
        self._begin(Running.open(FORM, name, standing, spend, ledger=ledger, entropy=bits))

    def _begin(self, running: Running[AlertDesign, AlertState]) -> None:
        self._record, self._period = AlertRecord(running), running.memory.period
        self._noise, self._generation = [], Lineage.generation

    def _fresh(self) -> int:
        """Return unused noise for a value, from a batch drawn ahead that no forked child shares."""
        if self._generation != Lineage.generation:
            self._noise, self._generation = [], Lineage.generation
        if not self._noise:
            drawn = self.design.noise.draw(at_least(self.design.query_scale), _AHEAD, self._record.running.entropy)
            self._noise = drawn[::-1].tolist()
        return self._noise.pop()
