"""The four costs of section II-D, and what one missing or delayed value really costs an analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from chronodp.audit.exact import outcomes
from chronodp.randomness import Entropy
from chronodp.temporal import Backward, Forward, frequency_counting, moving_average
from experiments.claims import Claim, Pair, Tolerance, always, computation, equal
from experiments.temporal_perturbation.rows import row

__all__ = ["rows"]

Counts = tuple[int, int, int, int]


def rows() -> list[Claim]:
    """Return the rows of section II-D."""
    return [_four_costs(), _counting(), _average()]


def _repeated_count_too(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: tuple(
        (missing, repeated, empty, delay + repeated) for missing, repeated, empty, delay in function(*args)
    )


def _one_counting_error(_: Callable[..., Any]) -> Callable[..., Any]:
    return lambda window, length, share, _other: one_counting_error(window, length, share)


def _one_average_error(_: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _window, length: one_average_error(length)


@computation(repeated_values_are_late=_repeated_count_too)
def counts_by_definition(sources: tuple[tuple[int, ...], ...]) -> tuple[Counts, ...]:
    """Count missing, repeated, empty and delayed values of releases straight from the definitions."""
    found = []
    for source in sources:
        times = [[time for time, value in enumerate(source) if value == one] for one in range(len(source))]
        found.append(
            (
                sum(not seen for seen in times),
                sum(max(0, len(seen) - 1) for seen in times),
                source.count(-1),
                sum(seen[0] - one for one, seen in enumerate(times) if seen),  # a repeated value is late once only
            )
        )
    return tuple(found)


@computation(as_they_are=_one_counting_error)
def counting_unit_costs(window: int, length: int, share: float, other: float) -> dict[str, float]:
    """Return M + N, M + E and D of frequency counting as printed."""
    costs = frequency_counting(window=window, length=length, share=share, other_share=other)
    return {"M + N": costs.missing + costs.repeated, "M + E": costs.missing + costs.empty, "D": costs.delay}


@computation(as_printed=lambda _: lambda window, length, share: counting_unit_costs(window, length, share, share))
def one_counting_error(window: int, length: int, share: float) -> dict[str, float]:
    """Return the mean squared error of all running counts after one value, at a time drawn evenly, went wrong.

    It is missing and another repeated in its place, missing and its time empty, or delayed by half a window.
    """

    def lasting(periods: float) -> float:
        return float(np.minimum(periods, length - np.arange(length)).mean() / length)

    return {
        "M + N": 2 * share * (1 - share) * lasting(length),
        "M + E": share * lasting(length),
        "D": share * lasting((window - 1) / 2),
    }


@computation(as_they_are=_one_average_error)
def average_unit_costs(window: int, length: int) -> dict[str, float]:
    """Return M, and D in M, of a moving average of values with variance 1, as printed."""
    costs = moving_average(window=window, length=length, variance=1.0)
    return {"M": costs.missing, "D / M": costs.delay / costs.missing}


@computation(as_printed=lambda _: lambda length: average_unit_costs(length, length))
def one_average_error(length: int) -> dict[str, float]:
    """Return the summed squared error of all moving averages after one value is missing, and is late, in the former."""
    missing, late = (
        float((np.convolve(pattern, np.ones(length) / length) ** 2).sum()) for pattern in ((1.0,), (1.0, -1.0))
    )
    return {"M": missing, "D / M": late / missing}


def _four_costs() -> Claim:
    def agree() -> list[bool]:
        found = [_enumerated(kind) for kind in (Backward(3, 2.0), Forward(3, 2.0))]
        return [
            counted == by_hand
            for sources, counts in found
            for counted, by_hand in zip(counts, counts_by_definition(sources), strict=True)
        ]

    return row(
        id="L05",
        place="II-D",
        says="missing, repeated, empty and delayed values have unit costs; what is repeated is late once only",
        rule=always,
        stated="the counts of a run are those of the definitions",
        readings={"every run of Backward and Forward over five times, k = 3": agree},
        tokens=("supersede delay cost",),
        parameters="ours: k = 3, five times",
        note="eq. 7 counts the delay of a repeated value's first release, so that is how it is read",
    )


def _counting() -> Claim:
    length, share, window = 14_058, 0.5, 10

    def pairs() -> list[Pair]:
        printed = counting_unit_costs(window, length, share, share)
        return [Pair(found, printed[name], name) for name, found in one_counting_error(window, length, share).items()]

    return row(
        id="L06",
        place="II-D, case 1",
        says="in counting, M + N = ((f − f′) l / 2)², M + E = (f l / 2)² and D = (f (k − 1) / 2)² are squared errors",
        rule=equal,
        stated="the errors of one such value",
        tolerance=Tolerance(relative=0.05),
        readings={"f = f′ = ½, l = 14,058, k = 10": pairs},
        tokens=("\\frac{l}{2}", "\\frac{k-1}{2}"),
        parameters="ours: f = f′ = ½, l = 14,058, k = 10",
        note="a square of the mean of l errors, not a mean of squares: usable as a weight alone",
    )


def _average() -> Claim:
    length = window = 10

    def pairs() -> list[Pair]:
        printed = average_unit_costs(window, length)
        return [Pair(found, printed[name], name) for name, found in one_average_error(length).items()]

    return row(
        id="L07",
        place="II-D, case 2",
        says="in moving averages over d periods, M = N = the variance, E = 0 and D = k M / d",
        rule=equal,
        stated="the errors of one such value",
        tolerance=Tolerance(relative=0.05),
        readings={"k = d = 10": pairs},
        tokens=("D = kM/d",),
        parameters="ours: k = d = 10, variance 1",
        note="M is too large by d, and so is all else; D should be 2 M / d, not k M / d, which changes Fig. 7(d)",
    )


def _enumerated(mechanism: Backward | Forward) -> tuple[tuple[tuple[int, ...], ...], tuple[Counts, ...]]:
    """Return every release of five values, by the times they come from, and what the library counts of each."""

    def run(entropy: Entropy) -> object:
        blurred = mechanism.perturb(range(5), entropy=entropy)
        damage = blurred.damage
        shares = (damage.missing, damage.repeated, damage.empty, damage.delay)
        return tuple(blurred.source.tolist()), tuple(round(5 * share) for share in shares)

    found: list[Any] = list(outcomes(run).probabilities)
    return tuple(source for source, _ in found), tuple(counts for _, counts in found)
