"""The paper's Backward mechanism: at each time, one of the last k values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.privacy import check_whole, document, settle
from chronodp.randomness import Entropy
from chronodp.temporal.blurred import Blurred, blur_panel, blur_series
from chronodp.temporal.damage import Damage
from chronodp.temporal.probabilities import check_budget
from chronodp.temporal.published.delays import draw_delays, own_time, paper_damage, window_odds
from chronodp.temporal.published.observer import backward_rules_out, shown_distances
from chronodp.temporal.published.statement import DispatchStatement
from chronodp.temporal.published.stirling import LONGEST

__all__ = ["Backward"]


@document("backward")
@dataclass(frozen=True, slots=True)
class Backward:
    """Release at each time one of the last ``window`` values: its own e^{ε/2} times as likely as any other.

    Guarantee: none of differential privacy. What holds is the marginal dispatch budget `epsilon`: at one time, no value
    of the window is more than e^{ε/2} times as likely as another. The paper calls it ε-TLDP, which it is not: a value
    is never released before its time, so most swaps are proven by what is released
    (``docs/explanation/proofs/temporal.md``). `BlockShuffle` keeps what it promises.

    Args:
        window: how many values there are to choose from; fewer at the start of a series.
        epsilon: the marginal dispatch budget; 0 chooses evenly.

    References:
        Ye, Hu, Li, Meng, Zheng, Yan (2021), Beyond value perturbation, section III-A.

    >>> from chronodp.randomness import seeded
    >>> Backward(3, 1000.0).perturb([5, 6, 7], entropy=seeded(1)).values.tolist()
    [5, 6, 7]
    """

    window: int
    epsilon: float

    def __post_init__(self) -> None:
        settle(
            self,
            window=check_whole("window", self.window, least=2, most=LONGEST),
            epsilon=check_budget("epsilon", self.epsilon),
        )

    @property
    def expected(self) -> Damage:
        """What happens to a value on average, away from the ends of a series."""
        missing, delay = paper_damage(self.window, self.epsilon)
        other = own_time(self.window, self.epsilon)[1]
        return Damage(missing, missing, 0.0, delay, other * self.window * (self.window - 1) / 2)

    def statement(self, *, seeded: bool = False) -> DispatchStatement:
        """Return what holds of a run, and what it gives away."""
        return DispatchStatement(
            mechanism=f"values exact, times blurred; at each time one of the last {self.window} values (Backward)",
            budget=self.epsilon,
            window=self.window,
            ruled_out=tuple(
                (d, backward_rules_out(self.window, self.epsilon, d)) for d in shown_distances(self.window)
            ),
            seeded=seeded,
        )

    def perturb(self, values: ArrayLike, *, entropy: Entropy | None = None) -> Blurred:
        """Return one person's series, times or times by channels, with its times blurred. Values are never changed."""
        return blur_series(values, entropy, self._sources, self.statement, complete=True)

    def perturb_panel(self, values: ArrayLike, *, entropy: Entropy | None = None) -> Blurred:
        """Return many persons' series, persons by times (by channels), each blurred on its own."""
        return blur_panel(values, entropy, self._sources, self.statement, complete=True)

    def _sources(self, rows: int, length: int, entropy: Entropy) -> NDArray[np.int64]:
        odds = window_odds(self.window, self.epsilon)
        start = min(self.window - 1, length)
        delays = np.empty((rows, length), dtype=np.int64)
        for time in range(start):  # a window that begins with the series: fewer values, the same odds
            delays[:, time] = draw_delays(rows, time + 1, odds, entropy) if time else 0
        delays[:, start:] = draw_delays(rows * (length - start), self.window, odds, entropy).reshape(
            rows, length - start
        )
        np.subtract(np.arange(length), delays, delays)
        return delays
