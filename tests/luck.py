"""What the operating system's randomness is in a test: words that hang on the test's name and ``CHRONODP_SEED`` alone.

So a test of noise gives the same verdict each time it runs. Another ``CHRONODP_SEED`` gives it other luck: a test that
fails under some seed concludes too much from too few numbers. A program that a test starts from `tests.warm` has words
of its own, so that one that comes back after a crash never draws the same noise by itself. With an empty
``CHRONODP_SEED``, and in other processes, randomness is the system's own.

`tests/conftest.py` makes this a plugin for the whole run.
"""

from __future__ import annotations

import functools
import itertools
import os
import random
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

__all__ = ["begin", "for_a_program", "pytest_fixture_setup", "pytest_runtest_call", "pytest_runtest_setup"]

_SEED = os.environ.get("CHRONODP_SEED", "1")
_fresh = os.urandom


class _Luck:
    """Words for whom a name stands, in one process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.process = os.getpid()
        self.programs = itertools.count(1)

    @functools.cached_property
    def words(self) -> random.Random:
        """Where words come from; most names are never drawn for."""
        return random.Random(f"{_SEED} {self.name}")


_now: list[_Luck] = []  # the last one is drawn from


def _drawn(size: int) -> bytes:
    if _now and _now[-1].process == os.getpid():
        return _now[-1].words.randbytes(size)
    return _fresh(size)


if _SEED:
    os.urandom = _drawn
    random._urandom = _drawn  # type: ignore[attr-defined]  # what `secrets` draws from


def begin(name: str) -> None:
    """Let everything that this process draws from now on hang on a name; on nothing if that is empty."""
    _now[:] = [_Luck(name)] if name else []


def for_a_program() -> str:
    """Return the name for the next program of the test that runs."""
    return f"{_now[-1].name}, program {next(_now[-1].programs)}" if _now else ""


@contextmanager
def _drawn_for(name: str) -> Iterator[None]:
    _now.append(_Luck(name))
    try:
        yield
    finally:
        _now.pop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    """What is made for one test hangs on that test."""
    with _drawn_for(f"before {item.nodeid}"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """What several tests share does not hang on which of them comes first."""
    with _drawn_for(f"{fixturedef.argname} of {request.node.nodeid}"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test hangs on its name; so does what it draws from Python's own generator."""
    if _SEED:
        random.seed(f"{_SEED} {item.nodeid}")
    with _drawn_for(item.nodeid):
        return (yield)
