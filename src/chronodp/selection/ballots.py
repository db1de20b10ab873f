"""What each person's own losses say about the candidates: a vote or a clipped regret, and their sum.

"Utilities made of ballots" in ``docs/explanation/proofs/selection.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_positive, document, settle

__all__ = ["ClippedRegret", "Scoring", "Votes", "ballots_of", "tally"]

_STEPS = 2.0**20  # of a clipped regret: sums of multiples of 2^-20 are exact for billions of people


@document("votes")
@dataclass(frozen=True, slots=True)
class Votes:
    """Each person gives one vote to the candidate with the least loss, the first of them among equals."""

    def __str__(self) -> str:
        return "votes"


@document("clipped_regret")
@dataclass(frozen=True, slots=True)
class ClippedRegret:
    """Each person gives 1 to the best candidate and 1 - regret / ``clip``, but at least 0, to the others.

    The regret is the loss above that person's least loss; the clip is a public number in units of the loss.
    """

    clip: float

    def __post_init__(self) -> None:
        settle(self, clip=check_positive("clip", self.clip))

    def __str__(self) -> str:
        return f"regrets clipped at {self.clip!r}"


Scoring: TypeAlias = Votes | ClippedRegret


def ballots_of(losses: ArrayLike, scoring: Scoring) -> NDArray[np.float64]:
    """Return one row of numbers from 0 to 1 for each row of losses. FOR THE OWNER ONLY.

    A loss that is infinite or not a number counts as failed and earns 0; a row in which all failed earns nothing.
    """
    table = _check_losses(losses)
    failed = ~np.isfinite(table)
    usable = np.where(failed, np.inf, table)
    least = usable.min(axis=1, keepdims=True, initial=np.inf)
    match scoring:
        case Votes():
            first = np.argmin(usable, axis=1)[:, None] == np.arange(table.shape[1])
            votes: NDArray[np.float64] = (first & ~failed).astype(np.float64)
            return votes
        case ClippedRegret(clip):
            # Differences of huge losses may be infinite, which is a regret like any other beyond the clip.
            with np.errstate(over="ignore", invalid="ignore"):
                regrets = np.where(failed, clip, usable - np.where(np.isfinite(least), least, 0.0))
            # Down to multiples of 2^-20, each row by itself: sums of them are exact in any order of people.
            earned: NDArray[np.float64] = np.floor((1.0 - np.minimum(regrets, clip) / clip) * _STEPS) / _STEPS
            return earned
        case _:
            assert_never(scoring)


def tally(losses: ArrayLike, scoring: Scoring | None = None) -> NDArray[np.float64]:
    """Return the utilities of candidates: the sum of what every person gives. FOR THE OWNER ONLY.

    Guarantee: one more person raises every utility by 0 to 1, if a row depends on its own person only. So they are
    ``MonotoneUtilities(..., change=1)`` where people are added or removed, and ``Utilities(..., change=1)`` where one
    is replaced.

    Args:
        losses: one row a person, one column a candidate; infinite where a fit failed.
        scoring: Votes() unless told otherwise, or ClippedRegret(clip).

    >>> tally([[0.1, 0.2, 0.9], [0.5, 0.4, 0.6], [9.0, 3.0, float("inf")]]).tolist()
    [1.0, 2.0, 0.0]
    >>> tally([[0.1, 0.2, 0.9], [0.5, 0.4, 0.6]], ClippedRegret(0.4)).round(3).tolist()
    [1.75, 1.75, 0.5]
    """
    chosen = Votes() if scoring is None else scoring
    if not isinstance(chosen, Scoring):
        raise InvalidArgument("scoring", chosen, "Votes() or ClippedRegret(clip)")
    sums: NDArray[np.float64] = ballots_of(losses, chosen).sum(axis=0)
    return sums


def _check_losses(losses: ArrayLike) -> NDArray[np.float64]:
    allowed = "numbers, one row a person and one column a candidate, all rows of one length"
    try:
        table = np.asarray(losses)
    except (ValueError, TypeError):
        raise InvalidArgument("losses", losses, allowed, private=True) from None
    if table.ndim != 2 or table.shape[1] == 0 or table.dtype.kind not in "iuf":
        raise InvalidArgument("losses", losses, allowed, private=True)
    return table.astype(np.float64)
