"""Mistakes in adding up costs while an adversary chooses them: free choice among orders, failures that nobody counts.

An analyst asks twice. The second question follows from the first answer, and is as loud as the filter lets it be. Where
the first answer was of middling evidence, Rényi divergences of a low order leave most room; where it was rare and
strong, those of a high order. Each order alone keeps its delta; an analyst who takes whichever is best gets both.

Another asks for answers that fail now and then, where they tell nothing, until the filter stops it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache

from chronodp.accounting import renyi
from chronodp.ledger import ORDERS, Filter
from chronodp.privacy import ApproximateCost, Claim, Cost, FailureCost, RandomizedResponseCost, SequenceCost, User
from chronodp.randomness import Entropy
from tests.audit.registry import Mutant

Limits = Mapping[int, float]
Law = tuple[float, ...]

_EPSILON, _DELTA = 3.0, 1e-5
_LOW, _HIGH = 8, 128
# Of the first question: chance and evidence of its two telling answers. Found by search.
_MIDDLING, _RARE = (0.3635, 0.7468), (0.00161, 0.8852)
_SECOND = {_LOW: 2.3814, _HIGH: 2.1226}  # evidence of the second question's telling answer
_FINE = 2**48


def _paid_limits() -> Limits:
    """What the ledger lets each order sum up to: all orders together keep delta."""
    terms = Filter("renyi", _EPSILON, _DELTA, 0.0)
    return {order: float(terms.components[ORDERS.index(order)].limit) for order in (_LOW, _HIGH)}


def _free_limits() -> Limits:
    """Each order converted to all of delta, as if one of them were chosen beforehand."""
    return {order: _EPSILON - renyi.convert(0.0, order, _DELTA) for order in (_LOW, _HIGH)}


def _asked_twice(limits_of: Callable[[], Limits]) -> Callable[..., object]:
    def play(bit: int, *, entropy: Entropy) -> tuple[str, ...]:
        middling, rare, _ = _first_law(bit)
        if _falls(middling, entropy):
            return "middling", _second(limits_of()[_LOW], _LOW, bit, entropy)
        if _falls(rare / (1 - middling), entropy):
            return "rare", _second(limits_of()[_HIGH], _HIGH, bit, entropy)
        return ("none",)

    return play


def _second(limit: float, order: int, bit: int, entropy: Entropy) -> str:
    return "more" if _falls(_chance(_loudest(limit, order), _SECOND[order], bit), entropy) else "none"


def _falls(chance: float, entropy: Entropy) -> bool:
    return bool(entropy.coins(round(chance * _FINE), _FINE))


def _chance(chance: float, evidence: float, bit: int) -> float:
    """Of an answer that is e^evidence likelier on 1 than on 0."""
    return chance if bit else chance * math.exp(-evidence)


@cache
def _loudest(limit: float, order: int) -> float:
    """Return the largest chance of the second telling answer that the order's sum admits."""
    room = limit - _divergence(_first_law(1), _first_law(0), order) - 1e-9
    low, high = 0.0, 0.999
    for _ in range(60):
        middle = (low + high) / 2
        one, two = ((part := _chance(middle, _SECOND[order], bit), 1 - part) for bit in (1, 0))
        low, high = (middle, high) if _divergence(one, two, order) <= room else (low, middle)
    return low


def _first_law(bit: int) -> Law:
    middling, rare = (_chance(*part, bit) for part in (_MIDDLING, _RARE))
    return middling, rare, 1 - middling - rare


def _divergence(first: Law, second: Law, order: int) -> float:
    """The larger Rényi divergence of the two directions."""

    def one_way(p: Law, q: Law) -> float:
        terms = (order * math.log(here) - (order - 1) * math.log(there) for here, there in zip(p, q, strict=True))
        return math.log(math.fsum(math.exp(term) for term in terms)) / (order - 1)

    return max(one_way(first, second), one_way(second, first))


_FAILING: Cost = SequenceCost((RandomizedResponseCost(math.log(1.5), 3), FailureCost(0.02)))
_KEPT = Filter("pure", 2.0, 0.05, 0.05)  # of epsilon four such answers, of delta two


def _asked_until_refused(counts_failures: bool) -> Callable[..., object]:
    amounts = _KEPT.amounts(_FAILING)
    charged = amounts if counts_failures else (*amounts[:-1], 0)

    def play(bit: int, *, entropy: Entropy) -> tuple[object, ...]:
        spent = (0,) * len(charged)
        seen: list[object] = []
        while _KEPT.admits(spent, charged):
            spent = tuple(before + more for before, more in zip(spent, charged, strict=True))
            # Of 7: 3 the truth, 2 the other, 2 neither. A failure in 7 of 100 of the last is one in 50.
            drawn = int(entropy.integers(7, 1)[0])
            if drawn >= 5 and entropy.coins(7, 100):
                return (*seen, "everything", bit)
            seen.append(2 if drawn >= 5 else bit if drawn < 3 else 1 - bit)
        return tuple(seen)

    return play


MUTANTS: tuple[Mutant, ...] = tuple(
    Mutant(
        name,
        Claim(User(), ApproximateCost(epsilon, delta), "docs/explanation/proofs/ledger.md"),
        sound,
        broken,
        ((0, 1),),
        epsilon,
        delta,
    )
    for name, epsilon, delta, sound, broken in (
        ("a Rényi filter that takes the best of its orders for free", _EPSILON, _DELTA,
         _asked_twice(_paid_limits), _asked_twice(_free_limits)),
        ("a filter that leaves failures out of its reserve", _KEPT.epsilon, _KEPT.delta,
         _asked_until_refused(True), _asked_until_refused(False)),
    )
)  # fmt: skip
