"""The mechanisms that blur times, as one family."""

from __future__ import annotations

from typing import TypeAlias

from chronodp.temporal.block_shuffle import BlockShuffle
from chronodp.temporal.blurred import Promise
from chronodp.temporal.noisy_sort import NoisySort
from chronodp.temporal.published.backward import Backward
from chronodp.temporal.published.forward import Forward
from chronodp.temporal.published.threshold import Threshold

__all__ = ["Causal", "Mechanism", "Online", "Private", "promise_of"]

Private: TypeAlias = BlockShuffle | NoisySort
"""Mechanisms that are differentially private."""
Causal: TypeAlias = Backward | Forward | Threshold
"""The paper's mechanisms, which release each value at its time or later and promise a marginal dispatch budget."""
Online: TypeAlias = BlockShuffle | Causal
"""Mechanisms that can go on for ever."""
Mechanism: TypeAlias = Private | Causal


def promise_of(mechanism: Mechanism, *, seeded: bool = False) -> Promise:
    """Return the certificate of a private mechanism, or the statement of one that is not."""
    if isinstance(mechanism, Causal):
        return mechanism.statement(seeded=seeded)
    return mechanism.certificate(seeded=seeded)
