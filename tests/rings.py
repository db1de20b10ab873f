"""Which tests belong to which ring: ``make quick`` leaves out processes and servers, and what computes for long.

A test that starts one without the mark ``processes`` fails, and says so: nothing slips into the quick ring.
"""

from __future__ import annotations

import multiprocessing.process
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests import warm

__all__ = ["NOT_LOOKED_AT", "arrange", "guard", "thin", "watched"]

NOT_LOOKED_AT = "no Chromium is installed: the page was not looked at in a browser"

_SERVERS = {"spark", "postgres", "browser", "house", "common_house"}  # fixtures that start processes or listen
_HEAVY = {"spark", "browser"}  # fixtures to be started once: their tests are marked by name, and run in one process
_WATCH = "no_page_throws"  # what else a test of a page needs; all others would pay for a fixture of every test
_NOW: list[str] = []  # the test that runs without the mark, if one does


def arrange(items: list[pytest.Item]) -> None:
    """Mark what needs a server, and put what takes longest first, so that no worker is left with it at the end."""
    for item in items:
        needed = set(getattr(item, "fixturenames", ()))
        if needed & _SERVERS:
            item.add_marker(pytest.mark.processes)
        for name in needed & _HEAVY:
            item.add_marker(name)
        if isinstance(item, pytest.Function) and "browser" in needed and _WATCH not in needed:
            item.fixturenames.insert(0, _WATCH)
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """What runs in a browser comes last: until that is closed, the loop of Playwright runs in this thread."""
    if item.get_closest_marker("browser"):
        return 2
    return 0 if item.get_closest_marker("processes") or item.get_closest_marker("long") else 1


def thin(items: list[pytest.Item], every: int) -> list[pytest.Item]:
    """Keep each so many-th case of a test that has more than so many, and return the others.

    ``make quick`` of all rooms does so, where a look at many things within a minute is worth more than all of one.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {id(item) for those in cases.values() for item in (those[::every] if len(those) > every else those)}
    left = [item for item in items if id(item) not in kept]
    items[:] = [item for item in items if id(item) in kept]
    return left


@contextmanager
def watched(item: pytest.Item) -> Iterator[None]:
    """Refuse processes and servers to a test without a mark; whoever runs last ends the servers of others."""
    _NOW[:] = [] if item.get_closest_marker("processes") else [item.nodeid]
    try:
        yield
    finally:
        _NOW.clear()


def _guarded(start: Callable[..., Any]) -> Callable[..., Any]:
    def started(*arguments: Any, **options: Any) -> Any:
        if _NOW and not _lists_fonts(arguments):
            raise AssertionError(f"{_NOW[0]} starts a process or a server: give it @pytest.mark.processes")
        return start(*arguments, **options)

    return started


def _lists_fonts(arguments: tuple[Any, ...]) -> bool:
    """Whether a process is the one that matplotlib starts when it is first used on a machine."""
    return len(arguments) > 1 and isinstance(arguments[1], list) and arguments[1][0] == "fc-list"


def guard() -> None:
    """Put the guard before everything that starts a process or listens."""
    subprocess.Popen.__init__ = _guarded(subprocess.Popen.__init__)  # type: ignore[method-assign]
    multiprocessing.process.BaseProcess.start = _guarded(multiprocessing.process.BaseProcess.start)  # type: ignore[method-assign]
    warm.Program.__init__ = _guarded(warm.Program.__init__)  # type: ignore[method-assign]
    socket.socket.listen = _guarded(socket.socket.listen)  # type: ignore[method-assign]
    if hasattr(os, "fork"):
        os.fork = _guarded(os.fork)
