"""Blurred times: every order of small blocks, and what the paper's mechanisms say instead of a guarantee."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from chronodp.audit.orders import Orders
from chronodp.audit.registry import Entry
from chronodp.audit.subject import Subject
from chronodp.audit.walked import Enumerated, Known
from chronodp.randomness import Entropy
from chronodp.temporal import (
    Backward,
    BlockShuffle,
    BlurredStream,
    Forward,
    NoisySort,
    Threshold,
    blur_times,
    release_times,
)

__all__ = ["ENTRIES", "swaps"]

Values = tuple[Any, ...]

_LONGEST = 7


def swaps(values: Values) -> tuple[tuple[Values, Values], ...]:
    """Return every pair that differs by exchanging two values."""
    found = []
    for one, two in itertools.combinations(range(len(values)), 2):
        other = list(values)
        other[one], other[two] = other[two], other[one]
        found.append((values, tuple(other)))
    return tuple(found)


def _shuffles() -> tuple[Subject, ...]:
    return tuple(
        _shuffle(block, epsilon) for block, epsilon in ((3, 0.7), (4, 3.0), (5, 1.0), (6, 1.3), (_LONGEST, 1.0))
    )


def _shuffle(block: int, epsilon: float) -> Subject:
    mechanism = BlockShuffle(block, epsilon)

    def perturb(values: Values, *, entropy: Entropy) -> Values:
        return tuple(mechanism.perturb(np.array(values), entropy=entropy).values.tolist())

    first = tuple(range(block))
    # By symmetry of the law every swap tells as much; ends, neighbours and the middle are compared all the same.
    pairs = swaps(first)
    tied = (0, 0, *range(1, block - 1))
    return Subject(
        name=f"block of {block}",
        mechanism=Orders(perturb, block),
        neighbours=(*(pairs if block < 6 else (pairs[0], pairs[block - 2], pairs[-1])), swaps(tied)[1]),
        claim=mechanism.claim,
        checks=(Known(),),
    )


def _sorts() -> tuple[Subject, ...]:
    two, three = NoisySort(1, 4.0, steps=1), NoisySort(2, 100.0, steps=1)

    def sort_two(values: Values, *, entropy: Entropy) -> Values:
        return tuple(two.perturb(np.array(values), entropy=entropy).values.tolist())

    def sort_three(values: Values, *, entropy: Entropy) -> Values:
        return tuple(three.perturb(np.array(values), entropy=entropy).values.tolist())

    return (
        Subject(
            name="noisy sort of two values",
            mechanism=sort_two,
            neighbours=(((0, 1), (1, 0)),),
            claim=two.claim,
            checks=(Enumerated(),),
        ),
        Subject(
            name="noisy sort of three values",
            mechanism=sort_three,
            neighbours=swaps((0, 1, 2)),
            claim=three.claim,
            checks=(Enumerated(),),
        ),
    )


ENTRIES = (
    Entry(
        name="block shuffle",
        covers=(BlockShuffle, BlurredStream, blur_times, release_times),
        precision="whole numbers; the odds of staying are a ratio of whole numbers at most e^ε",
        subjects=_shuffles,
    ),
    Entry(
        name="noisy sort",
        covers=(NoisySort,),
        precision="whole numbers on a grid of time; ties fall at random, evenly",
        subjects=_sorts,
    ),
    Entry(
        name="Backward, Forward and Threshold",
        covers=(Backward, Forward, Threshold),
        precision="whole numbers",
        unclaimed="no differential privacy: a marginal dispatch budget, and what an observer rules out",
    ),
)
