"""Every public mechanism with the cases that attack its claim: found, not listed.

A mechanism joins by a module in `tests.audit.cases` with a tuple ``ENTRIES``, and a mutant by one in
`tests.audit.mutants` with a tuple ``MUTANTS``. Nothing else has to know of it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from chronodp.audit.case import AuditCase
from chronodp.errors import InvalidArgument
from tests.audit import cases

__all__ = ["Entry", "entries", "members"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One promise: the public names that make it, and how it is attacked.

    Attributes:
        name: of the mechanism, in words.
        covers: the public classes and functions that stand for it.
        precision: what is done about finite precision.
        cases: makes the cases, each with a claim of the mechanism's own making, some as they are wanted; none if
            nothing is claimed.
        unclaimed: what is said in place of a claim.
    """

    name: str
    covers: tuple[object, ...]
    precision: str
    cases: Callable[[], Iterable[AuditCase]] = tuple
    unclaimed: str = ""

    def __post_init__(self) -> None:
        if (self.cases is tuple) == (not self.unclaimed):
            raise InvalidArgument("cases", self.name, "given, or else what is said in place of a claim")


def members(package: ModuleType, name: str) -> Iterator[Any]:
    """Yield what the modules of a package put into their tuple of that name."""
    for info in sorted(pkgutil.iter_modules(package.__path__, prefix=f"{package.__name__}."), key=lambda one: one.name):
        yield from getattr(importlib.import_module(info.name), name, ())


def entries() -> tuple[Entry, ...]:
    """Return every entry."""
    return tuple(members(cases, "ENTRIES"))
