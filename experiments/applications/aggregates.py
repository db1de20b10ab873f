"""Counts, means and hourly vectors: their sensitivity, their noise, and what a small probability of failure means."""

from __future__ import annotations

import math
from functools import partial

import chronodp as cdp
from chronodp.accounting import gaussian
from chronodp.audit.exact import examine, outcomes
from chronodp.privacy import Bounds, Contribution, per_period
from chronodp.randomness import Entropy
from experiments.claims import Claim, Pair, Tolerance, computation, equal, every, falling

__all__ = ["aggregate_claims"]

PLACE = "Applications, Foundational Statistical Releases"
EPSILONS = (0.5, 1.0, 2.0)


@computation()
def count_sensitivity(hours: int) -> float:
    """Return what one event changes of a week's count."""
    return per_period(cdp.Event(), Bounds(hours), Contribution.count()).l1


@computation()
def count_scale(epsilon: float) -> float:
    """Return the scale of the noise that a plan of one count takes."""
    return cdp.Aggregate([3.0], change=1.0, unit=cdp.Event()).plan(epsilon=epsilon).design.noises[0].scale


@computation()
def mean_sensitivity(people: int) -> float:
    """Return what one machine changes of the mean of a public number of them, each clipped to [0, 1]."""
    mean = Contribution.mean(clip=(0.0, 1.0), people=people)
    return per_period(cdp.Event("replace"), Bounds(1), mean).l1


@computation()
def vector_sensitivity(hours: int, most: float) -> float:
    """Return what a household changes of an hourly series."""
    return per_period(cdp.User(), Bounds(hours, hours), Contribution.total(clip=(0.0, most))).l1


def publish_rows(rows: tuple[int, ...], *, entropy: Entropy, times: int) -> tuple[int | None, ...]:
    """Publish each row as it is with probability 1/times, and nothing else."""
    return tuple(row if entropy.coins(1, times) else None for row in rows)


@computation()
def failure_delta(rows: int, times: int) -> float:
    """Return the least δ at ε = 0 of publishing each row with probability 1/times, enumerated."""
    zeros, changed = (0,) * rows, (1,) + (0,) * (rows - 1)
    return examine(partial(publish_rows, times=times), [(zeros, changed)]).delta(0.0)[1]


@computation()
def rows_published(rows: int, times: int) -> float:
    """Return how many rows that publishes on average, enumerated."""
    law = outcomes(lambda entropy: publish_rows((0,) * rows, entropy=entropy, times=times)).probabilities
    return float(sum(chance * sum(row is not None for row in told) for told, chance in law.items()))  # type: ignore[attr-defined]


@computation()
def delta_of_calibrated(epsilon: float, delta: float, sensitivity: float) -> float:
    """Return the exact δ at ε of noise that was calibrated to (ε, δ)."""
    return gaussian.delta_of(sensitivity / gaussian.sigma(epsilon, delta, sensitivity=sensitivity), epsilon)


def aggregate_claims() -> list[Claim]:
    """Return the claims on simple aggregates."""
    claim = partial(Claim, source="applications", place=PLACE)
    return [
        claim(
            id="A03",
            says="A week's count of anomalies changes by 1 with one event, so Laplace noise has scale 1/ε.",
            rule=equal,
            stated="1, and b = 1/ε",
            tolerance=Tolerance(relative=1e-6),  # a plan rounds its scale up to what its grid can draw
            readings={
                "the library's": lambda: [
                    Pair(count_sensitivity(168), 1.0, "sensitivity over 168 hours"),
                    *(Pair(count_scale(epsilon), 1 / epsilon, f"scale at ε = {epsilon:g}") for epsilon in EPSILONS),
                ]
            },
            tokens=(r"b = \frac{1}{\epsilon}",),
        ),
        claim(
            id="A04",
            says="The mean of n machines, each clipped to [0, 1], changes by 1/n.",
            rule=equal,
            stated="1/n",
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "the library's, n public": lambda: [
                    Pair(mean_sensitivity(people), 1 / people, f"n = {people}") for people in (10, 500)
                ]
            },
            tokens=(r"\frac{1}{n}",),
            parameters="ours: n = 10 and 500",
            note="Where machines come and go, n is private: a noisy sum and a noisy count are needed.",
        ),
        claim(
            id="A05",
            says="The noise for a given level falls as the population grows.",
            rule=falling,
            stated="falls with n",
            readings={
                "deviation of the mean's noise at ε = 1, n = 10, 100, 1,000": lambda: [
                    math.sqrt(2) * mean_sensitivity(people) for people in (10, 100, 1000)
                ]
            },
            tokens=("decreases as the population size grows",),
            parameters="ours: ε = 1, n = 10, 100, 1,000",
        ),
        claim(
            id="A06",
            says="δ should be far below 1/n: it is a probability of catastrophe.",
            rule=every(equal, equal),
            stated=("a mechanism that publishes each row with δ is (0, δ)-private", "it publishes n δ rows"),
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "rows published at random, enumerated": lambda: (
                    [Pair(failure_delta(4, times), 1 / times, f"n = 4, δ = 1/{times}") for times in (4, 40)],
                    [Pair(rows_published(4, times), 4 / times, f"n = 4, δ = 1/{times}") for times in (4, 40)],
                )
            },
            tokens=(r"\delta \ll \frac{1}{n}", "catastrophic privacy failure"),
            parameters="ours: four rows, δ = 1/4 and 1/40",
            note="At δ = 1/n a whole row is published on average. It is one reading of δ among several (see T21).",
        ),
        claim(
            id="A07",
            says="A household that adds at most P_max in each of T hours changes the hourly series by T P_max in l1.",
            rule=equal,
            stated="T × P_max",
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "the library's": lambda: [
                    Pair(vector_sensitivity(hours, most), hours * most, f"T = {hours}, P_max = {most:g}")
                    for hours, most in ((720, 5.0), (24, 2.5))
                ]
            },
            tokens=(r"T \times P_{\max}",),
            parameters="ours: T = 720 with 5 kWh, T = 24 with 2.5 kWh",
            note="For values in [0, P_max] of a household added or removed; twice as much for a range about 0 and "
            "replaced.",
        ),
        claim(
            id="A23",
            place="Applications, Signal Processing",
            says="The deviation of Gaussian noise follows from the l2 sensitivity and (ε, δ).",
            rule=equal,
            stated="the noise has exactly δ at ε",
            tolerance=Tolerance(relative=1e-9),
            readings={
                "analytic Gaussian": lambda: [
                    Pair(delta_of_calibrated(*case), case[1], "(ε, δ) = ({:g}, {:g}), Δ₂ = {:g}".format(*case))
                    for case in ((1.0, 1e-5, 1.0), (0.1, 1e-6, 3.0), (4.0, 1e-3, 0.5))
                ]
            },
            tokens=(r"$\sigma$ determined by the $\ell_2$-sensitivity",),
            parameters="ours: three guarantees",
        ),
    ]
