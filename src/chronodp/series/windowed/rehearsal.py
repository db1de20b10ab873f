"""Which way of protecting windows suits a series: all of them tried on an example that is public.

The error of looking before releasing, or of repeating the last release, depends on how the series moves, so no formula
knows it beforehand. An example tells: last year's published figures, or numbers made up to move alike. The private
series must not be used: what is chosen from it would leak.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Floats, RandomWalk, as_columns, kalman_filter, likeliest
from chronodp.privacy import Window, check_delta, check_whole
from chronodp.randomness import Entropy, check_entropy
from chronodp.report import watching
from chronodp.series.windowed.advance import advance
from chronodp.series.windowed.design import WindowedDesign, as_window, design_windowed
from chronodp.series.windowed.mechanisms import BudgetAbsorption, BudgetDistribution, Sample, Uniform, WindowedMechanism
from chronodp.series.windowed.state import start

if TYPE_CHECKING:
    import pandas

__all__ = ["rehearse"]

_FEWEST = 8  # steps from which a pace can be estimated
_MOST_RUNS = 10_000


def rehearse(
    example: ArrayLike,
    *,
    window: int | Window,
    change: float,
    epsilon: float,
    delta: float = 0.0,
    max_groups: int = 1,
    runs: int = 4,
    entropy: Entropy | None = None,
) -> pandas.DataFrame:
    """Return the error of every mechanism on an example series, the best first. Nothing is spent.

    Columns: mechanism; noise; reading (as released, or through a Kalman filter that takes the truth for a random walk,
    which only mechanisms that release every step allow); rmse over all steps and series; fresh, the share of steps that
    were released anew.

    Args:
        example: public numbers that move as the private ones do, steps × series.
        window: how many consecutive periods are protected together, or a `Window`.
        change: the most that one person changes one series in one period.
        epsilon: of the guarantee for any window.
        delta: of that guarantee; above 0 Gaussian noise is tried too.
        max_groups: in how many series one person counts within a period.
        runs: how often each is tried.
        entropy: of the noise.

    >>> from chronodp.randomness import seeded
    >>> quiet = np.full((200, 20), 1000.0)
    >>> table = rehearse(quiet, window=40, change=1.0, epsilon=1.0, runs=1, entropy=seeded(1))
    >>> str(table["mechanism"][0]), bool(table["rmse"].is_monotonic_increasing)
    ('one release a window, repeated in between', True)
    """
    import pandas

    truth = as_columns("example", example)
    if len(truth) < _FEWEST:
        raise InvalidArgument("example", f"{len(truth)} steps", f"at least {_FEWEST} steps")
    check_whole("runs", runs, most=_MOST_RUNS)
    delta = check_delta(delta)
    bits = check_entropy(entropy)
    unit = as_window(window)
    designs = [
        design_windowed(
            mechanism,
            unit=unit,
            change=change,
            columns=truth.shape[1],
            max_groups=max_groups,
            epsilon=epsilon,
            delta=spent,
        )
        for mechanism, spent in _mechanisms(delta)
    ]
    rows: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    with watching("Trying mechanisms on the example") as tell:
        for done, design in enumerate(designs * runs):
            for key, square, fresh in _try(design, truth, bits):
                rows.setdefault(key, []).append((square, fresh))
            tell((done + 1) / (len(designs) * runs))
    means = {key: np.mean(found, axis=0) for key, found in rows.items()}
    table = pandas.DataFrame(
        [(*key, float(np.sqrt(square)), float(fresh)) for key, (square, fresh) in means.items()],
        columns=["mechanism", "noise", "reading", "rmse", "fresh"],
    )
    return table.sort_values("rmse", ignore_index=True)


def _mechanisms(delta: float) -> Iterator[tuple[WindowedMechanism, float]]:
    for mechanism in (Uniform(), Sample(), BudgetDistribution(), BudgetAbsorption()):
        yield mechanism, 0.0
    if delta:
        yield Uniform(), delta


def _try(
    design: WindowedDesign, truth: Floats, entropy: Entropy
) -> Iterator[tuple[tuple[str, str, str], float, float]]:
    """Yield mechanism, noise and reading, with the mean squared error and the share of fresh steps."""
    state, made, fresh = start(design), [], 0
    for values in truth:
        state, released = advance(design, state, values, entropy)
        made.append(released)
        fresh += int(state.spent[-1]) > design.watch
    numbers = np.array(made)
    name, noise = str(design.mechanism), "gaussian" if design.delta else "laplace"
    yield (name, noise, "as released"), float(np.mean((numbers - truth) ** 2)), fresh / len(truth)
    if isinstance(design.mechanism, Uniform):
        wide = float(design.most_scale) * design.step * (1.0 if design.delta else 2**0.5)
        filtered = kalman_filter(numbers, wide, likeliest(numbers, wide, RandomWalk())).value
        yield (name, noise, "Kalman filter"), float(np.mean((filtered - truth) ** 2)), 1.0
