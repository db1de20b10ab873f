"""Blurred times: every order of small blocks, of tables and of streams; what others say instead of a guarantee."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from chronodp.audit.case import AuditCase
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
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.orders import Orders
from tests.audit.registry import Entry

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


def _shuffles() -> tuple[AuditCase, ...]:
    return tuple(
        _shuffle(block, epsilon) for block, epsilon in ((3, 0.7), (4, 3.0), (5, 1.0), (6, 1.3), (_LONGEST, 1.0))
    )


def _shuffle(block: int, epsilon: float) -> AuditCase:
    mechanism = BlockShuffle(block, epsilon)

    def perturb(values: Values, *, entropy: Entropy) -> Values:
        return tuple(mechanism.perturb(np.array(values), entropy=entropy).values.tolist())

    first = tuple(range(block))
    # By symmetry of the law every swap tells as much; ends, neighbours and the middle are compared all the same.
    pairs = swaps(first)
    tied = (0, 0, *range(1, block - 1))
    return AuditCase(
        name=f"block of {block}",
        mechanism=Orders(perturb, block),
        neighbours=(*(pairs if block < 6 else (pairs[0], pairs[block - 2], pairs[-1])), swaps(tied)[1]),
        claim=mechanism.claim,
        checks=(Known(),),
    )


def _sorts() -> tuple[AuditCase, ...]:
    two, three = NoisySort(1, 4.0, steps=1), NoisySort(2, 100.0, steps=1)

    def sort_two(values: Values, *, entropy: Entropy) -> Values:
        return tuple(two.perturb(np.array(values), entropy=entropy).values.tolist())

    def sort_three(values: Values, *, entropy: Entropy) -> Values:
        return tuple(three.perturb(np.array(values), entropy=entropy).values.tolist())

    return (
        AuditCase(
            name="noisy sort of two values",
            mechanism=sort_two,
            neighbours=(((0, 1), (1, 0)),),
            claim=two.claim,
            checks=(Enumerated(),),
        ),
        AuditCase(
            name="noisy sort of three values",
            mechanism=sort_three,
            neighbours=swaps((0, 1, 2)),
            claim=three.claim,
            checks=(Enumerated(),),
        ),
    )


def _tables() -> tuple[AuditCase, ...]:
    """Two people, of whom one begins inside a block; blocks are cut by the clock, and values of a block swapped."""
    shuffle, sort = BlockShuffle(3, 1.0), NoisySort(1, 40.0, steps=1)

    def blur(values: Values, *, entropy: Entropy) -> Values:
        made = blur_times(_people(values), shuffle, time="at", user="who", values=["held"], entropy=entropy)
        return tuple(made.frame["held"].tolist())

    def release(values: Values, *, entropy: Entropy) -> Values:
        return _paid(_people(values), shuffle, entropy, start=3, end=6)

    def sorted_release(values: Values, *, entropy: Entropy) -> Values:
        return _paid(_rows(values), sort, entropy)

    return (
        AuditCase(
            name="a table of two people",
            mechanism=blur,
            # Times 4, 5 | 6 of one person and 3, 4, 5 of another: blocks are 3 to 5 and 6 to 8.
            neighbours=tuple((_BASE, _exchanged(_BASE, *places)) for places in ((0, 1), (3, 4), (3, 5))),
            claim=shuffle.claim,
            checks=(Enumerated(),),
        ),
        AuditCase(
            name="a table that is paid for, from one border of a block to the next",
            mechanism=release,
            neighbours=tuple((_BASE, _exchanged(_BASE, *places)) for places in ((0, 1), (3, 5))),
            claim=shuffle.claim,
            checks=(Enumerated(),),
        ),
        AuditCase(
            name="a table sorted by noisy times",
            mechanism=sorted_release,
            neighbours=(((0, 1), (1, 0)),),
            claim=sort.claim,
            checks=(Enumerated(),),
        ),
    )


_BASE = (0, 1, 2, 3, 4, 5)


def _exchanged(values: Values, one: int, two: int) -> Values:
    other = list(values)
    other[one], other[two] = other[two], other[one]
    return tuple(other)


def _people(values: Values) -> Any:
    import pandas

    return pandas.DataFrame({"at": [4, 5, 6, 3, 4, 5], "who": [*["ann"] * 3, *["bo"] * 3], "held": list(values)})


def _rows(values: Values) -> Any:
    import pandas

    return pandas.DataFrame({"at": range(len(values)), "who": ["ann"] * len(values), "held": list(values)})


def _paid(
    table: Any, mechanism: BlockShuffle | NoisySort, entropy: Entropy, start: int | None = None, end: int | None = None
) -> Values:
    with temporary_ledger(mechanism.claim.unit) as ledger:
        made = release_times(
            table,
            mechanism,
            time="at",
            user="who",
            values=["held"],
            ledger=ledger,
            dataset="audit",
            request="audit",
            entropy=entropy,
            start=start,
            end=end,
        )
    return tuple(made.frame["held"].tolist())


def _streams() -> tuple[AuditCase, ...]:
    mechanism = BlockShuffle(3, 1.0)

    def run(values: Values, *, entropy: Entropy) -> Values:
        with temporary_ledger(mechanism.claim.unit) as ledger:
            live = BlurredStream(mechanism, ledger=ledger, dataset="audit", name="audit", entropy=entropy)
            told = [live.step(value).values for value in values]
            return (*told, live.finish().values)

    values = (0, 1, 2, 3, 4)
    return (
        AuditCase(
            name="a stream of a block and a part of one",
            mechanism=run,
            neighbours=tuple((values, _exchanged(values, *places)) for places in ((0, 1), (0, 2), (3, 4))),
            claim=mechanism.claim,
            checks=(Enumerated(),),
        ),
    )


ENTRIES = (
    Entry(
        name="blurred times of a table",
        covers=(blur_times, release_times),
        precision="whole numbers; blocks cut at the same instants for every table",
        cases=_tables,
    ),
    Entry(
        name="blurred times of a stream",
        covers=(BlurredStream,),
        precision="whole numbers; the odds of staying are a ratio of whole numbers at most e^ε",
        cases=_streams,
    ),
    Entry(
        name="block shuffle",
        covers=(BlockShuffle,),
        precision="whole numbers; the odds of staying are a ratio of whole numbers at most e^ε",
        cases=_shuffles,
    ),
    Entry(
        name="noisy sort",
        covers=(NoisySort,),
        precision="whole numbers on a grid of time; ties fall at random, evenly",
        cases=_sorts,
    ),
    Entry(
        name="Backward, Forward and Threshold",
        covers=(Backward, Forward, Threshold),
        precision="whole numbers",
        unclaimed="no differential privacy: a marginal dispatch budget, and what an observer rules out",
    ),
)
