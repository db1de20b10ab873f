"""The owner's log: failures, numbered and without any value, and how many rows could not be read.

The last sentence of `failed` in section 2 of ``docs/explanation/proofs/curator.md``.
"""

from __future__ import annotations

import logging
import secrets

from chronodp.display import shown
from chronodp.errors import ChronodpError

__all__ = ["note_failure", "note_unread", "start_log"]

_log = logging.getLogger("chronodp.service")


def start_log() -> None:
    """Write what happens to standard error, a line for each, with names as they are seen and not obeyed."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Lines("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


class _Lines(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (the library's name)
        return shown(super().formatMessage(record))


def note_unread(dataset: str, request: str, text: str) -> None:
    """Write to the owner's log, and nowhere else, what a release could not read."""
    _log.warning("unread %s %s: %s", dataset, request, text)


def note_failure(error: BaseException) -> str:
    """Write a failure to the owner's log without any value, and return the number it has there.

    Our own messages never hold private values; those of libraries may quote a cell, so only their kind is written.
    """
    number = secrets.token_hex(4)
    what = str(error) if isinstance(error, ChronodpError) else "its message is withheld: it might quote a value"
    _log.error("failure %s: %s: %s", number, type(error).__name__, what)
    return number
