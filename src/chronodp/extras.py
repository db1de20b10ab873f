"""Libraries that only some need: asked for before anything is begun, and imported when first used."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping

from chronodp.errors import MissingExtra

__all__ = ["check_extra", "late"]


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


def late(package: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package that imports some of its names when they are first asked for.

    Args:
        package: its name.
        names: the module that holds each, below the package; an empty one for a module of that name itself.
    """

    def find(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{names[name] or name}")
        return getattr(module, name) if names[name] else module

    return find
