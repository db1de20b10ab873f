"""Composition: accounting for privacy loss over time."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from chronodp.accounting import advanced, basic, gaussian, most_releases, optimal, renyi
from chronodp.audit.exact import examine
from chronodp.privacy import ApproximateCost, GaussianCost, PureCost, RepeatedCost
from chronodp.randomness import Entropy
from experiments.verdicts import Verdict


def check() -> list[Verdict]:
    return [*_basic_and_advanced(), _advanced_beyond_one(), *_renyi()]


def _basic_and_advanced() -> list[Verdict]:
    fits = most_releases(PureCost(0.05), epsilon=1.0, delta=0.0, by=basic.epsilon)
    day = RepeatedCost(ApproximateCost(0.05, 1e-8), 1440)
    summed = basic.epsilon(day, 1.44e-5)
    root = advanced.compose(0.05, 1e-8, times=1440, slack=1e-7)
    best = optimal.compose(0.05, 1e-8, times=1440, slack=1e-7)
    return [
        Verdict("basic composition: queries of ε₀ = 0.05 in ε = 1", "⌊1/ε₀⌋ = 20", str(fits), _holds(fits == 20)),
        Verdict(
            "basic composition of 1,440 × (0.05, 1e-8)", "(72, 1.44e-5)", f"({summed:g}, 1.44e-5)", _holds(summed == 72)
        ),
        Verdict(
            "advanced composition of the same, slack 1e-7",
            "(≈ 14.46, ≈ 1.45e-5)",
            f"({root.epsilon:.4f}, {root.delta:.4g}); the best possible is {best.epsilon:.4f}",
            "holds, not tight" if math.isclose(root.epsilon, 14.4642, abs_tol=5e-5) else "false",
        ),
    ]


def _advanced_beyond_one() -> Verdict:
    """The condition ε₀ <= 1, tried at ε₀ = ln 8 on three enumerated responses."""

    def respond(bit: int, *, entropy: Entropy) -> tuple[int, ...]:
        return tuple((bit ^ ~entropy.coins(8, 9, 3)).tolist())

    finding = examine(respond, [(0, 1)])
    wrong = [
        slack
        for slack in np.geomspace(1e-9, 0.5, 40)
        if finding.refutes(advanced.compose(math.log(8), 0.0, times=3, slack=float(slack)).epsilon, float(slack))
    ]
    return Verdict(
        "advanced composition needs ε₀ ≤ 1",
        "a condition",
        f"{len(wrong)} of 40 bounds refuted at ε₀ = ln 8, exactly enumerated: the condition is not needed",
        _holds(not wrong),
    )


def _renyi() -> list[Verdict]:
    order, ratio = 4.0, 0.7
    points = np.linspace(-30, 30, 600_001)
    exponent = -order * (points - ratio) ** 2 / 2 - (1 - order) * points**2 / 2
    integral = math.log(float(np.trapezoid(np.exp(exponent), points)) / math.sqrt(2 * math.pi)) / (order - 1)
    stated = renyi.divergence(GaussianCost(sensitivity=ratio, sigma=1.0), order)
    many = renyi.divergence(RepeatedCost(GaussianCost(sensitivity=ratio, sigma=1.0), 9), order)
    day = RepeatedCost(GaussianCost(sensitivity=1.0, sigma=50.0), 1440)
    textbook, improved, exact = (
        theorem(day, 1e-5) for theorem in (renyi.epsilon_textbook, renyi.epsilon, gaussian.epsilon)
    )
    return [
        Verdict(
            "Rényi divergence of Gaussian noise, α = 4, Δ/σ = 0.7",
            f"αΔ²/(2σ²) = {order * ratio**2 / 2:g}",
            f"{stated:.6g}; by integration {integral:.6g}",
            _holds(math.isclose(stated, integral, rel_tol=1e-6)),
        ),
        Verdict(
            "k releases: kαΔ²/(2σ²), k = 9",
            f"{9 * order * ratio**2 / 2:g}",
            f"{many:.6g}",
            _holds(math.isclose(many, 9 * stated)),
        ),
        Verdict(
            "ε = ε(α) + ln(1/δ)/(α-1) at its best order gives the tightest ε; 1,440 × σ = 50, δ = 1e-5",
            "minimise over α",
            f"{textbook:.3f} is true; the improved conversion gives {improved:.3f}, the exact value is {exact:.3f}",
            "holds, not tight",
        ),
    ]


def _holds(true: bool) -> Literal["holds", "false"]:
    return "holds" if true else "false"
