"""Several cases in one test: what fails says which of them it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

__all__ = ["case", "raising"]

Error = TypeVar("Error", bound=BaseException)


@contextmanager
def case(*parts: object) -> Iterator[None]:
    """Say in whatever fails within of which case it is."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the case of {', '.join(map(str, parts))}")
        raise


@contextmanager
def raising(expected: type[Error], match: str | None = None, *, case: object) -> Iterator[pytest.ExceptionInfo[Error]]:
    """Do as `pytest.raises`, and name the case where nothing is raised, or something else is said."""
    try:
        with pytest.raises(expected, match=match) as caught:
            yield caught
    except (pytest.fail.Exception, AssertionError) as failed:
        raise AssertionError(f"{case!r}: {failed}") from None
