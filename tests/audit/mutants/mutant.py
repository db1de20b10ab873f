"""A mutant: a sound mechanism, the same with one mistake, and the claim that only the first may make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chronodp.audit.case import AuditCase, Check, Many
from chronodp.audit.walked import Enumerated
from chronodp.privacy import Claim, settle

__all__ = ["Mutant"]


@dataclass(frozen=True, slots=True, kw_only=True)
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
        return (
            self._subject("sound", self.sound, self.sound_many),
            self._subject("broken", self.broken, self.broken_many),
        )

    def _subject(self, side: str, mechanism: Callable[..., object], many: Many | None) -> AuditCase:
        return AuditCase(
            name=f"{self.name} ({side})",
            mechanism=mechanism,
            neighbours=self.neighbours,
            claim=self.claim,
            epsilon=self.epsilon,
            delta=self.delta,
            checks=self.checks,
            many=many,
        )
