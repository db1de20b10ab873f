"""A parser under test: right texts to start from, and the call that reads any bytes."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from signal import ITIMER_VIRTUAL, SIGVTALRM, setitimer, signal
from types import FrameType

from chronodp.errors import ChronodpError
from chronodp.local.device import Refused

__all__ = ["MARK", "Target", "judge", "loose"]

MARK = b"7346281"
"""Stands where private things stand, and must stand in no message."""
_LONGEST = 60.0  # seconds of this process's own work; a text that needs more is a way to keep a program busy
_REFUSALS = (ChronodpError, Refused)  # a device's file is copied alone and has an error of its own


@dataclass(frozen=True)
class Target:
    """A parser.

    Attributes:
        name: of it.
        seeds: texts that it reads.
        door: the call.
        secret: what stands around the mark where it is private; empty if all of the text is private, None if none is.
    """

    name: str
    seeds: tuple[bytes, ...]
    door: Callable[[bytes], object]
    secret: bytes | None = None


class _TooLong(BaseException):
    pass


def judge(target: Target, content: bytes) -> str | None:
    """Return what is at fault: nothing if the text is read, or refused by an error of ours that reveals nothing."""
    try:
        with _limited():
            target.door(content)
    except _REFUSALS as error:
        if _is_private(target, content) and MARK.decode() in _told(error):
            return f"{type(error).__name__} tells a private value: {error!s:.200}"
        return None
    except _TooLong:
        return f"takes more than {_LONGEST:g} s"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {place.filename.rpartition('/src/')[2]}:{place.lineno}: {error!s:.160}"
    return None


def loose(content: bytes) -> str:
    """Return bytes as a text, with lone surrogates for what is no UTF-8."""
    return content.decode("utf-8", "surrogateescape")


def _is_private(target: Target, content: bytes) -> bool:
    if target.secret is None:
        return False
    return content.count(MARK) == content.count(target.secret) if target.secret else True


def _told(error: BaseException) -> str:
    """Return all that a log would show of an error: its text, what it came from, and what was noted."""
    return "\n".join([repr(error), *traceback.format_exception(error)])


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _TooLong


@contextmanager
def _limited() -> Iterator[None]:
    before = signal(SIGVTALRM, _stop)
    setitimer(ITIMER_VIRTUAL, _LONGEST)
    try:
        yield
    finally:
        setitimer(ITIMER_VIRTUAL, 0)
        signal(SIGVTALRM, before)
