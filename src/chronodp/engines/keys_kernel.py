"""The packed sort for keys: rows of people in one stretch of memory become the keys that count, and their weights.

A row is one 64-bit word, of which a sort and a look at its neighbours leave each (person, period, key) once:

    highest bits     period_bits bits     lowest key_bits bits
    person           period               key

Persons count from 0 within the stretch. Keys are numbered in the order of their bytes, one number for each text. Where
periods do not matter they have 0 bits. Steps 2 to 5 of "What is computed" in ``docs/explanation/proofs/held-keys.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.choice import Seeds, Words, priorities
from chronodp.engines.kernel import runs_of

__all__ = ["Chosen", "Layout", "choose"]


@dataclass(frozen=True, slots=True)
class Layout:
    """What the bits of a word mean, and what is chosen.

    Attributes:
        key_bits: for the number of a key.
        period_bits: for the period; 0 where a choice block is the whole series.
        max_keys: how many keys of a choice block count; None for all.
        block_of_period: the weight block of each period; None where every row is one.
        numbers: the number of each key in people's choices, as `number_of` has it.
    """

    key_bits: int
    period_bits: int
    max_keys: int | None
    block_of_period: Words | None
    numbers: Words


@dataclass(frozen=True, slots=True)
class Chosen:
    """The keys that count for some people, one entry for each (person, weight block, key).

    Attributes:
        keys: the number of the key of each entry.
        blocks: where each weight block begins, and the end.
        order: the entries by person and key, so that those of one pair stand together; None where all pairs differ.
        pairs: where each pair begins in that order, and the end.
    """

    keys: NDArray[np.int32]
    blocks: Words
    order: Words | None
    pairs: Words

    def count(self, people: Words) -> None:
        """Add 1 for each pair of a person and a key."""
        np.add.at(people, self._keys_of_pairs(), 1)

    def weigh(self, sums: Words, weights: Words, dropped: NDArray[np.bool_]) -> None:
        """Add the weight of each pair; ``weights[d]`` is that of d keys, and 0 of none."""
        left = ~dropped[self.keys]
        lengths = np.diff(self.blocks)
        if not len(lengths):
            return
        held = np.add.reduceat(left, self.blocks[:-1], dtype=np.int64)
        own = np.repeat(weights[held], lengths)
        own *= left
        if self.order is not None:
            own = np.maximum.reduceat(own[self.order], self.pairs[:-1])
        np.add.at(sums, self._keys_of_pairs(), own)

    def _keys_of_pairs(self) -> NDArray[np.int32]:
        return self.keys if self.order is None else self.keys[self.order[self.pairs[:-1]]]


def choose(words: NDArray[np.uint64], layout: Layout, seeds: Seeds) -> Chosen:
    """Return the keys that count for the people in ``words``, numbered from 0; ``seeds`` are theirs.

    The words are sorted where they lie, and lost.
    """
    words.sort()
    held = words.view(np.int64)
    held = held[runs_of(held)[:-1]]
    if layout.max_keys is not None:
        held = _lowest(held, layout, layout.max_keys, seeds)
    mask = (1 << layout.key_bits) - 1
    blocks = layout.block_of_period
    if blocks is None:  # each entry is a block of its own
        every = np.arange(len(held) + 1)
        return Chosen((held & mask).astype(np.int32), every, None, every)
    if layout.period_bits:
        held = _by_block(held, layout, blocks)
    keys = held & mask
    starts = runs_of(held >> layout.key_bits)
    if not blocks.any():
        return Chosen(keys.astype(np.int32), starts, None, np.arange(len(held) + 1))
    pairs = (held >> (layout.key_bits + layout.period_bits) << layout.key_bits) | keys
    order = np.argsort(pairs, kind="stable")
    return Chosen(keys.astype(np.int32), starts, order, runs_of(pairs[order]))


def _by_block(held: Words, layout: Layout, blocks: Words) -> Words:
    """Return each (person, weight block, key) once, in order, the block in the bits of the period."""
    key_bits, period_bits = layout.key_bits, layout.period_bits
    periods = (held >> key_bits) & ((1 << period_bits) - 1)
    moved: Words = held + ((blocks[periods] - periods) << key_bits)
    moved.sort()
    return moved[runs_of(moved)[:-1]]


def _lowest(held: Words, layout: Layout, limit: int, seeds: Seeds) -> Words:
    """Return those that are among the ``limit`` first of their choice block in their person's order."""
    runs = runs_of(held >> layout.key_bits)
    starts, lengths = runs[:-1], np.diff(runs)
    long = lengths > limit
    if not long.any():
        return held
    concerned, lengths = np.repeat(long, lengths), lengths[long]
    keys = held[concerned] & ((1 << layout.key_bits) - 1)
    who = held[starts[long]] >> (layout.key_bits + layout.period_bits)
    multiplier, shift, offset = (np.repeat(seed[who], lengths) for seed in seeds)
    order = priorities(layout.numbers[keys], (multiplier, shift, offset))
    # Bits 30 … 0 are the priority, the bits above number the run: one sort orders all runs at once.
    order |= np.repeat(np.arange(len(lengths)) << 31, lengths)
    begins = np.cumsum(lengths) - lengths
    last = np.sort(order)[begins + (limit - 1)]
    among: NDArray[np.bool_] = order <= np.repeat(last, lengths)
    # Keys of one number have one priority, and more than ``limit`` may reach the last. A run is in the order of bytes:
    # the first of the equal ones stay.
    kept = np.add.reduceat(among, begins, dtype=np.int64)
    for run in np.flatnonzero(kept > limit).tolist():
        own = slice(int(begins[run]), int(begins[run] + lengths[run]))
        equal = np.flatnonzero(order[own] == last[run]) + own.start
        among[equal[limit - int(kept[run]) :]] = False
    keep = ~concerned
    keep[concerned] = among
    return held[keep]
