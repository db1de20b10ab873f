"""Noise on measurements: exact steps in, what is released out; the state follows from that alone.

r_t of "What is released" in ``docs/explanation/proofs/state-estimation.md``; `_close_loop` is the line with a clip.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess import Floats, NormalEstimates
from chronodp.privacy import Grid
from chronodp.randomness import Entropy
from chronodp.state_space.design import FilterDesign
from chronodp.state_space.filter import Belief, pass_through, predict, update

__all__ = ["Row", "perturb"]

Integers = NDArray[np.int64]
Row = list[int | None]


def perturb(
    design: FilterDesign, prior: Belief, values: Floats, entropy: Entropy
) -> tuple[list[Row], NormalEstimates, Belief]:
    """Draw noise for the next steps; return what is released, the states, and what is known of the state after them.

    Args:
        design: of the filter.
        prior: what is known of the first state, from earlier releases.
        values: measurements, steps × channels, NaN where there is none.
        entropy: of the noise.

    Guarantee: the rows are private as the design says; the rest is computed from them. Spends nothing: a
    `PrivateFilter` is what pays.
    """
    grid = Grid(design.noise.step)
    seen = ~np.isnan(values)
    exact = grid.to_quanta(np.where(seen, values, 0.0))
    noise = np.zeros(values.shape, dtype=np.int64)
    noise[seen] = design.noise.draws(entropy)((int(seen.sum()), 1))[:, 0]
    made = exact + noise if design.clip_steps is None else _close_loop(design, prior, exact, noise, seen)
    rows: list[Row] = [
        [number if there else None for number, there in zip(row, known, strict=True)]
        for row, known in zip(made.tolist(), seen.tolist(), strict=True)
    ]
    noisy = np.where(seen, grid.to_values(made), np.nan)
    passed = pass_through(design.model, noisy, added=design.added, first=prior)
    last = Belief(passed.means[-1], passed.posterior[-1])
    return rows, NormalEstimates(passed.means, passed.deviations), predict(design.model, last)


def _close_loop(
    design: FilterDesign, prior: Belief, exact: Integers, noise: Integers, seen: NDArray[np.bool_]
) -> Integers:
    """Return the public prediction plus the clipped surprise plus noise, step by step, in whole steps of the grid."""
    grid, limit = Grid(design.noise.step), design.clip_steps or 0
    observation = np.array(design.model.observation)
    made = np.empty_like(exact)
    for step in range(len(exact)):
        expected = grid.to_quanta(observation @ prior.mean)  # of released numbers only
        # Clipping about a public point brings no two numbers farther apart; the point itself tells nothing new.
        made[step] = expected + np.clip(exact[step] - expected, -limit, limit) + noise[step]
        noisy = np.where(seen[step], grid.to_values(made[step]), np.nan)
        prior = predict(design.model, update(design.model, prior, noisy, added=design.added))
    return made
