"""Mutants of published counts that decide which keys are published: what is not free beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chronodp.randomness import Entropy
from chronodp.selection.keys import CountNoise, Decided, PublishedCounts
from tests.audit.cases.published_counts import Counted
from tests.audit.key_rules import People
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS", "publish_exact", "publish_fresh"]

_SOUND = Counted(PublishedCounts(0.01, 1), CountNoise("laplace", 1.0, 1))
_CROWD: People = ((0,),) * 6  # about as many as a key needs


def publish_exact(held: NDArray[np.int64], decided: Decided, noise: CountNoise, entropy: Entropy) -> NDArray[np.int64]:
    """Publish how many people hold a key that is public now."""
    del decided, entropy
    return held * noise.person


def publish_fresh(held: NDArray[np.int64], decided: Decided, noise: CountNoise, entropy: Entropy) -> NDArray[np.int64]:
    """Publish a second draw of the count, as after a crash that kept the keys and not their noise."""
    del decided
    return held * noise.person + entropy.laplace(noise.scale, len(held))


def _mutant(name: str, broken: Counted, *neighbours: tuple[People, People]) -> Mutant:
    return Mutant(
        name=name,
        claim=_SOUND.claim,
        epsilon=_SOUND.noise.person / _SOUND.noise.scale,
        delta=_SOUND.rule.delta,
        sound=_SOUND,
        broken=broken,
        neighbours=neighbours,
    )


MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "a published count at the threshold, its probability counted above it",
        replace(_SOUND, lowered=1),
        ((), ((0,),)),
    ),
    _mutant("a kept key's exact count", replace(_SOUND, publishing=publish_exact), (_CROWD, (*_CROWD, (0,)))),
    _mutant(
        "a second draw of a published count, not paid for",
        replace(_SOUND, publishing=publish_fresh),
        (_CROWD, (*_CROWD, (0,))),
    ),
)
