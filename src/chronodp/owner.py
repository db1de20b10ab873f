"""What an owner alone is told while a release reads: how many rows cannot be read, before anything is spent.

One warning for a release, or one line where a command or a curator takes it: nothing of it is published, and nothing
that is published hangs on it. *The owner's line* in ``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar

from chronodp.errors import UnreadRows

__all__ = ["note_unread", "owner_told", "owner_warned", "owner_warned_early"]

_notes: ContextVar[list[str] | None] = ContextVar("notes", default=None)
_tell: ContextVar[Callable[[str], None] | None] = ContextVar("tell", default=None)


@contextlib.contextmanager
def owner_warned() -> Iterator[None]:
    """Warn the owner, once and at the end, of rows that were left unread in what is read meanwhile.

    ``chronodp.errors.UnreadRows`` as an error stops a release here, with nothing spent.
    """
    notes: list[str] = []
    token = _notes.set(notes)
    try:
        yield
    finally:
        _notes.reset(token)
    if not notes:
        return
    # Queries that are released together may have read the same rows.
    text = f"{'; '.join(dict.fromkeys(notes))} (for the owner only; `diagnose` shows more)"
    if (tell := _tell.get()) is not None:
        tell(text)
    else:  # where the function was called in whose ``with`` this stands
        warnings.warn(text, UnreadRows, stacklevel=4)


@contextlib.contextmanager
def owner_warned_early() -> Iterator[None]:
    """Do what the `owner_warned` around this would do later: where nothing later may take time by what was read."""
    if _notes.get() is None:
        yield
        return
    with owner_warned():
        yield


@contextlib.contextmanager
def owner_told(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell the owner in another way than by Python's warnings."""
    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)


def note_unread(count: Callable[[], str]) -> None:
    """Note what was left unread, if a release wants to know; nothing if the text is empty."""
    notes = _notes.get()
    if notes is not None and (text := count()):
        notes.append(text)
