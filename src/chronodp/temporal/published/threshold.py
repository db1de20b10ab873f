"""The paper's Threshold mechanism, extended where no threshold meets the budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.privacy import LATER, check_whole, check_word, document, settle
from chronodp.randomness import Entropy
from chronodp.temporal.blurred import Blurred, blur_panel, blur_series
from chronodp.temporal.damage import Damage
from chronodp.temporal.probabilities import MOST, check_budget
from chronodp.temporal.published.dispatch import ThresholdChoice, choose_threshold, dispatch_probabilities
from chronodp.temporal.published.juggling import juggle, juggle_many, steady_slots
from chronodp.temporal.published.observer import shown_distances, threshold_rules_out
from chronodp.temporal.published.printed_start import juggle_from_empty
from chronodp.temporal.published.statement import DispatchStatement
from chronodp.temporal.published.stirling import LONGEST

__all__ = ["Threshold"]

Start: TypeAlias = Literal["steady", "printed"]

_FEW = 16  # series up to which one after another is faster than all at once


@document("threshold")
@dataclass(frozen=True, slots=True)
class Threshold:
    """Send each value to an empty one of the next ``window`` times, of which so many stay empty that choice remains.

    The threshold, how many stay empty, is the largest whose dispatch probabilities fit the budget. Below the budgets
    that any threshold reaches the mechanism is extended: a value whose own time is empty is then dropped at times.

    Guarantee: none of differential privacy. What holds is the marginal dispatch budget: in the steady state a value is
    sent to one time of its window at most e^{ε/2} times as likely as to another. The paper calls it ε-TLDP, which it is
    not (``docs/explanation/proofs/temporal.md``). `BlockShuffle` keeps what it promises.

    A series starts in the steady state: times taken by values before its start stay empty, and values sent beyond its
    end are lost, as many on average as the delay. With ``start="printed"`` it starts as Algorithm 1 prints it, with all
    times empty: window - threshold times stay empty in all, and no value is lost before the end. The first steps then
    follow another law, and the statement of such a run has no budget.

    Args:
        window: how many times there are to choose from, at least 3.
        epsilon: the marginal dispatch budget, of the steady state.
        start: "steady", or "printed".

    References:
        Ye, Hu, Li, Meng, Zheng, Yan (2021), Beyond value perturbation, section IV.

    >>> from chronodp.randomness import seeded
    >>> mechanism = Threshold(20, 5.0)
    >>> mechanism.choice.threshold, mechanism.expected.delay
    (10, 10.0)
    >>> blurred = mechanism.perturb(range(1000), entropy=seeded(1))
    >>> blurred.damage.repeated, round(blurred.damage.missing, 2)
    (0.0, 0.01)
    """

    window: int
    epsilon: float
    start: Start = field(default="steady", metadata=LATER)

    def __post_init__(self) -> None:
        settle(
            self,
            window=check_whole("window", self.window, least=3, most=LONGEST),
            epsilon=check_budget("epsilon", self.epsilon),
            start=check_word("start", self.start, get_args(Start)),
        )

    @property
    def choice(self) -> ThresholdChoice:
        """The threshold, and how often a value keeps its own time if that is empty."""
        return choose_threshold(self.window, self.epsilon)

    @property
    def expected(self) -> Damage:
        """What happens to a value on average, in the steady state: it waits k - c₀ periods.

        If extended, p₀ (1 - keep) are dropped.
        """
        choice = self.choice
        dropped = 0.0
        if choice.extended:
            dropped = float(dispatch_probabilities(self.window, choice.threshold)[0]) * (1 - choice.keep)
        delay = float(self.window - choice.threshold)
        return Damage(dropped, 0.0, dropped, delay, delay / (1 - dropped))

    def statement(self, *, seeded: bool = False) -> DispatchStatement:
        """Return what holds of a run, and what it gives away."""
        choice = self.choice
        extended = f", a value's own time kept {choice.keep:.3g} of the time" if choice.extended else ""
        begun = "; at the start all are" if self.start == "printed" else ""
        return DispatchStatement(
            mechanism=f"values exact, times blurred; each value to one of the next {self.window} times, of which "
            f"{choice.threshold} stay empty{begun}{extended} (Threshold)",
            budget=choice.budget if self.start == "steady" else None,
            window=self.window,
            ruled_out=self._ruled_out(choice),
            seeded=seeded,
        )

    def perturb(self, values: ArrayLike, *, entropy: Entropy | None = None) -> Blurred:
        """Return one person's series, times or times by channels, with its times blurred. Values are never changed."""
        return blur_series(values, entropy, self._sources, self.statement, complete=False)

    def perturb_panel(self, values: ArrayLike, *, entropy: Entropy | None = None) -> Blurred:
        """Return many persons' series, persons by times (by channels), each blurred on its own."""
        return blur_panel(values, entropy, self._sources, self.statement, complete=False)

    def _ruled_out(self, choice: ThresholdChoice) -> tuple[tuple[int, float], ...]:
        if self.start == "steady":
            return tuple((d, _rules_out(self.window, choice, d)) for d in shown_distances(self.window))
        # Whatever the step: a window apart, the order of two values shows unless both are dropped.
        return ((self.window, 1 - (1 - choice.keep) ** 2),)

    def _sources(self, rows: int, length: int, entropy: Entropy) -> NDArray[np.int64]:
        choice = self.choice
        slots = np.full((rows, length + self.window - 1), -1, dtype=np.int64)
        if not rows or not length:
            return slots[:, :length]
        waits, warm = self._waits(rows, length, choice.threshold, entropy)
        times = np.broadcast_to(np.arange(length), waits.shape)
        waits += times
        np.put_along_axis(slots, waits, times, axis=1)
        source = slots[:, :length]
        if choice.extended:
            own = (source == times) & (times >= warm[:, None])  # the printed start drops nothing
            dropped = ~entropy.coins(math.floor(choice.keep * MOST), MOST, int(own.sum()))
            source[own] = np.where(dropped, -1, source[own])
        return source

    def _waits(
        self, rows: int, length: int, threshold: int, entropy: Entropy
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how long values wait, and how many steps of each series came before the steady rule."""
        if self.start == "printed":
            made = [juggle_from_empty(length, self.window, threshold, entropy) for _ in range(rows)]
            return np.stack([waits for waits, _ in made]), np.array([warm for _, warm in made])
        empty = steady_slots(rows, self.window, threshold, entropy)
        none = np.zeros(rows, dtype=np.int64)
        if rows <= _FEW:
            return np.stack([juggle(length, start, entropy) for start in empty]), none
        return juggle_many(length, empty, entropy), none


@lru_cache(maxsize=4096)
def _rules_out(window: int, choice: ThresholdChoice, distance: int) -> float:
    return threshold_rules_out(window, choice, distance)
