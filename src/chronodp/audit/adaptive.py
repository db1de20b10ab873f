"""An adversary who chooses what comes next after seeing every answer, for streams and alerts.

Two worlds run the same stream; at every step the adversary names two values that differ as neighbours may, and each
world feeds the one of its side. The adversary then guesses the side. A mechanism that is private against chosen values
must hide it; as a case of an audit its inputs are the sides, 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from chronodp.randomness import Entropy

__all__ = ["Game", "Live", "Strategy"]

Answers: TypeAlias = tuple[Any, ...]
Strategy: TypeAlias = Callable[[Answers], tuple[Any, Any] | None]
"""The next two values, from all answers so far; None to stop."""


class Live(Protocol):
    """A stream that was opened: a value in, an answer out."""

    def __call__(self, value: Any, /) -> Hashable:
        """Answer one step."""
        ...


@dataclass(frozen=True, slots=True)
class Game:
    """The game between a stream and an adversary; a mechanism whose input is the side.

    Attributes:
        open: opens a fresh stream on an entropy.
        strategy: the adversary.

    >>> def opened(entropy):
    ...     return lambda value: value + int(entropy.laplace(2.0, 1)[0])
    >>> def once(answers):                        # the one event goes where the last answer was above 0
    ...     if len(answers) == 2:
    ...         return None
    ...     return (0, 1) if answers and answers[-1] > 0 else (0, 0)
    >>> from chronodp.randomness import seeded
    >>> len(Game(opened, once)(1, entropy=seeded(1)))
    2
    """

    open: Callable[[Entropy], Live]
    strategy: Strategy

    def __call__(self, side: int, *, entropy: Entropy) -> Answers:
        """Play one game on a side and return all answers."""
        live = self.open(entropy)
        answers: Answers = ()
        while (values := self.strategy(answers)) is not None:
            answers = (*answers, live(values[side]))
        return answers
