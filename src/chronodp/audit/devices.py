"""Devices under the auditor: the shipped device code, with draws that walk through every outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from chronodp.audit.enumerated_entropy import EnumeratedEntropy, Unfollowed, exponential
from chronodp.local import answer, begin
from chronodp.randomness import Entropy

__all__ = ["AuditedChance", "report_history"]

_FINE = 2**62


class AuditedChance:
    """A device's draws made from an entropy, in place of its secrets.

    Laplace noise tosses e^-x coins that could go on for ever: when enumerated, runs of more than ``most_decays`` of
    them are not followed.
    """

    def __init__(self, entropy: Entropy, *, most_decays: int = 36) -> None:
        self._entropy = entropy
        self._left = most_decays

    def coin(self, numerator: int, denominator: int) -> bool:
        """Return True with probability numerator / denominator."""
        return bool(self._entropy.coins(numerator, denominator))

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to bound - 1, all alike."""
        return int(self._entropy.integers(bound))

    def decay(self, numerator: int, denominator: int) -> bool:
        """Return True with probability e^-(numerator / denominator), rounded at 2^-62."""
        self._left -= 1
        if self._left < 0 and isinstance(self._entropy, EnumeratedEntropy):
            raise Unfollowed
        return self.coin(int(exponential(-Fraction(numerator, denominator)) * _FINE), _FINE)


def report_history(
    plan: Mapping[str, Any], history: Sequence[float | int], *, entropy: Entropy, most_decays: int = 36
) -> tuple[tuple[int, ...] | None, ...]:
    """Return all that a device reveals about a history of values, slot by slot; None where it is silent.

    >>> from chronodp.audit.exact import examine
    >>> from chronodp.local import Fresh, LocalPlan, RandomizedResponse
    >>> plan = LocalPlan("bit", RandomizedResponse(epsilon=1.0), Fresh(horizon=2)).compiled
    >>> def tell(history, *, entropy):
    ...     return report_history(plan, history, entropy=entropy)
    >>> round(examine(tell, [((0, 0), (1, 1))]).epsilon, 12)
    2.0
    """
    chance = AuditedChance(entropy, most_decays=most_decays)
    state = begin(plan, chance)
    told = []
    for slot, value in enumerate(history):
        state, made = answer(plan, state, value, slot, chance)
        told.append(None if made is None else tuple(made))
    return tuple(told)
