"""One step of a windowed stream: state and values in, state and release out.

What a step may spend follows from the state alone, which follows from what was released; so whoever sees the
releases knows every share, and the argument in ``docs/explanation/proofs/w-event.md`` goes step by step: `offer` is its
table of mechanisms, `_moved` is "Sensitivity of looking", `_check_window` the sum that every window must keep.
"""

from __future__ import annotations

from typing import assert_never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import as_numbers
from chronodp.randomness import Entropy
from chronodp.series.windowed.design import LARGEST_SCALE, SHARE, WindowedDesign
from chronodp.series.windowed.mechanisms import BudgetAbsorption, BudgetDistribution, Sample, Uniform
from chronodp.series.windowed.state import WindowedState

__all__ = ["advance", "offer"]


def advance(
    design: WindowedDesign, state: WindowedState, values: ArrayLike, entropy: Entropy
) -> tuple[WindowedState, NDArray[np.float64]]:
    """Return the state after the next step and what is released at it, one number a column.

    Guarantee: the releases of all steps together are (epsilon, delta)-differentially private for ``design.unit``, also
    when values are chosen after seeing earlier releases. Each state must go on once only.

    >>> from chronodp.privacy import Window
    >>> from chronodp.randomness import seeded
    >>> from chronodp.series.windowed import BudgetDistribution, design_windowed, start
    >>> design = design_windowed(BudgetDistribution(), unit=Window(7), change=1.0, columns=2, epsilon=1.0)
    >>> state, released = advance(design, start(design), [1000.0, 2000.0], seeded(1))
    >>> state.step, released.shape, state.rolling_spend(design)         # 1/14 to look, 1/4 to release
    (1, (2,), Fraction(9, 28))
    """
    _check_state(design, state)
    now = _to_steps(design, values)
    offered, watch = offer(design, state), design.watch
    before = _spent_before(state)
    _check_window(design, before, watch + offered)
    published = offered > 0 and (not watch or _moved(design, state, now, offered, entropy))
    released = state.released
    if published:
        draw = entropy.gaussian if design.delta else entropy.laplace
        released = now + draw(design.noise(offered), (design.columns,))
    charged = watch + (offered if published else 0)
    spent = np.empty_like(state.spent)
    spent[:-1] = state.spent[1:]
    spent[-1] = charged
    following = WindowedState(
        step=state.step + 1,
        anchor=_anchor(design, state, offered) if published else state.anchor,
        worst=max(state.worst, before + charged),
        released=released,
        spent=spent,
    )
    return following, design.grid.to_values(released)


def offer(design: WindowedDesign, state: WindowedState) -> int:
    """Return the parts that a release at the next step would spend; 0 if none is to be made."""
    match design.mechanism:
        case Uniform():
            return 2 * SHARE
        case Sample():
            return 0 if state.step % design.window else design.total
        case BudgetDistribution():
            # Of the last w steps the oldest leaves the window now: w - 1 stay, fewer of them before the window is full.
            watched = design.watch * min(state.step, design.window - 1)
            left = design.total // 2 - (_spent_before(state) - watched)
            return _drawable(design, left // 2)  # down: what half a part would buy stays in the window
        case BudgetAbsorption():
            # Steps up to the anchor have given their shares up: k = step - anchor, at most w.
            return _drawable(design, min(max(state.step - state.anchor, 0), design.window) * SHARE)
        case never:
            assert_never(never)


def _drawable(design: WindowedDesign, parts: int) -> int:
    """Return the parts, or 0 where they are too few for noise that the sampler can draw."""
    return parts if parts > 0 and design.scale(parts) <= LARGEST_SCALE else 0


def _anchor(design: WindowedDesign, state: WindowedState, offered: int) -> int:
    if not isinstance(design.mechanism, BudgetAbsorption):
        return state.anchor
    # k shares were taken: steps t + 1 … t + k - 1 fall silent, and the first after them counts one share again.
    return state.step + offered // SHARE - 1


def _moved(
    design: WindowedDesign, state: WindowedState, now: NDArray[np.int64], offered: int, entropy: Entropy
) -> bool:
    """Return whether, as far as noise lets see, values lie farther from the last release than new noise would.

    The mean distance over columns is compared in whole numbers, multiplied by the columns: a sum, of sensitivity
    touched × reach.
    """
    apart = np.abs(now - state.released)
    # In two halves: sums of 2^24 columns of 2^55 steps do not fit 64 bits.
    distance = (int(np.add.reduce(apart >> 32)) << 32) + int(np.add.reduce(apart & 0xFFFFFFFF))
    noise = int(entropy.laplace(design.noise(design.watch), (1,))[0])
    wide = design.scale(offered)
    return (distance + noise) * wide.denominator > design.columns * wide.numerator


def _spent_before(state: WindowedState) -> int:
    """Return what w - 1 steps before this one spent: with it they are the window that ends here."""
    return int(np.add.reduce(state.spent[1:]))


def _check_window(design: WindowedDesign, before: int, asked: int) -> None:
    """Refuse before anything is drawn if the window that ends at this step could spend more than there is."""
    if before + asked > design.total:
        raise AssertionError(f"a window would spend {before + asked} of {design.total} parts: the state was altered")


def _check_state(design: WindowedDesign, state: WindowedState) -> None:
    if state.released.shape != (design.columns,) or state.spent.shape != (design.window,):
        allowed = f"a state of {design.columns} columns and a window of {design.window}"
        raise InvalidArgument("state", state, allowed)


def _to_steps(design: WindowedDesign, values: ArrayLike) -> NDArray[np.int64]:
    """Return values in whole steps of the grid, one a column."""
    allowed = f"{design.columns} finite numbers, one a column"
    numbers = as_numbers("values", values, allowed)
    if not np.isfinite(numbers).all():
        raise InvalidArgument("values", values, allowed, private=True)
    if numbers.shape != (design.columns,) and not (design.columns == 1 and numbers.ndim == 0):
        raise InvalidArgument("values", values, allowed, private=True)
    return design.grid.to_quanta(numbers.reshape(design.columns))
