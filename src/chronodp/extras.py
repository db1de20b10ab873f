"""Libraries that only some need: asked for before anything is begun."""

from __future__ import annotations

import importlib.util

from chronodp.errors import MissingExtra

__all__ = ["check_extra"]


def check_extra(extra: str, *libraries: str) -> None:
    """Raise unless the libraries of an extra are installed.

    >>> check_extra("live", "json", "a_broker")
    Traceback (most recent call last):
        ...
    chronodp.errors.MissingExtra: a_broker is not installed: pip install 'chronodp[live]'
    """
    for library in libraries:
        if importlib.util.find_spec(library) is None:
            raise MissingExtra(library, extra)
