"""What a plan would release before noise, and by how much it says that one unit changes that.

Every check of neighbours that starts from a plan goes through here, whatever a plan is made of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.engines import Progress
from chronodp.privacy import Sensitivity
from chronodp.series import Plan

__all__ = ["Numbers", "largest_change", "totals"]

Numbers = tuple[NDArray[np.floating[Any]], ...]
"""Of each kind that has a noise of its own: periods × places, in units of the data."""


def totals(
    plan: Plan, *, key: str = "k", progress: Progress = lambda _: None
) -> tuple[Numbers, tuple[Sensitivity, ...]]:
    """Return the exact numbers of a plan, and the sensitivity that is stated of each kind.

    Args:
        plan: what would be released.
        key: decides which periods and places of a person count.
        progress: told which fraction is done.
    """
    read = plan.read(key=key, progress=progress)
    numbers = tuple(part * noise.step for part, noise in zip(read, plan.design.noises, strict=False))
    return numbers, tuple(plan.design.table.sensitivities())


def largest_change(one: Numbers, other: Numbers, stated: Sequence[Sensitivity]) -> float:
    """Return the change between two tables over what is stated, in l1 or l2 and of whichever kind is worst."""
    ratios = [0.0]
    for before, after, allowed in zip(one, other, stated, strict=True):
        change = np.abs(before - after)
        ratios += [float(change.sum()) / allowed.l1, math.sqrt(float((change**2).sum())) / allowed.l2]
    return max(ratios)
