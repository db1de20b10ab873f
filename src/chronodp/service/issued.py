"""Issues that a lifetime series has had, read from the ledger: which periods, and under which request."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from chronodp.errors import LedgerError
from chronodp.ledger import Ledger
from chronodp.lifetime import status_of
from chronodp.privacy import Calendar
from chronodp.series import Life, Release, open_release
from chronodp.service.issue_rules import Stretch

__all__ = ["Issue", "IssueLog"]


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue as it was released.

    Attributes:
        number: of the release in the dataset's chain.
        request: under which it was asked for.
        issued: when, in microseconds since 1970.
        calendar: its periods.
        life: what it took of a life at most.
    """

    number: int
    request: str
    issued: int
    calendar: Calendar
    life: Life

    @property
    def stretch(self) -> Stretch:
        """Its periods on the clock."""
        return Stretch(int(self.calendar.edges[0]), int(self.calendar.edges[-1]))


class IssueLog:
    """Reads issues. Each is opened once: what is issued never changes."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Issue] = {}
        self._lock = threading.Lock()

    def of(self, ledger: Ledger, name: str) -> list[Issue]:
        """Return the issues of a series, oldest first. People's tally is not looked at."""
        status = status_of(ledger, name)
        return [self._issue(ledger, status.dataset, request) for request in status.requests]

    def _issue(self, ledger: Ledger, dataset: str, request: str) -> Issue:
        with self._lock:
            known = self._known.get((dataset, request))
        if known is not None:
            return known
        stored = ledger.stored.release_of(dataset, request)
        release = None if stored is None else open_release(stored.text, stored.signed, parts=stored.parts)
        design = release.design if isinstance(release, Release) else None
        if stored is None or design is None or design.life is None or design.table.calendar is None:
            raise LedgerError("an issue that the ledger names is not stored in it: tell the owner")
        found = Issue(stored.number, request, stored.signed.link.issued, design.table.calendar, design.life)
        with self._lock:
            self._known[dataset, request] = found
        return found
