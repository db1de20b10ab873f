"""Several cases in one test, each named where it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["case"]


@contextmanager
def case(*parts: object) -> Iterator[None]:
    """Say in whatever fails within of which case it is."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the case of {', '.join(map(str, parts))}")
        raise
