"""Everything chronodp can refuse, as one tree.

::

    ChronodpError
    ├── InvalidArgument      a parameter outside what is allowed          (also a ValueError)
    │   └── MissingBound     a sensitivity needs a bound nobody declared
    ├── UnknownDocument      a JSON document that is not one of ours      (also a ValueError)
    └── UnsupportedCost      a theorem that says nothing about this cost  (also a ValueError)

Messages name the argument, what was given and what is allowed. They show public parameters only: where an
argument carries data about people, the message tells its kind and never its value.
"""

from __future__ import annotations

__all__ = ["ChronodpError", "InvalidArgument", "MissingBound", "UnknownDocument", "UnsupportedCost"]


class ChronodpError(Exception):
    """The root of every error that chronodp raises on purpose."""


class InvalidArgument(ChronodpError, ValueError):
    """A public parameter lies outside what is allowed.

    Attributes:
        name: the argument, as the caller wrote it.
        allowed: what would have been accepted, and so what to change.
    """

    def __init__(self, name: str, given: object, allowed: str) -> None:
        self.name = name
        self.allowed = allowed
        super().__init__(f"{name} must be {allowed}; got {_describe(given)}")


class MissingBound(InvalidArgument):
    """A sensitivity was asked for without the bound that makes it finite."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self.allowed = why
        ChronodpError.__init__(self, f"{name} is missing: {why}")


class UnknownDocument(ChronodpError, ValueError):
    """A JSON document does not describe anything chronodp knows."""


class UnsupportedCost(ChronodpError, ValueError):
    """A composition theorem makes no statement about the cost it was given."""


def _describe(given: object) -> str:
    kind = type(given).__name__
    if isinstance(given, str | int | float | bool) or given is None:
        text = repr(given)
        return f"{text if len(text) <= 60 else text[:57] + '...'} ({kind})"
    return f"a {kind}"
