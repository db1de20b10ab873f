"""Where Threshold sends a value: Lemma 4.1, Theorems 4.2 and 4.4, Fig. 4, and the extended mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

from chronodp.audit.exact import outcomes
from chronodp.randomness import Entropy
from chronodp.temporal import Threshold, derived_budget, dispatch_probabilities
from experiments.claims import Claim, Pair, Tolerance, above, always, computation, equal, optimum
from experiments.claims.computations import inverted, scaled
from experiments.temporal_perturbation.printed_sums import (
    counted_dispatch,
    counted_taken,
    printed_dispatch,
    printed_taken,
    printed_taken_in_doubles,
)
from experiments.temporal_perturbation.rows import row

__all__ = ["derived_curve", "lowest_budget", "ratio_to_first", "rows"]


def rows() -> list[Claim]:
    """Return the rows of sections IV-C to IV-E but for the claims of privacy."""
    return [_lemma(), _theorem(), _in_doubles(), _cost(), _shape(), _best(), _lowest(), _extended()]


def _reversed(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: tuple(reversed(function(*args)))


@computation(reversed=_reversed)
def dispatch(window: int, threshold: int) -> tuple[float, ...]:
    """Return the library's dispatch probabilities."""
    return tuple(dispatch_probabilities(window, threshold).tolist())


@computation(inverted=inverted, other_sign=scaled(-1.0))
def derived_curve(window: int) -> tuple[float, ...]:
    """Return ε̂ for every threshold from 2 to k − 1."""
    return tuple(derived_budget(window, threshold) for threshold in range(2, window))


@computation()
def ratio_to_first(window: int, threshold: int, delay: int) -> float:
    """Return 2 ln(p_j / p₁): of j = k − 1 the red line of Fig. 4, of j = 0 the blue one."""
    chances = dispatch_probabilities(window, threshold)
    return 2 * math.log(chances[delay] / chances[1])


@computation()
def crossing(window: int) -> float:
    """Return ε̂ at V, where the red line meets the blue one: at the better of the thresholds beside it."""
    gaps = [ratio_to_first(window, part, 0) - ratio_to_first(window, part, window - 1) for part in range(2, window)]
    after = next(place for place, gap in enumerate(gaps) if gap >= 0)
    return min(derived_budget(window, part) for part in (max(2, after + 1), after + 2))


def lowest_budget(window: int) -> tuple[int, float]:
    """Return the threshold of the lowest derived budget, and that budget."""
    curve = derived_curve(window)
    return curve.index(min(curve)) + 2, min(curve)


@computation()
def extended_law(window: int, epsilon: float) -> tuple[float, ...]:
    """Return the chance of each delay of the extended mechanism's first value, by enumeration."""
    return _extended_law(window, epsilon)


def _lemma() -> Claim:
    return row(
        id="L19",
        place="Lemma 4.1",
        says="a recursion with alternating signs gives how often the present time is taken",
        rule=always,
        stated="equal to c₀ S(k−1, c₀) / S(k, c₀), as fractions",
        readings={
            "k = 3 to 15": lambda: [
                printed_taken(window, threshold) == counted_taken(window, threshold)
                for window in range(3, 16)
                for threshold in range(2, window)
            ]
        },
        tokens=("g(k, 1) = \\frac{2}{k}",),
    )


def _theorem() -> Claim:
    def agree() -> list[bool]:
        found = []
        for window in range(3, 14):
            for threshold in range(2, window):
                printed = printed_dispatch(window, threshold)
                near = zip(printed, dispatch(window, threshold), strict=True)
                found.append(
                    printed == counted_dispatch(window, threshold)
                    and all(abs(float(one) - two) < 1e-12 for one, two in near)
                )
        return found

    return row(
        id="L20",
        place="Theorem 4.2",
        says="three alternating sums give the dispatch probabilities",
        rule=always,
        stated="equal to the sums over numbers of partitions, as fractions",
        readings={"k = 3 to 13": agree},
        tokens=("p_{j>1}",),
        note="the last factor of the third sum stands outside its product",
    )


def _in_doubles() -> Claim:
    return row(
        id="N13",
        place="",
        says="in doubles the printed recursion loses every digit: p₀ is too large by many orders",
        rule=above,
        stated=1e3,
        readings={
            "p₀ as printed over p₀, k = 50, c₀ = 2": lambda: (
                abs(1 - printed_taken_in_doubles(50, 2)) / dispatch(50, 2)[0]
            )
        },
        origin="ours",
        parameters="ours: k = 50, c₀ = 2",
    )


def _cost() -> Claim:
    return row(
        id="L22",
        place="IV-D, eq. 14; Table I",
        says="a value of Threshold waits k − c₀ on average",
        rule=equal,
        stated="k − c₀",
        tolerance=Tolerance(absolute=1e-9),
        readings={
            "k = 3 to 30": lambda: [
                Pair(
                    sum(delay * chance for delay, chance in enumerate(dispatch(window, threshold))),
                    window - threshold,
                    f"k = {window}, c₀ = {threshold}",
                )
                for window in range(3, 31)
                for threshold in range(2, window)
            ]
        },
        tokens=("(k - c_0)",),
    )


def _shape() -> Claim:
    def agree() -> list[bool]:
        found = [_valley(derived_curve(window)) for window in range(4, 201)]
        for window in (10, 20, 50):
            red, blue = (
                [ratio_to_first(window, part, delay) for part in range(2, window)] for delay in (window - 1, 0)
            )
            found += [all(b < a for a, b in pairwise(red)), all(b > a for a, b in pairwise(blue))]
        return found

    return row(
        id="L23",
        place="IV-D, Fig. 4, Theorem 4.4",
        says="with c₀ the derived budget first falls and then rises: the red line falls, the blue one rises",
        rule=always,
        stated="so for every k",
        readings={"k = 4 to 200, and both lines at k = 10, 20, 50": agree},
        tokens=("first monotonically decreases",),
    )


def _best() -> Claim:
    def pairs() -> list[Pair]:
        found = []
        for window in range(4, 31):
            for epsilon in (2.0, 4.0, 6.0, 8.0, 10.0):
                fitting = [part for part, budget in enumerate(derived_curve(window), 2) if budget <= epsilon]
                if fitting:
                    delays = {part: sum(j * p for j, p in enumerate(dispatch(window, part))) for part in fitting}
                    found.append(Pair(delays[max(fitting)], min(delays.values()), f"k = {window}, ε = {epsilon:g}"))
        return found

    return row(
        id="L24",
        place="IV-D",
        says="of the thresholds that fit a budget the largest costs least",
        rule=optimum,
        stated="no other fitting threshold costs less",
        tolerance=Tolerance(relative=1e-9),
        readings={"k = 4 to 30, ε = 2 to 10": pairs},
        tokens=("should be the largest",),
    )


def _lowest() -> Claim:
    return row(
        id="L25",
        place="IV-E, Fig. 4",
        says="the lowest budget that a threshold reaches lies where the two lines cross",
        rule=optimum,
        stated="no threshold reaches less",
        tolerance=Tolerance(relative=1e-9),
        readings={
            "k = 10, 20, 50": lambda: [
                Pair(crossing(window), lowest_budget(window)[1], f"k = {window}") for window in (10, 20, 50)
            ]
        },
        tokens=("the lowest privacy budget",),
        parameters="not stated: k of Fig. 4; 10, 20 and 50 are taken",
    )


def _extended() -> Claim:
    def pairs() -> list[Pair]:
        found = []
        for window, epsilon in ((4, 0.5), (4, 1.0), (4, 2.0)):
            chances = list(dispatch(window, Threshold(window, epsilon).choice.threshold))
            chances[0] = math.exp(epsilon / 2) * chances[1]
            found += [
                Pair(seen, chance, f"k = {window}, ε = {epsilon:g}, delay {delay}")
                for delay, (seen, chance) in enumerate(zip(extended_law(window, epsilon), chances, strict=True))
            ]
        return found

    return row(
        id="L26",
        place="IV-E",
        says="keeping its own time with e^{ε/2} p₁ / p₀ only leaves a value's other chances as they were",
        rule=equal,
        stated="p₁ to p_{k−1} unchanged, p₀ down to e^{ε/2} p₁",
        tolerance=Tolerance(absolute=1e-12),
        readings={"enumerated at three settings": pairs},
        tokens=("does not affect the other dispatching",),
        parameters="ours: k = 4, ε = 0.5, 1 and 2",
    )


def _valley(curve: tuple[float, ...]) -> bool:
    steps = [after > before for before, after in pairwise(curve)]
    return steps == sorted(steps)


@cache
def _extended_law(window: int, epsilon: float) -> tuple[float, ...]:
    mechanism = Threshold(window, epsilon)

    def run(entropy: Entropy) -> object:
        return tuple(mechanism.perturb(range(window), entropy=entropy).source.tolist())

    found: dict[Any, Any] = dict(outcomes(run).probabilities)
    return tuple(float(sum(p for source, p in found.items() if source[delay] == 0)) for delay in range(window))
