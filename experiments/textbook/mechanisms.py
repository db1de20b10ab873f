"""Local privacy, the sparse vector technique and post-processing."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from chronodp.audit.exact import examine, outcomes
from chronodp.randomness import Entropy
from experiments.verdicts import Verdict

ODDS = 3  # e^ε of the enumerated responses


def check() -> list[Verdict]:
    return [*_randomized_response(), *_sparse_vector(), *_post_processing()]


def respond(bit: int, *, entropy: Entropy) -> int:
    """Report the true bit with probability e^ε / (1 + e^ε)."""
    return bit if entropy.coins(ODDS, ODDS + 1) else 1 - bit


def adaptive_reports(bits: tuple[int, ...], *, entropy: Entropy) -> tuple[int, ...]:
    """Three reports; what the later ones say depends on the public outputs before them."""
    reports: list[int] = []
    for bit in bits:
        asked = bit if sum(reports) % 2 == 0 else 1 - bit
        reports.append(respond(asked, entropy=entropy))
    return tuple(reports)


def _randomized_response() -> list[Verdict]:
    once = examine(respond, [(0, 1)])
    thrice = examine(adaptive_reports, [((0, 0, 0), (1, 1, 1)), ((0, 1, 0), (1, 1, 1)), ((0, 0, 0), (1, 0, 0))])
    truth = Fraction(ODDS, ODDS + 1)

    def estimate(bit: int) -> Fraction:
        law = outcomes(lambda entropy: respond(bit, entropy=entropy)).probabilities
        return (law[1] - (1 - truth)) / (2 * truth - 1)

    unbiased = [estimate(bit) for bit in (0, 1)]
    return [
        Verdict(
            "randomised response, p = e^ε/(1+e^ε), is ε-LDP",
            f"e^ε = {ODDS}",
            f"largest ratio {once.ratio}, enumerated",
            "holds" if once.ratio == ODDS else "false",
        ),
        Verdict(
            "adaptive reports: a bound at each step, given all public outputs before",
            f"at most e^(3ε) = {ODDS**3} over three",
            f"largest ratio {thrice.ratio}, enumerated",
            "holds" if thrice.ratio is not None and thrice.ratio <= ODDS**3 else "false",
        ),
        Verdict(
            "the share of ones can be estimated without bias",
            "0 and 1",
            f"expected estimates {unbiased[0]} and {unbiased[1]}, enumerated",
            "holds" if unbiased == [0, 1] else "false",
        ),
    ]


def sparse_vector_loss(threshold_epsilon: float, alert_epsilon: float, factor: float) -> float:
    """Return the worst log-likelihood ratio of "silent n times, then an alert", by quadrature over the threshold.

    Sensitivity 1, threshold noise Lap(1/ε₀), query noise Lap(factor/ε₁); queries move by one in the worst directions.
    """
    noise = np.linspace(-160, 160, 640_001)
    weight = threshold_epsilon / 2 * np.exp(-np.abs(noise) * threshold_epsilon)
    scale = factor / alert_epsilon

    def log_below(x: np.ndarray) -> np.ndarray:
        return np.where(x < 0, x / scale - math.log(2), np.log1p(-np.exp(-np.abs(x) / scale) / 2))

    worst = 0.0
    for silent in (0, 1, 5, 50, 1000):
        for level in np.linspace(-20, 20, 17):
            logs = [
                silent * log_below(noise - quiet) + log_below(-(noise - loud))
                for quiet, loud in ((level + 1, 0.0), (level, 1.0))
            ]
            low, high = (math.log(float(np.trapezoid(weight * np.exp(part), noise)) + 1e-280) for part in logs)
            worst = max(worst, abs(high - low)) if min(low, high) > -500 else worst
    return worst


def _sparse_vector() -> list[Verdict]:
    sound = sparse_vector_loss(0.5, 0.5, factor=2.0)
    short = sparse_vector_loss(0.5, 0.5, factor=1.0)
    return [
        Verdict(
            "sparse vector, one alert, ε₀ = ε₁ = 0.5, query noise Lap(2Δ/ε₁): costs ε₀ + ε₁",
            "1",
            f"worst loss found {sound:.4f}",
            "holds" if sound <= 1 + 1e-6 else "false",
        ),
        Verdict(
            "the factor 2 in the query noise is critical",
            "without it the cost is more",
            f"worst loss with Lap(Δ/ε₁): {short:.4f} > 1",
            "holds" if short > 1.05 else "false",
        ),
    ]


def _post_processing() -> list[Verdict]:
    def smoothed(bits: tuple[int, ...], *, entropy: Entropy) -> float:
        reports = adaptive_reports(bits, entropy=entropy)
        return sum(reports) / len(reports)

    def relabelled(bits: tuple[int, ...], *, entropy: Entropy) -> tuple[int, ...]:
        return tuple(7 - 3 * report for report in adaptive_reports(bits, entropy=entropy))

    pairs = [((0, 0, 0), (1, 1, 1))]
    plain, smooth, other = (examine(made, pairs).ratio for made in (adaptive_reports, smoothed, relabelled))
    return [
        Verdict(
            "post-processing never weakens the guarantee",
            "at most the same ε",
            f"ratio {plain} before; {smooth} after averaging",
            "holds" if smooth is not None and plain is not None and smooth <= plain else "false",
        ),
        Verdict(
            "post-processing recovers no budget",
            "the loss is incurred for good",
            f"ratio {other} after relabelling: what was released can still be read off; a ledger refunds nothing",
            "holds" if other == plain else "false",
        ),
    ]
