"""Failures in the owner's log: numbered, and without any value.

The last sentence of `failed` in section 2 of ``docs/explanation/proofs/curator.md``.
"""

from __future__ import annotations

import logging
import secrets

from chronodp.errors import ChronodpError

__all__ = ["note_failure"]

_log = logging.getLogger("chronodp.service")


def note_failure(error: BaseException) -> str:
    """Write a failure to the owner's log without any value, and return the number it has there.

    Our own messages never hold private values; those of libraries may quote a cell, so only their kind is written.
    """
    number = secrets.token_hex(4)
    what = str(error) if isinstance(error, ChronodpError) else "its message is withheld: it might quote a value"
    _log.error("failure %s: %s: %s", number, type(error).__name__, what)
    return number
