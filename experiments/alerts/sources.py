"""What the sources say of noisy thresholds and noisy comparisons, checked."""

from __future__ import annotations

import numpy as np

from chronodp.alerts import AlertProbabilities, Exponential, FreshProbabilities, Laplace, design_alert
from chronodp.privacy import User
from experiments.verdicts import Verdict


def check_sources() -> list[Verdict]:
    """Return a verdict for each claim."""
    fixed, fresh = AlertProbabilities(Laplace(), 4.0, 2.0), FreshProbabilities(Laplace(), 4.0, 2.0)
    simulated = _simulated_delay(gap=10.0)
    powers = {}
    for noise in (Exponential(), Laplace()):
        probabilities = design_alert(
            above=0.0, change=1.0, unit=User(), max_alerts=5, epsilon=1.0, noise=noise
        ).probabilities
        powers[str(noise)] = probabilities.chance(probabilities.gap_for(0.01) - 50)
    gain = powers["exponential noise"] - powers["Laplace noise"]
    return [
        Verdict(
            "a noisy comparator: the false-alarm probability of a step has a closed form; scales 4 and 2, gap 10",
            "derived analytically",
            f"{fresh.chance(10.0):.5f}; simulated {_simulated_chance(gap=10.0):.5f}",
            "holds" if abs(_simulated_chance(gap=10.0) / fresh.chance(10.0) - 1) < 0.01 else "false",
        ),
        Verdict(
            "its expected delay is 1 / probability, both noises fresh at each step",
            f"{fresh.delay(10.0):.2f}",
            f"{simulated[1]:.2f} simulated",
            "holds" if abs(simulated[1] / fresh.delay(10.0) - 1) < 0.02 else "false",
        ),
        Verdict(
            "the same delay for one noisy threshold, as in the sparse vector technique",
            f"{fresh.delay(10.0):.2f}",
            f"{fixed.delay(10.0):.2f}; simulated {simulated[0]:.2f} (its variance is infinite)",
            "holds" if abs(fixed.delay(10.0) / fresh.delay(10.0) - 1) < 0.02 else "false",
        ),
        Verdict(
            "Laplace noise on threshold and queries; 5 alerts, ε = 1, 1 % false alarms a step, a shift of 50 changes",
            f"power {powers['Laplace noise']:.2f}",
            f"exponential noise, at the same price: {powers['exponential noise']:.2f}",
            "holds, not tight" if gain > 0 else "holds",
        ),
    ]


def _simulated_chance(*, gap: float) -> float:
    generator = np.random.default_rng(1)
    values, thresholds = generator.laplace(0, 4.0, 4_000_000), generator.laplace(0, 2.0, 4_000_000)
    return float(np.mean(values - thresholds >= gap))


def _simulated_delay(*, gap: float) -> tuple[float, float]:
    """Return the mean delay with one threshold a run, and with a fresh one at each step."""
    generator = np.random.default_rng(2)
    distance = gap + generator.laplace(0, 2.0, 2_000_000)
    above = np.where(distance >= 0, np.exp(-distance / 4.0) / 2, 1 - np.exp(distance / 4.0) / 2)
    fixed = generator.geometric(above).mean()
    fresh = generator.geometric(FreshProbabilities(Laplace(), 4.0, 2.0).chance(gap), 500_000).mean()
    return float(fixed), float(fresh)
