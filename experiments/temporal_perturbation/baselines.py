"""Backward and Forward: their probabilities, and the rows of Table I, as printed, enumerated and by the library."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from chronodp.audit.exact import outcomes
from chronodp.randomness import Entropy
from chronodp.temporal import Backward, Forward, Threshold, UnitCosts
from experiments.claims import Claim, Pair, Tolerance, always, computation, equal
from experiments.temporal_perturbation.costs import KINDS
from experiments.temporal_perturbation.rows import larger_fractions, row

__all__ = ["rows"]

_WINDOWS = (3, 5, 10, 20, 50)
_BUDGETS = (1.0, 5.0, 10.0)
_ODDS = (2, 12)
_EXACT = Tolerance(absolute=1e-9)
_SMALL: dict[str, Backward | Forward | Threshold] = {
    "Backward": Backward(3, 2.0),
    "Forward": Forward(3, 2.0),
    "Threshold": Threshold(4, 2.2),
}
_FIELDS = ("missing", "repeated", "empty", "delay")


def rows() -> list[Claim]:
    """Return the rows of section III and Table I."""
    return [_probabilities(), _missing(), _repeated(), _forward_sum(), _delay(), _choice()]


def _none(_: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *_args: (0.25,) * 4


@computation()
def own_time_law(kind: str, window: int, epsilon: float) -> tuple[float, ...]:
    """Return the chance of each delay, own time first, by enumeration; of Forward, of the own time alone."""
    if kind == "Forward":
        run = _sources(Forward(window, epsilon), 1)
        return (float(sum(chance for source, chance in run.items() if source[0] == 0)),)
    run = _sources(Backward(window, epsilon), window)
    return tuple(
        float(sum(chance for source, chance in run.items() if source[-1] == window - 1 - delay))
        for delay in range(window)
    )


@computation()
def printed_law(window: int, epsilon: float) -> tuple[float, ...]:
    """Return eq. 4: p₀ for a value's own time, p₁ for each other."""
    whole = window - 1 + math.exp(epsilon / 2)
    return (math.exp(epsilon / 2) / whole, *[1 / whole] * (window - 1))


@computation(all_alike=_none)
def enumerated_damage(kind: str) -> tuple[float, ...]:
    """Return how often a value is missing, repeated, its time empty, and its mean delay, by enumeration."""
    mechanism = _SMALL[kind]
    window = mechanism.window
    place = window - 1 if kind == "Backward" else 0  # the first value with a whole window before and behind it
    slot = window - 1
    found = [0.0] * 4
    for source, chance in _sources(mechanism, place + window).items():
        seen = [time for time, value in enumerate(source) if value == place]
        part = (not seen, max(0, len(seen) - 1), source[slot] < 0, seen[0] - place if seen else 0)
        found = [whole + float(chance) * float(one) for whole, one in zip(found, part, strict=True)]
    return tuple(found)


@computation()
def expected_damage(kind: str, window: int, epsilon: float, name: str) -> float:
    """Return one of the expectations that the library states."""
    return float(getattr(KINDS[kind](window, epsilon).expected, name))


@computation()
def printed_missing(window: int, epsilon: float) -> float:
    """Return (1 − p₀)(1 − p₁)^{k−1} of Table I."""
    own, other = printed_law(window, epsilon)[:2]
    return (1 - own) * (1 - other) ** (window - 1)


@computation()
def printed_delay(window: int, epsilon: float) -> float:
    """Return p₁ (1 − p₀) Σ j (1 − p₁)^{j−1} of Table I."""
    own, other = printed_law(window, epsilon)[:2]
    return other * (1 - own) * sum(delay * (1 - other) ** (delay - 1) for delay in range(1, window))


@computation(larger=larger_fractions)
def repetition_sum(window: int, odds: int) -> Fraction:
    """Return the two printed sums of eq. 6, with e^{ε/2} a whole number."""
    own, other = _fractions(window, odds)
    first = sum(
        (r * own * math.comb(window - 1, r) * other**r * (1 - other) ** (window - 1 - r) for r in range(1, window)),
        Fraction(0),
    )
    second = sum(
        (
            r * (1 - own) * math.comb(window - 1, r + 1) * other ** (r + 1) * (1 - other) ** (window - 2 - r)
            for r in range(1, window - 1)
        ),
        Fraction(0),
    )
    return first + second


@computation(larger=larger_fractions)
def overwriting_sum(window: int, odds: int) -> Fraction:
    """Return the printed sum of eq. 9."""
    own, other = _fractions(window, odds)
    return other * sum((1 - (1 - own) * (1 - other) ** (delay - 1) for delay in range(1, window)), Fraction(0))


@computation(larger=larger_fractions)
def closed_form(window: int, odds: int) -> Fraction:
    """Return (1 − p₀)(1 − p₁)^{k−1} as a fraction."""
    own, other = _fractions(window, odds)
    return (1 - own) * (1 - other) ** (window - 1)


def _probabilities() -> Claim:
    def pairs() -> list[Pair]:
        return [
            Pair(found, against, f"{kind}, k = {window}, ε = {epsilon:g}")
            for kind in ("Backward", "Forward")
            for window in (3, 4, 5)
            for epsilon in (0.5, 2.0, 5.0)
            for found, against in zip(
                own_time_law(kind, window, epsilon), printed_law(window, epsilon), strict=kind == "Backward"
            )
        ]

    return row(
        id="L08",
        place="III-A, eq. 4",
        says="a value's own time has e^{ε/2} / (k − 1 + e^{ε/2}), each other 1 / (k − 1 + e^{ε/2})",
        rule=equal,
        stated="eq. 4",
        tolerance=Tolerance(absolute=1e-12),
        readings={"enumerated, k = 3 to 5": pairs},
        tokens=("\\frac{e^{\\epsilon/2}}{k-1+e^{\\epsilon/2}}",),
    )


def _cells(name: str, kinds: tuple[str, ...], printed: Callable[[int, float], float]) -> list[Pair]:
    """Return cells of Table I: enumerated on a small case, and as the library states them on larger ones."""
    place = _FIELDS.index(name)
    small = [
        Pair(enumerated_damage(kind)[place], printed(3, 2.0), f"{kind}, k = 3, ε = 2, enumerated") for kind in kinds
    ]
    return small + [
        Pair(
            expected_damage(kind, window, epsilon, name),
            printed(window, epsilon),
            f"{kind}, k = {window}, ε = {epsilon:g}",
        )
        for kind in kinds
        for window in _WINDOWS
        for epsilon in _BUDGETS
    ]


def _missing() -> Claim:
    return row(
        id="L11",
        place="III-A, eq. 5; Table I, row 1",
        says="a value of Backward or Forward is missing with (1 − p₀)(1 − p₁)^{k−1}, one of Threshold never",
        rule=equal,
        stated="the closed form",
        tolerance=_EXACT,
        readings={
            "enumerated, and as the library expects it": lambda: [
                *_cells("missing", ("Backward", "Forward"), printed_missing),
                Pair(enumerated_damage("Threshold")[0], 0.0, "Threshold, k = 4, c₀ = 3, enumerated"),
            ]
        },
        tokens=("(1-p_0)(1-p_1)^{k-1}",),
    )


def _repeated() -> Claim:
    return row(
        id="L12",
        place="III-A, eq. 6; Table I, row 2",
        says="values of Backward are repeated as often as they are missing",
        rule=always,
        stated="the printed sums equal the closed form, as fractions",
        readings={
            "k = 3 to 30, e^{ε/2} = 2 and 12": lambda: [
                repetition_sum(window, odds) == closed_form(window, odds) for window in range(3, 31) for odds in _ODDS
            ]
        },
        tokens=("missing and repetition",),
    )


def _forward_sum() -> Claim:
    return row(
        id="L13",
        place="III-B, eqs. 9 and 10; Table I, rows 1 and 3",
        says="values of Forward are missing as often as its times are empty",
        rule=always,
        stated="the printed sum equals the closed form, as fractions",
        readings={
            "k = 3 to 30, e^{ε/2} = 2 and 12": lambda: [
                *(
                    overwriting_sum(window, odds) == closed_form(window, odds)
                    for window in range(3, 31)
                    for odds in _ODDS
                ),
                abs(enumerated_damage("Forward")[2] - printed_missing(3, 2.0)) < 1e-9,
            ]
        },
        tokens=("Empty cost",),
    )


def _delay() -> Claim:
    return row(
        id="L14",
        place="III-A, eq. 7, III-B, eq. 11; Table I, row 4",
        says="the mean delay is p₁ (1 − p₀) Σ j (1 − p₁)^{j−1} for both, and k − c₀ for Threshold",
        rule=equal,
        stated="the closed form",
        tolerance=_EXACT,
        readings={
            "enumerated, and as the library expects it": lambda: [
                *_cells("delay", ("Backward", "Forward"), printed_delay),
                Pair(enumerated_damage("Threshold")[3], 1.0, "Threshold, k = 4, c₀ = 3, enumerated"),
            ]
        },
        tokens=("(j-i)",),
        note="the first line of eq. 7 prints (j − i) where it means j",
    )


def _choice() -> Claim:
    def agree() -> list[bool]:
        found = []
        for window in _WINDOWS:
            for epsilon in _BUDGETS:
                for repeated, empty in ((1.0, 2.0), (2.0, 1.0), (0.0, 5.0), (5.0, 0.5)):
                    costs = UnitCosts.relative(window, repeated=repeated, empty=empty)
                    backward, forward = (
                        sum(expected_damage(kind, window, epsilon, name) * getattr(costs, name) for name in _FIELDS)
                        for kind in ("Backward", "Forward")
                    )
                    found.append((backward < forward) == (repeated < empty))
        return found

    return row(
        id="L15",
        place="III-C",
        says="Backward costs less than Forward where a repeated value costs less than an empty one",
        rule=always,
        stated="whichever unit cost is smaller decides",
        readings={"k = 3 to 50, ε = 1 to 10": agree},
        tokens=("whose unit cost is larger",),
    )


def _fractions(window: int, odds: int) -> tuple[Fraction, Fraction]:
    return Fraction(odds, window - 1 + odds), Fraction(1, window - 1 + odds)


def _sources(mechanism: Backward | Forward | Threshold, length: int) -> dict[Any, Fraction]:
    """Return the chance of every release, told by the time that each released value comes from."""

    def run(entropy: Entropy) -> object:
        return tuple(mechanism.perturb(range(length), entropy=entropy).source.tolist())

    return dict(outcomes(run).probabilities)
