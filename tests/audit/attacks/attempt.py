"""An attack that was tried: how often it guessed a secret, against a naive version and against chronodp."""

from __future__ import annotations

import math
from dataclasses import dataclass

from chronodp.audit.bounds import at_least

__all__ = ["Attempt"]

_ERROR = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """How often an adversary guessed one bit of one person.

    Attributes:
        name: of the attack.
        naive: what it is tried against first, in words.
        epsilon: that chronodp promises for the person here; a guess is right with at most e^ε / (1 + e^ε).
        naive_hits: right guesses against the naive version.
        naive_guesses: all of them; an adversary may wait for outputs that tell.
        our_hits: right guesses against chronodp.
        our_guesses: all of them.
    """

    name: str
    naive: str
    epsilon: float
    naive_hits: int
    naive_guesses: int
    our_hits: int
    our_guesses: int

    @property
    def ceiling(self) -> float:
        """The most often that a guess can be right if the promise holds."""
        return 1 / (1 + math.exp(-self.epsilon))

    @property
    def breaks_naive(self) -> bool:
        """Whether the naive version surely lets more through than the promise allows."""
        return _surely(self.naive_hits, self.naive_guesses) > self.ceiling

    @property
    def breaks_ours(self) -> bool:
        """Whether chronodp surely lets more through than it promises."""
        return _surely(self.our_hits, self.our_guesses) > self.ceiling


def _surely(hits: int, guesses: int) -> float:
    return float(at_least(hits, guesses, _ERROR)) if guesses else 0.0
