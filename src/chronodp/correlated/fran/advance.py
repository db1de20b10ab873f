"""One period of a stream of aged answers: state and snapshot in, state and release out.

"A stream" of ``docs/explanation/proofs/correlated.md``: with ages that never change each record is read by one release.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from chronodp.correlated.chain import Floats, Integers
from chronodp.correlated.fran.design import FranDesign
from chronodp.correlated.fran.state import FranState
from chronodp.errors import InvalidArgument, StreamConflict
from chronodp.randomness import Entropy

__all__ = ["advance"]


def advance(
    design: FranDesign, state: FranState, snapshot: ArrayLike, entropy: Entropy
) -> tuple[FranState, Floats | None]:
    """Return the state after the next period and what is released in it; None while nothing is old enough.

    Guarantee: each record of each sequence is read by one release, with noise for its sensitivity: the release costs
    ε_C for one record, whatever the data. Each state must go on once only.

    >>> from chronodp.correlated.fran import begin, design_fran
    >>> from chronodp.correlated import CouplingMarkovChain, Sum
    >>> from chronodp.randomness import seeded
    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
    >>> design = design_fran(model, query=Sum(), ages=1, epsilon=1.0)
    >>> state, released = advance(design, begin(design), [0, 1], seeded(1))
    >>> released is None
    True
    >>> state, released = advance(design, state, [1, 1], seeded(1))          # of the snapshot [0, 1]
    >>> released.shape
    (1,)
    """
    if design.horizon is not None and state.step >= design.horizon:
        raise StreamConflict(f"the stream has ended: it was opened for {design.horizon} periods")
    now = _check_snapshot(design, snapshot)
    if state.past.shape != (min(state.step, design.oldest), design.sequences):
        raise InvalidArgument("state", state, f"a state of {design.sequences} sequences that are {design.oldest} deep")
    seen = np.concatenate([state.past, now[None]])
    following = FranState(state.step + 1, seen[len(seen) - min(len(seen), design.oldest) :].copy())
    if state.step < design.oldest:
        return following, None
    # The newest snapshot is the last row, of age 0: age A lies A rows before it.
    aged = seen[len(seen) - 1 - design.reading_ages, np.arange(design.sequences)]
    scale = design.scale(design.epsilon_at(state.step))
    noisy = design.answer(aged) + entropy.laplace(scale, (len(design.table),))
    return following, design.to_values(noisy)


def _check_snapshot(design: FranDesign, snapshot: ArrayLike) -> Integers:
    allowed = f"{design.sequences} whole numbers from 0 to {design.states - 1}, the state of each sequence"
    try:
        now = np.asarray(snapshot)
    except (ValueError, TypeError):
        raise InvalidArgument("snapshot", snapshot, allowed, private=True) from None
    if now.dtype.kind not in "iub" or now.shape != (design.sequences,):
        raise InvalidArgument("snapshot", snapshot, allowed, private=True)
    if now.min() < 0 or now.max() >= design.states:
        raise InvalidArgument("snapshot", snapshot, allowed, private=True)
    return now.astype(np.int64)
