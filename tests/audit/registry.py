"""Every public mechanism with the cases that attack its claim: found, not listed.

A mechanism joins by a module in `tests.audit.cases` with a tuple ``ENTRIES``, and a mutant by a tuple ``MUTANTS``
beside it. Nothing else has to know of it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from chronodp.audit.case import AuditCase, Check, Many
from chronodp.audit.walked import Enumerated
from chronodp.errors import InvalidArgument
from chronodp.privacy import Claim, settle
from tests.audit import cases


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake to be caught.

    Attributes:
        name: what is wrong.
        claim: what is claimed, truly of ``sound`` and falsely of ``broken``.
        sound: the mechanism without the mistake.
        broken: the mechanism with it.
        neighbours: inputs on which the difference shows.
        epsilon: where the claim is read; that of its cost if not given.
        delta: where the claim is read; 0 unless the cost has one.
        checks: the ways to attack both.
        sound_many: many outputs of ``sound`` at once, where samples must catch the mistake.
        broken_many: many outputs of ``broken`` at once.
    """

    name: str
    claim: Claim
    sound: Callable[..., object]
    broken: Callable[..., object]
    neighbours: tuple[tuple[Any, Any], ...]
    epsilon: float = 0.0
    delta: float = 0.0
    checks: tuple[Check, ...] = (Enumerated(),)
    sound_many: Many | None = None
    broken_many: Many | None = None

    def __post_init__(self) -> None:
        settle(self, epsilon=self.cases[0].epsilon)

    @property
    def cases(self) -> tuple[AuditCase, AuditCase]:
        """The sound mechanism and the broken one, alike in everything that a judge sees but what they do."""
        return (self._side("sound", self.sound, self.sound_many), self._side("broken", self.broken, self.broken_many))

    def _side(self, side: str, mechanism: Callable[..., object], many: Many | None) -> AuditCase:
        options: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "many": many}
        return on_trial(f"{self.name} ({side})", mechanism, self.neighbours, self.claim, *self.checks, **options)


def on_trial(
    name: str,
    mechanism: Callable[..., object],
    neighbours: tuple[tuple[Any, Any], ...],
    claim: Claim,
    *checks: Check,
    **options: Any,
) -> AuditCase:
    """Return a mechanism on trial: what every case has, the ways to attack it, and what else it may need."""
    return AuditCase(name=name, mechanism=mechanism, neighbours=neighbours, claim=claim, checks=checks, **options)


def members(package: ModuleType, name: str) -> Iterator[Any]:
    """Yield what the modules of a package put into their tuple of that name."""
    for info in sorted(pkgutil.iter_modules(package.__path__, prefix=f"{package.__name__}."), key=lambda one: one.name):
        yield from getattr(importlib.import_module(info.name), name, ())


def entries() -> tuple[Entry, ...]:
    """Return every entry."""
    return tuple(members(cases, "ENTRIES"))
