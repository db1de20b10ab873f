"""Thousands of tests are found quicker: `tests/conftest.py` makes this a plugin for the whole run."""

from __future__ import annotations

import atexit
import gc
import logging
from collections.abc import Generator
from pathlib import Path

import pytest

__all__ = ["pytest_collect_file", "pytest_collection", "pytest_collection_finish"]


def pytest_collection() -> None:
    """Look for no garbage while tests are found: all that is made then stays until the end."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was imported out of what each test looks at anew: for garbage, and for loggers apart from the root."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # a fortieth of the looks: tests make much that goes by itself, and few circles
    gc.enable()
    atexit.register(gc.unfreeze)  # libraries complain of what is left when Python ends
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):  # pytest hangs on the root, and anew in each test on all apart from it
            logger.propagate = True


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings only in files that have some."""
    found = yield
    if file_path.suffix == ".py" and b">>> " not in file_path.read_bytes():
        found = [one for one in found if type(one) is pytest.Module]
    return found
