"""Block shuffle: the mechanism that keeps the order of values inside a block private.

"Block shuffle" of ``docs/explanation/proofs/temporal.md``; *the step that matters* is that a swap changes the number of
cycles by one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.privacy import Certificate, Claim, Guarantee, PureCost, Swap, check_whole, document, settle
from chronodp.randomness import Entropy
from chronodp.temporal.blurred import Blurred, blur_panel, blur_series
from chronodp.temporal.damage import Damage
from chronodp.temporal.ewens import ewens_permutations
from chronodp.temporal.probabilities import Odds, check_budget, odds_below

__all__ = ["LEAST_EPSILON", "LONGEST_BLOCK", "BlockShuffle"]

_ARGUMENT = "docs/explanation/proofs/temporal.md"

LEAST_EPSILON = 1e-60
"""What a cost of 0 is stated as: the smallest number that a cost holds."""
LONGEST_BLOCK = 2**16


@document("block_shuffle")
@dataclass(frozen=True, slots=True)
class BlockShuffle:
    """Time is cut into blocks; each block is released, at its end, in a random order that favours the true one.

    An order π of a block has probability proportional to θ^cycles(π), with θ = P / Q <= e^epsilon a ratio of whole
    numbers. Exchanging two values changes the number of cycles by exactly one, so the probability of every output
    changes by the factor θ.

    Guarantee: ε-TLDP, which is ε-differential privacy for `Swap` (the order of two values inside a block), of one run
    over a person's series; exact in finite precision. `perturb` counts blocks from the first value given: a second run
    composes with it only if it holds every block whole and alike. Moving t values costs t ε. What
    values a block holds is public. Channels of a person move together: their joint order is protected, not the order of
    one against another. The argument stands in ``docs/explanation/proofs/temporal.md``.

    Args:
        block: how many periods are released together; a last block may be shorter.
        epsilon: of the guarantee; 0 shuffles evenly.

    References:
        Ewens (1972), The sampling theory of selectively neutral alleles. Ye, Hu, Li, Meng, Zheng, Yan (2021), Beyond
        value perturbation: local differential privacy in the temporal setting.

    >>> from chronodp.randomness import seeded
    >>> blurred = BlockShuffle(4, 1.0).perturb([10, 20, 30, 40, 50, 60], entropy=seeded(3))
    >>> sorted(blurred.values[:4].tolist()), sorted(blurred.values[4:].tolist())
    ([10, 20, 30, 40], [50, 60])
    """

    block: int
    epsilon: float

    def __post_init__(self) -> None:
        settle(
            self,
            block=check_whole("block", self.block, least=2, most=LONGEST_BLOCK),
            epsilon=check_budget("epsilon", self.epsilon),
        )

    @property
    def odds(self) -> Odds:
        """P and Q: P / Q is at most e^epsilon."""
        return odds_below(self.epsilon, self.block - 1)

    @property
    def loss(self) -> float:
        """The log-likelihood ratio ln(P / Q) that a swap makes, at most epsilon."""
        stay, move = self.odds
        return math.log(stay / move) if stay > 2 * move else math.log1p((stay - move) / move)

    @property
    def claim(self) -> Claim:
        """Unit, cost and where the argument stands."""
        return Claim(Swap(self.block), PureCost(max(self.epsilon, LEAST_EPSILON)), _ARGUMENT)

    @property
    def expected(self) -> Damage:
        """What happens to a value of a whole block on average, by the time that it is released *for*.

        The mean displacement is (k² - 1) / (3 (θ + k - 1)); half of it is delay.
        """
        stay, move = self.odds
        displacement = (self.block**2 - 1) / 3 / (stay / move + self.block - 1)
        return Damage(missing=0.0, repeated=0.0, empty=0.0, delay=displacement / 2, displacement=displacement)

    @property
    def expected_by_clock(self) -> Damage:
        """The same, where the delay is the wait for the end of the block: (k - 1) / 2 on average."""
        return replace(self.expected, delay=(self.block - 1) / 2)

    @property
    def kept(self) -> float:
        """The share of values that keep their time: θ / (θ + k - 1), the most that any ε-TLDP mechanism can keep."""
        stay, move = self.odds
        return stay / (stay + move * (self.block - 1))

    def certificate(self, *, seeded: bool = False) -> Certificate:
        """Return what is promised of a run."""
        return Certificate(
            mechanism=f"values exact, times blurred; blocks of {self.block} periods in a random order (block shuffle, "
            "ε-TLDP)",
            claim=self.claim,
            guarantee=Guarantee(Swap(self.block), self.claim.cost.epsilon),  # type: ignore[union-attr]  # a PureCost
            theorem="definition (pure): a swap changes the number of cycles by one",
            precision="whole numbers; the odds of staying are a ratio of whole numbers at most e^ε",
            seeded=seeded,
        )

    def perturb(self, values: ArrayLike, *, entropy: Entropy | None = None) -> Blurred:
        """Return one person's series, times or times by channels, with its times blurred. Values are never changed."""
        return blur_series(values, entropy, self._sources, self.certificate, complete=True)

    def perturb_panel(self, values: ArrayLike, *, entropy: Entropy | None = None) -> Blurred:
        """Return many persons' series, persons by times (by channels), each blurred on its own."""
        return blur_panel(values, entropy, self._sources, self.certificate, complete=True)

    def _sources(self, rows: int, length: int, entropy: Entropy) -> NDArray[np.int64]:
        size, odds = self.block, self.odds
        whole, rest = divmod(length, size)  # blocks [0, k), [k, 2k), …: a swap across a border is not covered
        orders = ewens_permutations(rows * whole, size, odds, entropy).reshape(rows, whole, size)
        orders += np.arange(0, whole * size, size)[:, None]
        if not rest:
            return orders.reshape(rows, length)
        # A last block that is shorter is a block like the others: odds made for k places serve fewer.
        last = ewens_permutations(rows, rest, odds, entropy) + whole * size
        return np.concatenate([orders.reshape(rows, whole * size), last], axis=1)
