"""Who holds which key of a column whose keys nobody declared: from which keys are found privately.

What is computed, and how far one unit reaches: ``docs/explanation/proofs/held-keys.md``. All in whole numbers, the same
on every engine. Nothing of it is public: neither keys, nor how many there are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.choice import PRIME
from chronodp.engines.question import Grouping, Question
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_column, check_whole

__all__ = ["LONGEST_KEY", "MOST_KEYS", "HeldKeys", "KeysQuestion", "Weigher", "number_of"]

LONGEST_KEY = 2**16
"""Most bytes that a key may be allowed to have."""

MOST_KEYS = 2**31
"""So many different keys are not told apart any more; a weight stays below it too."""

Weigher = Callable[[NDArray[np.int64], NDArray[np.bool_]], NDArray[np.int64]]
"""From the weights by d and which candidates are dropped, the sum of weights of each candidate."""


@dataclass(frozen=True, slots=True)
class KeysQuestion:
    """Whose keys to look at, and how many of them count.

    Attributes:
        question: which rows count; its clip and limits do not matter.
        column: of the table, or derived, with the keys.
        max_keys: how many keys of a person count in a choice block; None where rows stand apart, and all do.
        choose_by_period: whether a choice block is a period of the grid, and not the whole series.
        blocks: the weight block of each period of the grid, in ascending order; None: the whole series is one.
        rows_apart: whether every row is a block of its own: nothing is chosen, and a key that a person holds has the
            weight of a lone one.
        longest: bytes of UTF-8 beyond which a key is left out.
    """

    question: Question
    column: str
    max_keys: int | None
    choose_by_period: bool = False
    blocks: tuple[int, ...] | None = None
    rows_apart: bool = False
    longest: int = 256

    def __post_init__(self) -> None:
        check_column("column", self.column)
        check_whole("longest", self.longest, most=LONGEST_KEY)
        if self.rows_apart:
            if (self.max_keys, self.choose_by_period, self.blocks) != (None, False, None):
                raise InvalidArgument("rows_apart", True, "asked without max_keys, choose_by_period and blocks")
            return
        if self.question.user is None:
            raise InvalidArgument("rows_apart", False, "True where every row stands for itself")
        check_whole("max_keys", self.max_keys, most=MOST_KEYS - 1)
        if self.blocks is None:
            return
        if not self.choose_by_period:
            # One period could push out keys of all others, and let in as many: 2 max_keys would change.
            raise InvalidArgument("choose_by_period", False, "True where a block is less than the whole series")
        if len(self.blocks) != len(self.question.calendar) or any(a > b for a, b in pairwise((0, *self.blocks))):
            raise InvalidArgument("blocks", len(self.blocks), "one number a period of the grid, in ascending order")

    @property
    def most(self) -> int:
        """The most keys that a weight block may hold: of how many d there must be weights."""
        if self.max_keys is None:
            return 1
        if not self.choose_by_period:
            return self.max_keys
        periods = np.unique(self.block_of_period, return_counts=True)[1]
        return self.max_keys * int(periods.max())

    @property
    def block_of_period(self) -> NDArray[np.int64]:
        """The weight block of each period of the grid, numbered from 0 without gaps."""
        blocks = (0,) * len(self.question.calendar) if self.blocks is None else self.blocks
        return np.unique(np.asarray(blocks, np.int64), return_inverse=True)[1].astype(np.int64)

    @property
    def reading(self) -> Question:
        """The question with one grouping more, whose keys nobody declared: what is read of the source."""
        return replace(self.question, groupings=(*self.question.groupings, Grouping(self.column, ())))


@dataclass(frozen=True, slots=True, eq=False)
class HeldKeys:
    """The candidates and who holds them; nobody may see any of it.

    A candidate is a key that counts for somebody. Keys that are pushed out of everybody's choice are none: else one
    person could bring in as many lone keys as they like.

    Attributes:
        keys: the candidates, in the order of their bytes in UTF-8.
        people: for how many people each counts (rows, where there is no person).
        most: the most keys of a weight block.
        weigher: what the engine computes sums of weights by.
    """

    keys: tuple[str, ...] = field(repr=False)
    people: NDArray[np.int64] = field(repr=False)
    most: int
    weigher: Weigher = field(repr=False)

    def weigh(self, weights: Sequence[int], dropped: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return the sum of people's weights of each candidate.

        Of a weight block with d keys that are not dropped each has ``weights[d - 1]``; a person's weight on a key is
        the largest over their blocks, and 0 on dropped ones.
        """
        if len(weights) < self.most or any(not 0 <= weight < MOST_KEYS for weight in weights):
            raise InvalidArgument("weights", len(weights), f"{self.most:,} whole numbers from 0 to {MOST_KEYS - 1:,}")
        gone = np.zeros(len(self.keys), bool) if dropped is None else dropped
        if gone.shape != (len(self.keys),) or gone.dtype != np.bool_:
            raise InvalidArgument(
                "dropped", type(dropped).__name__, "an array that says of each candidate True or False"
            )
        return self.weigher(np.asarray(weights, np.int64), gone)


def number_of(key: str, text: str) -> int:
    """Return the number by which a key is ordered in people's choices; the plain form of what engines compute in SQL.

    >>> number_of("00" * 16, "/index.html")
    841325585
    """
    digest = hashlib.md5(f"{key}|{text}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) % PRIME
