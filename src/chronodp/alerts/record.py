"""An alert's record in the ledger: nothing is told, and nothing more is asked, before the last alert is on disk."""

from __future__ import annotations

from chronodp.alerts.advance import start
from chronodp.alerts.answer import AlertAnswer
from chronodp.alerts.design import AlertDesign
from chronodp.alerts.state import AlertState
from chronodp.errors import StreamConflict
from chronodp.ledger import Opening, Running, Standing, packed
from chronodp.privacy import dump
from chronodp.randomness import Entropy

__all__ = ["FORM", "AlertRecord", "opening"]

FORM = packed(AlertDesign, AlertState.to_bytes, lambda _, stored: AlertState.from_bytes(stored))
"""How alerts are sealed."""


def opening(design: AlertDesign, name: str, *, entropy: Entropy) -> Opening:
    """Return an alert for someone else to open in a transaction of theirs, which debits its cost with others."""
    plan = dump(design)
    return Opening(name, plan, FORM.seal(Standing(plan, design, start(design, entropy), entropy.seeded)))


class AlertRecord:
    """The newest state of one alert, in memory and in the ledger.

    If the ledger fails while an alert is written, the error itself tells that a step fired. So the alert counts from
    then on, and must be written before anything else is asked: until then ``state`` is ahead of what is on disk.
    """

    running: Running[AlertDesign, AlertState]
    state: AlertState

    def __init__(self, running: Running[AlertDesign, AlertState]) -> None:
        self.running, self.state = running, running.memory
        self._outstanding: list[dict[str, int | float | None]] = []

    @property
    def design(self) -> AlertDesign:
        """Everything public about it."""
        return self.running.design

    @property
    def halted(self) -> bool:
        """Whether the last alert was told."""
        return self.state.alerts == self.design.max_alerts

    @property
    def history(self) -> list[AlertAnswer]:
        """All alerts on disk."""
        return [AlertAnswer(line["alert"], True, line["value"]) for line in self.running.released() if "alert" in line]

    def check_open(self) -> None:
        """Write what a failure left unwritten, and refuse if the last alert was told."""
        if self._outstanding:
            self._settle()
        if self.halted:
            raise StreamConflict(
                f"alert {self.running.name!r} has told its {self.design.max_alerts} alerts and is halted for good; "
                "nothing was asked or spent: open another under a new name"
            )

    def add(self, state: AlertState, alerts: list[AlertAnswer]) -> None:
        """Write alerts and the state after them; they may be told once this returns."""
        self.state = state
        self._outstanding = [{"alert": alert.period, "value": alert.value} for alert in alerts]
        self._settle()

    def save(self, state: AlertState) -> None:
        """Write how many steps were asked."""
        self.state = state
        self._outstanding = [{"saved": state.period}]
        self._settle()

    def _settle(self) -> None:
        self.running.advance(self.state, self._outstanding, finished=self.halted)
        self._outstanding = []
