"""One report: which mechanism is best, and what a value's perturbation says about its time."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

from chronodp.audit.devices import report_history
from chronodp.audit.exact import examine
from chronodp.local import (
    Fresh,
    Hybrid,
    LocalPlan,
    OneBit,
    OptimizedUnary,
    Piecewise,
    RandomizedResponse,
)
from chronodp.randomness import Entropy
from experiments.claims import Claim, Pair, Tolerance, bound, computation, equal, optimum

__all__ = ["report_claims"]

_KINDS: dict[str, Callable[[float], Hybrid | OneBit | Piecewise]] = {
    "hybrid": Hybrid,
    "one bit": OneBit,
    "piecewise": Piecewise,
}


@computation()
def last_choices(epsilon: float) -> float:
    """Return the most choices for which k-ary randomised response has less variance than unary encoding."""
    return float(
        max(
            k
            for k in range(2, 400)
            if RandomizedResponse(epsilon, k).law.variance(0.0, 1) < OptimizedUnary(epsilon, k).law.variance(0.0, 1)
        )
    )


@computation()
def worst_variance(kind: Literal["hybrid", "one bit", "piecewise"], epsilon: float) -> float:
    """Return the variance of a report of a number at the worst value."""
    return _KINDS[kind](epsilon).worst_variance


@computation()
def swapped_epsilon() -> float:
    """Return the least ε between histories in which two values are swapped, each value told at ε = 0.5."""
    plan = LocalPlan("values", RandomizedResponse(0.5, 3), Fresh(3)).compiled

    def tell(history: tuple[int, ...], *, entropy: Entropy) -> object:
        return report_history(plan, history, entropy=entropy)

    swaps = [((0, 1, 2), (1, 0, 2)), ((0, 1, 2), (2, 1, 0)), ((0, 0, 1), (1, 0, 0)), ((0, 1, 1), (1, 0, 1))]
    return examine(tell, swaps).epsilon


def report_claims() -> list[Claim]:
    """Return what we expect of one report."""
    claim = partial(Claim, source="textbook", origin="ours")
    return [
        claim(
            id="N06",
            place="beside T28; Wang et al. 2017",
            says="k-ary randomised response beats optimised unary encoding for k < 3 e^ε + 2.",
            rule=equal,
            stated="the last k below 3 e^ε + 2",
            readings={
                "variance of a rare value": lambda: [
                    Pair(last_choices(epsilon), math.ceil(3 * math.exp(epsilon) + 2) - 1, f"ε = {epsilon:g}")
                    for epsilon in (0.5, 1.0, 2.0, 4.0)
                ]
            },
        ),
        claim(
            id="N06b",
            place="beside T28; Wang et al. 2019",
            says="At the worst value the hybrid mechanism is never worse than one bit or piecewise.",
            rule=optimum,
            stated="the least of three",
            tolerance=Tolerance(relative=1e-6),
            readings={
                "worst variance": lambda: [
                    Pair(
                        worst_variance("hybrid", epsilon),
                        min(worst_variance("one bit", epsilon), worst_variance("piecewise", epsilon)),
                        f"ε = {epsilon:g}",
                    )
                    for epsilon in (0.3, 1.0, 2.0, 4.0)
                ]
            },
        ),
        claim(
            id="N06c",
            place="beside T28; Ye et al. 2021, theorem 2.3",
            says="Perturbing each value at ε/2 protects the order of two values at ε.",
            rule=bound,
            stated="at most 1 at ε/2 = 0.5",
            tolerance=Tolerance(absolute=1e-12),
            readings={"histories of three, enumerated": lambda: [Pair(swapped_epsilon(), 1.0, "two values swapped")]},
        ),
    ]
