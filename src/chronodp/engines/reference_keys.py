"""Who holds which key, in the plainest Python: what every engine is compared with.

"What is computed" of ``docs/explanation/proofs/held-keys.md``, step by step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.choice import priority, seeds_of
from chronodp.engines.held_keys import HeldKeys, KeysQuestion, number_of

__all__ = ["held_keys_of"]


def held_keys_of(rows: Iterable[tuple[object, int, str]], asked: KeysQuestion, *, key: str) -> HeldKeys:
    """Return who holds which key, from the person, the period and the key of each row that counts."""
    chosen = _chosen(rows, asked, key)
    holders: dict[str, set[object]] = defaultdict(set)
    for person, _, text in chosen:
        holders[text].add(person)
    keys = sorted(holders, key=str.encode)
    blocks = asked.block_of_period.tolist()

    def weigh(weights: NDArray[np.int64], dropped: NDArray[np.bool_]) -> NDArray[np.int64]:
        left = {text for text, gone in zip(keys, dropped.tolist(), strict=True) if not gone}
        held: dict[tuple[object, ...], set[str]] = defaultdict(set)
        for person, period, text in chosen:
            block = (person, text) if asked.rows_apart else (person, blocks[period])
            held[block] |= {text} & left
        own: dict[tuple[object, str], int] = defaultdict(int)
        for (person, _), texts in held.items():
            for text in texts:
                own[person, text] = max(own[person, text], int(weights[len(texts) - 1]))
        return np.array([sum(own[person, text] for person in holders[text]) for text in keys], np.int64)

    return HeldKeys(tuple(keys), np.array([len(holders[text]) for text in keys], np.int64), asked.most, weigh)


def _chosen(rows: Iterable[tuple[object, int, str]], asked: KeysQuestion, key: str) -> set[tuple[object, int, str]]:
    """Return the person, the period and the key of what counts."""
    held = {(person, period, text) for person, period, text in rows if 0 < len(text.encode()) <= asked.longest}
    if asked.max_keys is None:
        return held
    blocks: dict[tuple[object, int], set[str]] = defaultdict(set)
    for person, period, text in held:
        blocks[person, period if asked.choose_by_period else 0].add(text)
    kept = set()
    for (person, block), texts in blocks.items():
        seeds = seeds_of(key, str(person))
        # Keys of one number have one priority; their bytes decide.
        order = sorted(texts, key=lambda text: (priority(number_of(key, text), seeds), text.encode()))
        kept |= {(person, block, text) for text in order[: asked.max_keys]}
    return {
        (person, period, text)
        for person, period, text in held
        if (person, period if asked.choose_by_period else 0, text) in kept
    }
