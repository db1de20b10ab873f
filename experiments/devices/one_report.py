"""One report: which mechanism is best, and what a value's perturbation says about its time."""

from __future__ import annotations

import math

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
from experiments.verdicts import Verdict


def check() -> list[Verdict]:
    return [_crossover(), _numbers(), _swapped_values()]


def _crossover() -> Verdict:
    found = []
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        last = max(
            k
            for k in range(2, 400)
            if RandomizedResponse(epsilon, k).law.variance(0.0, 1) < OptimizedUnary(epsilon, k).law.variance(0.0, 1)
        )
        found.append((last, math.ceil(3 * math.exp(epsilon) + 2) - 1))
    return Verdict(
        "k-ary randomised response beats unary encoding for k < 3 e^ε + 2",
        "k up to " + ", ".join(str(said) for _, said in found) + " at ε = 0.5, 1, 2, 4",
        "k up to " + ", ".join(str(ours) for ours, _ in found),
        "holds" if all(ours == said for ours, said in found) else "false",
    )


def _numbers() -> Verdict:
    worst = {
        epsilon: [kind(epsilon).worst_variance for kind in (Hybrid, OneBit, Piecewise)]
        for epsilon in (0.3, 1.0, 2.0, 4.0)
    }
    best = all(hybrid <= min(bit, pieces) * (1 + 1e-6) for hybrid, bit, pieces in worst.values())
    shown = "; ".join(
        f"ε {epsilon:g}: {parts[0]:.3f}, {parts[1]:.3f}, {parts[2]:.3f}" for epsilon, parts in worst.items()
    )
    return Verdict(
        "the hybrid mechanism is never worse, at the worst value, than one bit and piecewise",
        "least of three",
        f"hybrid, one bit, piecewise: {shown}",
        "holds" if best else "false",
    )


def _swapped_values() -> Verdict:
    plan = LocalPlan("values", RandomizedResponse(0.5, 3), Fresh(3)).compiled

    def tell(history: tuple[int, ...], *, entropy: Entropy) -> object:
        return report_history(plan, history, entropy=entropy)

    swaps = [((0, 1, 2), (1, 0, 2)), ((0, 1, 2), (2, 1, 0)), ((0, 0, 1), (1, 0, 0)), ((0, 1, 1), (1, 0, 1))]
    found = examine(tell, swaps).epsilon
    return Verdict(
        "perturbing each value at ε/2 protects the order of two values at ε (Ye et al. 2021, theorem 2.3)",
        "ε = 1",
        f"ε = {found:.12g}, enumerated",
        "holds" if found <= 1 + 1e-12 else "false",
    )
