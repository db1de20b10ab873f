"""The paper's Forward mechanism: each value to one of the next k times, where the last to come stays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.privacy import check_whole, document, settle
from chronodp.randomness import Entropy
from chronodp.temporal.blurred import Blurred, blur_panel, blur_series
from chronodp.temporal.damage import Damage
from chronodp.temporal.probabilities import check_budget
from chronodp.temporal.published.delays import draw_delays, paper_damage, window_odds
from chronodp.temporal.published.observer import forward_rules_out, shown_distances
from chronodp.temporal.published.statement import DispatchStatement
from chronodp.temporal.published.stirling import LONGEST

__all__ = ["Forward"]


@document("forward")
@dataclass(frozen=True, slots=True)
class Forward:
    """Send each value to one of the next ``window`` times, its own e^{ε/2} times as likely; later values overwrite.

    Guarantee: none of differential privacy. What holds is the marginal dispatch budget `epsilon`: a value is sent to
    one time of its window at most e^{ε/2} times as likely as to another. Of what is then *released*, after overwriting,
    not even that holds. The paper calls it ε-TLDP, which it is not (``docs/explanation/proofs/temporal.md``).
    `BlockShuffle` keeps what it promises.

    Args:
        window: how many times there are to choose from; what goes beyond the end of a series is lost.
        epsilon: the marginal dispatch budget; 0 chooses evenly.

    References:
        Ye, Hu, Li, Meng, Zheng, Yan (2021), Beyond value perturbation, section III-B.

    >>> from chronodp.randomness import seeded
    >>> Forward(3, 0.0).perturb([5, 6, 7, 8, 9], entropy=seeded(0)).values.tolist()
    [None, None, 5, 8, 7]
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
        return Damage(missing, 0.0, missing, delay, delay / (1 - missing))

    def statement(self, *, seeded: bool = False) -> DispatchStatement:
        """Return what holds of a run, and what it gives away."""
        return DispatchStatement(
            mechanism=f"values exact, times blurred; each value to one of the next {self.window} times, later ones "
            "overwrite (Forward)",
            budget=self.epsilon,
            window=self.window,
            ruled_out=tuple((d, forward_rules_out(self.window, self.epsilon, d)) for d in shown_distances(self.window)),
            seeded=seeded,
        )

    def perturb(self, values: ArrayLike, *, entropy: Entropy | None = None) -> Blurred:
        """Return one person's series, times or times by channels, with its times blurred. Values are never changed."""
        return blur_series(values, entropy, self._sources, self.statement, complete=False)

    def perturb_panel(self, values: ArrayLike, *, entropy: Entropy | None = None) -> Blurred:
        """Return many persons' series, persons by times (by channels), each blurred on its own."""
        return blur_panel(values, entropy, self._sources, self.statement, complete=False)

    def _sources(self, rows: int, length: int, entropy: Entropy) -> NDArray[np.int64]:
        odds = window_odds(self.window, self.epsilon)
        targets = draw_delays(rows * length, self.window, odds, entropy).reshape(rows, length)
        targets += np.arange(length)
        # Slots past the end are made, and cut off again. Of several values for one slot, the last assigned stays.
        slots = np.full((rows, length + self.window - 1), -1, dtype=np.int64)
        targets += np.arange(rows)[:, None] * slots.shape[1]
        slots.reshape(-1)[targets.reshape(-1)] = np.broadcast_to(np.arange(length), targets.shape).reshape(-1)
        return slots[:, :length]
