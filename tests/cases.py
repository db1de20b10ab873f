"""Several cases in one test: what fails says which of them it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

__all__ = ["raising"]

Error = TypeVar("Error", bound=BaseException)


@contextmanager
def raising(expected: type[Error], match: str | None = None, *, case: object) -> Iterator[pytest.ExceptionInfo[Error]]:
    """Do as `pytest.raises`, and name the case where nothing is raised, or something else is said."""
    try:
        with pytest.raises(expected, match=match) as caught:
            yield caught
    except (pytest.fail.Exception, AssertionError) as failed:
        raise AssertionError(f"{case!r}: {failed}") from None
