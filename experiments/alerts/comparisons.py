"""Noisy comparisons: what one costs, how often it fires, and how long it takes."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from chronodp.alerts import (
    AlertProbabilities,
    Comparator,
    Exponential,
    FreshProbabilities,
    Laplace,
    Noise,
    design_alert,
)
from chronodp.audit.exact import examine
from chronodp.privacy import User
from chronodp.randomness import Entropy
from experiments.claims import Claim, Pair, Tolerance, bound, computation, equal, number, order
from experiments.claims.computations import scaled

__all__ = ["comparison_claims"]

PLACE = "Applications, Advanced Monitoring and Control Systems"
EPSILON, COARSE = 0.4, 4.0
SCALES, GAP = (4.0, 2.0), 10.0
_GAPS = np.linspace(-40.0, 40.0, 41).tolist()


@computation()
def comparator_loss(noise: Noise) -> float:
    """Return the worst |log ratio| of a check's answer between values one apart, by the closed form of its chance."""
    chance = Comparator(above=0.0, change=1.0, unit=User(), epsilon=EPSILON, noise=noise).probabilities.chance
    chances = [(chance(gap), chance(gap + 1)) for gap in _GAPS]
    worst = max(max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q)))) for p, q in chances)
    return round(worst, 9)  # beyond that digits are rounding


@computation()
def enumerated_loss(noise: Noise) -> float:
    """Return the least pure ε of a check on a grid of whole numbers, every outcome of its noises walked through."""
    comparator = Comparator(above=0.0, change=1.0, unit=User(), epsilon=COARSE, noise=noise, step=1.0)

    def tell(value: float, *, entropy: Entropy) -> bool:
        return comparator.fires(value, entropy)

    return examine(tell, [(value, value + 1) for value in (-3.0, 0.0, 2.0)]).epsilon


@computation()
def chance_of_alarm() -> float:
    """Return the closed form of the chance that a value ten below the threshold fires in a step."""
    return FreshProbabilities(Laplace(), *SCALES).chance(GAP)


@computation()
def delay_until_alarm(*, shared: bool) -> float:
    """Return the closed form of the steps until it fires: one threshold's noise for all steps, or a fresh one each."""
    return (AlertProbabilities if shared else FreshProbabilities)(Laplace(), *SCALES).delay(GAP)


@computation(doubled=scaled(2.0))
def simulated_chance(draws: int = 4_000_000) -> float:
    """Return that chance, simulated."""
    chance = np.random.default_rng(1)
    values, thresholds = (chance.laplace(0, scale, draws) for scale in SCALES)
    return float(np.mean(values - thresholds >= GAP))


@computation(doubled=scaled(2.0))
def simulated_delay(runs: int = 4000) -> float:
    """Return the mean number of steps until values fire with both noises drawn anew at each."""
    chance = np.random.default_rng(2)
    waiting, delays, step = runs, 0, 0
    while waiting:
        step += 1
        values, thresholds = (chance.laplace(0, scale, waiting) for scale in SCALES)
        fired = int(np.count_nonzero(values - thresholds >= GAP))
        delays, waiting = delays + step * fired, waiting - fired
    return delays / runs


@computation()
def power(noise: Noise) -> float:
    """Return how often a shift of 50 changes is seen in a step; 5 alerts, ε = 1, 1 % of steps without one fire."""
    design = design_alert(above=0.0, change=1.0, unit=User(), max_alerts=5, epsilon=1.0, noise=noise)
    return design.probabilities.chance(design.probabilities.gap_for(0.01) - 50)


def comparison_claims() -> list[Claim]:
    """Return the claims on noisy comparisons."""
    claim = partial(Claim, source="applications", place=PLACE)
    scales = "ours: Laplace noise of scales 4 and 2, a gap of 10"
    return [
        claim(
            id="A10",
            says="Comparing a noisy score with a noisy threshold is private.",
            rule=bound,
            stated="at most ε",
            tolerance=Tolerance(absolute=1e-4, tight=1e-4),
            readings={
                "one check": lambda: [
                    pair
                    for noise in (Exponential(), Laplace())
                    for pair in (
                        Pair(comparator_loss(noise), EPSILON, f"{noise}, ε = {EPSILON:g}"),
                        Pair(enumerated_loss(noise), COARSE, f"{noise}, ε = {COARSE:g}, enumerated"),
                    )
                ]
            },
            tokens=("noisy comparator",),
            parameters="ours: ε = 0.4 by the closed form, ε = 4 enumerated",
        ),
        claim(
            id="A11",
            says="The chance of an alarm in a step and the expected delay have closed forms.",
            rule=equal,
            stated="as simulated",
            tolerance=Tolerance(relative=0.01),
            readings={
                "both noises fresh at each step": lambda: [
                    Pair(simulated_chance(), chance_of_alarm(), "chance in a step"),
                    Pair(simulated_delay(400_000), delay_until_alarm(shared=False), "steps until it fires"),
                ]
            },
            tokens=("expected detection delay", "can be derived analytically"),
            parameters=scales,
            note="The delay is 1 / chance only where both noises are fresh (N01).",
        ),
        claim(
            id="N01",
            place="beside A11",
            says="With one noisy threshold for all steps, as in the sparse vector technique, the expected delay is "
            "longer than 1 / chance: 32.49 steps against 18.66.",
            rule=number,
            stated=[18.66, 32.49],
            tolerance=Tolerance(absolute=0.005),
            readings={"fresh, shared": lambda: [delay_until_alarm(shared=False), delay_until_alarm(shared=True)]},
            origin="ours",
        ),
        claim(
            id="N03",
            place="beside A10",
            says="At the same price exponential noise sees a shift more often than Laplace noise.",
            rule=order,
            stated="power of Laplace noise < power of exponential noise",
            readings={
                "5 alerts, ε = 1, a shift of 50": lambda: [Pair(power(Laplace()), power(Exponential()), "power")]
            },
            origin="ours",
        ),
    ]
