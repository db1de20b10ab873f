"""Mistakes in blurring times: ties that tell, odds too high, borders papered over, a claim without ground."""

from __future__ import annotations

import numpy as np

from chronodp.privacy import Claim, PureCost, Swap
from chronodp.randomness import Entropy
from chronodp.temporal import BlockShuffle, NoisySort, Threshold
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

Series = tuple[int, ...]

_ARGUMENT = "docs/explanation/proofs/temporal.md"


def shuffle_block(values: Series, *, entropy: Entropy) -> Series:
    """Release a block in a random order, at ε = 1."""
    return _released(BlockShuffle(3, 1.0), values, entropy)


def shuffle_block_too_little(values: Series, *, entropy: Entropy) -> Series:
    """Release a block in a random order with odds of staying two per cent too high."""
    return _released(BlockShuffle(3, 1.02), values, entropy)


def shuffle_whole(values: Series, *, entropy: Entropy) -> Series:
    """Shuffle four values as one block, at ε = 1."""
    return _released(BlockShuffle(4, 1.0), values, entropy)


def shuffle_twice(values: Series, *, entropy: Entropy) -> Series:
    """Shuffle blocks of two, then blocks of two on a grid moved by one, and claim that no border is left."""
    first = _released(BlockShuffle(2, 1.0), values, entropy)
    return (first[0], *_released(BlockShuffle(2, 1.0), first[1:3], entropy), first[3])


def shuffle_fours(values: Series, *, entropy: Entropy) -> Series:
    """Shuffle blocks of four, at ε = 2.2."""
    return _released(BlockShuffle(4, 2.2), values, entropy)


def send_ahead(values: Series, *, entropy: Entropy) -> Series:
    """Send each value to an empty one of the next four times, which is no differential privacy."""
    return _released(Threshold(4, 2.2), values, entropy)


def sort_by_noisy_time(values: Series, *, entropy: Entropy) -> Series:
    """Order two values by time plus noise on a coarse grid; ties fall at random."""
    return _released(NoisySort(1, 4.0, steps=1), values, entropy)


def sort_stably(values: Series, *, entropy: Entropy) -> Series:
    """Order two values by time plus noise on a coarse grid; ties keep their order, and tell it."""
    keys = np.arange(len(values)) + entropy.laplace(0.5, len(values))
    return tuple(values[index] for index in np.argsort(keys, kind="stable").tolist())


def _released(mechanism: BlockShuffle | NoisySort | Threshold, values: Series, entropy: Entropy) -> Series:
    return tuple(mechanism.perturb(values, entropy=entropy).values.tolist())


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="block shuffle with odds of staying above e^ε",
        claim=Claim(Swap(3), PureCost(1.0), _ARGUMENT),
        sound=shuffle_block,
        broken=shuffle_block_too_little,
        neighbours=(((1, 2, 3), (2, 1, 3)), ((1, 2, 3), (3, 2, 1))),
    ),
    Mutant(
        name="block shuffles on two grids, one moved against the other",
        claim=Claim(Swap(4), PureCost(1.0), _ARGUMENT),
        sound=shuffle_whole,
        broken=shuffle_twice,
        neighbours=(((1, 2, 3, 4), (1, 3, 2, 4)), ((1, 2, 3, 4), (2, 1, 3, 4))),
    ),
    Mutant(
        name="the Threshold mechanism labelled TLDP",
        claim=Claim(Swap(4), PureCost(2.2), _ARGUMENT),
        sound=shuffle_fours,
        broken=send_ahead,
        neighbours=(((1, 2, 3, 4, 5), (2, 1, 3, 4, 5)),),
    ),
    Mutant(
        name="noisy sort of two values whose ties keep their order",
        claim=Claim(Swap(2), PureCost(1.6), _ARGUMENT),
        sound=sort_by_noisy_time,
        broken=sort_stably,
        neighbours=(((1, 2), (2, 1)),),
    ),
)
