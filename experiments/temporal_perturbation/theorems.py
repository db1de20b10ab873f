"""Lemmas, theorems and algorithms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Literal

import numpy as np

from chronodp.audit.exact import examine
from chronodp.randomness import Entropy
from chronodp.temporal import (
    Backward,
    BlockShuffle,
    Forward,
    Threshold,
    choose_threshold,
    derived_budget,
    dispatch_probabilities,
)
from experiments.verdicts import Verdict

Series = tuple[int, ...]


def check(windows: range = range(3, 61)) -> list[Verdict]:
    return [
        _values_imply_times(),
        _times_imply_values(),
        *_mechanisms(),
        _lemma(),
        _probabilities(),
        _in_doubles(),
        _monotone(windows),
        _binary_search(windows),
        _block_shuffle(),
    ]


def _values_imply_times() -> Verdict:
    def respond(bits: Series, /, *, entropy: Entropy) -> Series:
        return tuple(bit ^ int(not entropy.coins(3, 4)) for bit in bits)

    found = examine(respond, [((0, 1), (1, 0))])
    return Verdict(
        "Theorem 2.3: ε/2 for each value gives ε-TLDP; randomised response, e^{ε/2} = 3",
        "e^ε = 9",
        f"largest ratio {found.ratio}, enumerated",
        _holds(found.ratio == 9),
    )


def _times_imply_values() -> Verdict:
    found = examine(_of(BlockShuffle(3, 0.0)), [((0, 1, 2), (0, 1, 3))])
    return Verdict(
        "Theorem 2.4: ε-TLDP gives max(ε/2, skewness) for each value",
        "a bound for every value",
        f"the even shuffle of a block is 0-TLDP and shows each value: impossible outputs {found.impossible}",
        _holds(found.impossible == 0),
    )


def _mechanisms() -> list[Verdict]:
    cases: list[tuple[str, Backward | Forward | Threshold, int, int]] = [
        ("Backward satisfies ε-TLDP; k = 3, ε = 2", Backward(3, 2.0), 6, 2),
        ("Forward satisfies ε-TLDP; k = 3, ε = 2", Forward(3, 2.0), 6, 2),
        ("Theorem 4.3: Threshold satisfies ε̂-TLDP; k = 4, c₀ = 3", Threshold(4, 2.2), 5, 0),
        ("Theorem 4.5: extended Threshold satisfies ε-TLDP; k = 4, ε = 1", Threshold(4, 1.0), 5, 0),
    ]
    verdicts = []
    for claim, mechanism, length, place in cases:
        found = examine(_of(mechanism), [_swapped(length, place)])
        verdicts.append(
            Verdict(
                claim,
                "every ratio is at most e^ε",
                f"{float(found.impossible):.3f} of the outputs are impossible after a swap of neighbours, enumerated",
                _holds(found.impossible == 0),
            )
        )
    return verdicts


def _lemma() -> Verdict:
    wrong = [
        (window, threshold)
        for window in range(3, 16)
        for threshold in range(2, window)
        if _printed_taken(window, threshold)
        != Fraction(threshold * _stirling(window - 1, threshold), _stirling(window, threshold))
    ]
    return Verdict(
        "Lemma 4.1: the chance that the present time is taken; all k from 3 to 15",
        "a recursion with alternating signs",
        f"equals c₀ S(k-1, c₀) / S(k, c₀) as a fraction in all but {len(wrong)} cases",
        _holds(not wrong),
    )


def _probabilities() -> Verdict:
    wanted = ["74/405", "1/25", "293/6075", "274/4725", "2956/42525", "3532/42525", "1402/14175"]
    found = [Fraction(part).limit_denominator(10**5) for part in dispatch_probabilities(10, 5)[:7]]
    return Verdict(
        "Theorem 4.2: dispatch probabilities; k = 10, c₀ = 5",
        "printed sums",
        ", ".join(map(str, found)) + ", …",
        _holds([str(part) for part in found] == wanted),
    )


def _in_doubles() -> Verdict:
    window, threshold = 50, 2
    printed = 1 - _printed_taken_in_doubles(window, threshold)
    right = float(dispatch_probabilities(window, threshold)[0])
    return Verdict(
        "the printed recursion can be computed; k = 50, c₀ = 2, in doubles",
        "(implied)",
        f"p₀ = {printed:.3g} where it is {right:.3g}; the ratios used here are stable to k = 1000",
        _holds(math.isclose(printed, right, rel_tol=1e-3)),
    )


def _monotone(windows: range) -> Verdict:
    wrong = 0
    for window in windows:
        slope = np.sign(np.diff([derived_budget(window, part) for part in range(2, window)]))
        wrong += int(np.any(np.diff(slope) < 0))
    return Verdict(
        f"Theorem 4.4: ε̂ first falls and then rises with c₀; k = {windows.start} to {windows.stop - 1}",
        "always",
        f"{wrong} exceptions",
        _holds(not wrong),
    )


def _binary_search(windows: range) -> Verdict:
    worse = none = extended = count = 0
    for window, quarter in itertools.product(windows, range(1, 65)):
        epsilon = quarter / 4
        kind, found = algorithm_2(window, epsilon)
        best = choose_threshold(window, epsilon)
        count += 1
        if kind == "nothing":
            none += 1
        elif not best.extended and (kind, found) != ("plain", best.threshold):
            worse += 1
        elif best.extended and (kind, found) != ("extended", best.threshold):
            extended += 1
    return Verdict(
        f"Algorithm 2 finds the best threshold; {count} pairs of k and ε",
        "by binary search",
        f"a worse one in {worse}, none in {none}, another extended one in {extended}; a scan costs nothing",
        _holds(not worse + none + extended),
    )


def _block_shuffle() -> Verdict:
    mechanism = BlockShuffle(4, 2.0)
    found = examine(_of(mechanism), [_swapped(4, 0), _swapped(4, 2)])
    return Verdict(
        "what is true in its place: a block shuffle is ε-TLDP inside its blocks; k = 4, ε = 2",
        "(not in the paper)",
        f"ε = {found.epsilon:.12f}, enumerated",
        _holds(found.epsilon <= 2.0),
    )


def algorithm_2(window: int, epsilon: float) -> tuple[str, int]:
    """Return what the printed binary search returns: its kind and threshold, or "nothing" where it does not end."""
    low, high = 2, window - 1
    for _ in range(200):
        if low >= high:
            return "nothing", 0
        middle = (low + high) // 2
        first = derived_budget(window, middle)
        if first < epsilon or (middle > 2 and derived_budget(window, middle - 1) > first):
            low = middle
        else:
            high = middle
        if low + 1 == high:
            if derived_budget(window, low) <= epsilon:
                return "plain", low
            if derived_budget(window, high) <= epsilon:
                return "plain", high
            low, high = high, window - 1
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if derived_budget(window, middle) <= epsilon else (middle, high)
                if low + 1 == high:
                    return "extended", high
            return "nothing", 0
    return "nothing", 0


def _of(mechanism: Backward | BlockShuffle | Forward | Threshold) -> Callable[..., Any]:
    def run(values: Series, /, *, entropy: Entropy) -> object:
        return mechanism.perturb(values, entropy=entropy).values

    return run


def _swapped(length: int, place: int) -> tuple[Series, Series]:
    values = list(range(length))
    values[place], values[place + 1] = values[place + 1], values[place]
    return tuple(range(length)), tuple(values)


@cache
def _stirling(size: int, groups: int) -> int:
    if size == groups:
        return 1
    return groups * _stirling(size - 1, groups) + _stirling(size - 1, groups - 1) if 0 < groups < size else 0


@cache
def _printed_taken(window: int, threshold: int) -> Fraction:
    return Fraction(_printed(window, threshold, Fraction, _printed_taken))


@cache
def _printed_taken_in_doubles(window: int, threshold: int) -> float:
    return float(_printed(window, threshold, float, _printed_taken_in_doubles))


def _printed(window: int, threshold: int, number: Callable[..., Any], before: Callable[[int, int], Any]) -> Any:
    """g(k, m) of Lemma 4.1 with m = k - c₀; the threshold stays the same as k and m fall together."""
    spread = window - threshold
    if spread == 1:
        return number(2) / number(window)
    whole = number(1)
    for lag in range(1, spread + 1):
        term = number((-1) ** lag) / number(threshold) ** lag
        for part in range(1, lag + 2):
            term = term * number(window - part) / number(part)
        for part in range(1, lag):
            term = term * before(window - part, threshold)
        whole = whole - term
    return number(spread) / whole


def _holds(true: bool) -> Literal["holds", "false"]:
    return "holds" if true else "false"
