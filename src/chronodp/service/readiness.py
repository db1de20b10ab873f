"""Whether what a job would write can be written, tried before a job is taken and looked at now and then.

"Nothing is begun that could not be finished" in section 4 of ``docs/explanation/proofs/curator.md``.
"""

from __future__ import annotations

import contextlib
import time

from chronodp.errors import ChronodpError, LedgerUnavailable
from chronodp.service.curator import Curator
from chronodp.service.failures import note_failure

__all__ = ["DATABASE", "Readiness"]

DATABASE = "the ledger's database cannot be read or written; nothing is spent"
_FILES = "no release is begun: a file or disk that releases are written to is missing, full or read-only"
_EVERY = 10.0  # seconds from one look to the next, while nothing is wrong


class Readiness:
    """What one worker knows of the places that it writes to. Words are public; the owner's log says more."""

    def __init__(self, curator: Curator) -> None:
        self._curator = curator
        self._wrong: dict[str, str] = {}
        self._looked = time.monotonic()

    @property
    def why(self) -> str | None:
        """What is wrong, in words for everyone; None if nothing is."""
        return next((said for said in (DATABASE, _FILES) if said in self._wrong), None)

    def check(self) -> None:
        """Raise unless a release could be finished if it were begun now."""
        try:
            self._curator.ledger.check_ready()
        except LedgerUnavailable as error:
            self._note(_FILES, error)
            raise
        self._wrong.pop(_FILES, None)

    def look(self) -> None:
        """Look at everything, if it is time to: at every call while something is wrong."""
        if not self._wrong and time.monotonic() - self._looked < _EVERY:
            return
        self._looked = time.monotonic()
        with contextlib.suppress(ChronodpError):
            self.check()

    def database(self, error: Exception | None) -> None:
        """Say whether the database could be written just now."""
        if error is None:
            self._wrong.pop(DATABASE, None)
        else:
            self._note(DATABASE, error)

    def _note(self, what: str, error: Exception) -> None:
        if what not in self._wrong:  # once, not at every look
            self._wrong[what] = note_failure(error)
