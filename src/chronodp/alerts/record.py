"""An alert's record in the ledger: nothing is told, and nothing more is asked, before the last alert is on disk."""

from __future__ import annotations

import json

from chronodp.alerts.advance import start
from chronodp.alerts.answer import AlertAnswer
from chronodp.alerts.design import AlertDesign
from chronodp.alerts.state import AlertState
from chronodp.errors import InvalidArgument, StreamConflict
from chronodp.ledger import Ledger, Opening, StreamState
from chronodp.ledger.packing import pack, unpack
from chronodp.privacy import dump
from chronodp.randomness import Entropy

__all__ = ["AlertRecord", "opening"]


def opening(design: AlertDesign, name: str, *, entropy: Entropy) -> Opening:
    """Return an alert for someone else to open in a transaction of theirs, which debits its cost with others."""
    state = start(design, entropy)
    return Opening(name, dump(design), pack(design, state.to_bytes(), seeded=entropy.seeded))


class AlertRecord:
    """The newest state of one alert, in memory and in the ledger.

    If the ledger fails while an alert is written, the error itself tells that a step fired. So the alert counts from
    then on, and must be written before anything else is asked.
    """

    def __init__(
        self, ledger: Ledger, design: AlertDesign, stored: StreamState, state: AlertState, *, seeded: bool
    ) -> None:
        self.design, self.state, self.seeded = design, state, seeded
        self._ledger, self._stored = ledger, stored
        self._outstanding: list[str] = []

    @classmethod
    def open(
        cls,
        ledger: Ledger,
        design: AlertDesign,
        state: AlertState,
        *,
        seeded: bool,
        dataset: str,
        name: str,
        analyst: str,
    ) -> AlertRecord:
        """Debit the whole cost and seal the noisy threshold, in one transaction."""
        stored = ledger.open_stream(
            dataset,
            name,
            cost=design.cost,
            unit=design.unit,
            plan=dump(design),
            state=pack(design, state.to_bytes(), seeded=seeded),
            analyst=analyst,
        )
        return cls(ledger, design, stored, state, seeded=seeded)

    @classmethod
    def resume(cls, ledger: Ledger, name: str) -> AlertRecord:
        """Return the record of an alert that was opened before."""
        if not isinstance(ledger, Ledger):
            raise InvalidArgument("ledger", ledger, "a Ledger")
        stored = ledger.resume_stream(name)
        design, memory, seeded = unpack(stored.state, AlertDesign)
        return cls(ledger, design, stored, AlertState.from_bytes(memory), seeded=seeded)

    @property
    def name(self) -> str:
        """The alert's name."""
        return self._stored.name

    @property
    def halted(self) -> bool:
        """Whether the last alert was told."""
        return self.state.alerts == self.design.max_alerts

    @property
    def history(self) -> list[AlertAnswer]:
        """All alerts on disk."""
        lines = [json.loads(line) for line in self._ledger.released_steps(self.name)]
        return [AlertAnswer(line["alert"], True, line["value"]) for line in lines if "alert" in line]

    def check_open(self) -> None:
        """Write what a failure left unwritten, and refuse if the last alert was told."""
        if self._outstanding:
            self._settle()
        if self.state.alerts == self.design.max_alerts:
            raise StreamConflict(
                f"alert {self.name!r} has told its {self.design.max_alerts} alerts and is halted for good; nothing was "
                "asked or spent: open another under a new name"
            )

    def add(self, state: AlertState, alerts: list[AlertAnswer]) -> None:
        """Write alerts and the state after them; they may be told once this returns."""
        self.state = state
        self._outstanding = [json.dumps({"alert": alert.period, "value": alert.value}) for alert in alerts]
        self._settle()

    def save(self, state: AlertState) -> None:
        """Write how many steps were asked."""
        self.state = state
        self._outstanding = [json.dumps({"saved": state.period})]
        self._settle()

    def _settle(self) -> None:
        self._stored = self._ledger.advance_stream(
            self._stored,
            values=self._outstanding,
            state=pack(self.design, self.state.to_bytes(), seeded=self.seeded),
            finished=self.halted,
        )
        self._outstanding = []
