"""Several cases in one test: what fails says which of them it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

__all__ = ["raising"]


@contextmanager
def raising(
    expected: type[BaseException], match: str | None = None, *, case: object
) -> Iterator[pytest.ExceptionInfo[BaseException]]:
    """Do as `pytest.raises`, and name the case where nothing is raised, or something else is said."""
    try:
        with pytest.raises(expected, match=match) as caught:
            yield caught
    except (pytest.fail.Exception, AssertionError) as failed:
        raise AssertionError(f"{case!r}: {failed}") from None
