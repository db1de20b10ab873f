"""What the definitions say of privacy, and whether the mechanisms meet it: outputs of small cases are enumerated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

from chronodp.audit.exact import examine
from chronodp.randomness import Entropy
from chronodp.temporal import Backward, BlockShuffle, Forward, Threshold, dispatch_probabilities
from experiments.claims import Claim, Pair, Tolerance, below, bound, computation, equal, existence
from experiments.claims.computations import scaled
from experiments.temporal_perturbation.rows import always_nothing, row

__all__ = ["rows"]

Series = tuple[int, ...]
Mechanism = Backward | BlockShuffle | Forward | Threshold

_PAPERS: dict[str, tuple[Mechanism, int, int]] = {
    "Backward, k = 3, ε = 2": (Backward(3, 2.0), 6, 2),
    "Forward, k = 3, ε = 2": (Forward(3, 2.0), 6, 2),
    "Threshold, k = 4, c₀ = 3": (Threshold(4, 2.2), 5, 0),
}
_EXTENDED = "extended Threshold, k = 4, ε = 1"


def rows() -> list[Claim]:
    """Return the rows of sections I and II, and those that say that a mechanism is private."""
    return [*_definitions(), *_conversions(), *_mechanisms(), *_restored(), _block_shuffle()]


@computation(one_less=scaled(0.5))
def neighbours_by_conditions(length: int, window: int) -> int:
    """Count the pairs of orders of so many values that meet the three conditions of Definition 2.1."""
    whole = tuple(range(length))
    return sum(_conditions(whole, other, window) for other in itertools.permutations(whole))


@computation(none=always_nothing)
def impossible_share(mechanism: Mechanism, before: Series, after: Series) -> float:
    """Return the chance of an output that the other series cannot give, by enumeration."""
    return float(examine(_of(mechanism), [(before, after)]).impossible)


@computation(none=always_nothing)
def ruled_out(mechanism: Threshold, distance: int) -> float:
    """Return how often a release shows which of two values came first, inside a series, followed through the chain."""
    return dict(mechanism.statement().ruled_out)[distance]


@computation()
def shuffle_loss(block: int, epsilon: float) -> float:
    """Return the largest log-ratio of a block shuffle over swaps inside its block, by enumeration."""
    pairs = [_swapped(block, first, second) for first, second in itertools.combinations(range(block), 2)]
    return examine(_of(BlockShuffle(block, epsilon)), pairs).epsilon


@computation()
def response_ratio(odds: int) -> float:
    """Return the largest ratio that a swap of two answers makes, each true so many times as often as not."""

    def respond(bits: Series, /, *, entropy: Entropy) -> Series:
        return tuple(bit ^ int(not entropy.coins(odds, odds + 1)) for bit in bits)

    ratio = examine(respond, [((0, 1), (1, 0))]).ratio
    return math.inf if ratio is None else float(ratio)


@computation()
def best_guess(kind: str, window: int, epsilon: float) -> float:
    """Return how often a released value comes from the time that is likeliest for it."""
    if kind == "Backward":
        own = math.exp(epsilon / 2)
        return own / (own + window - 1)
    choice = Threshold(window, epsilon).choice
    chances = dispatch_probabilities(window, choice.threshold)
    chances[0] *= choice.keep
    return float(chances.max() / chances.sum())


def _definitions() -> list[Claim]:
    return [
        row(
            id="L01",
            place="Definition 2.1",
            says="two series are neighbours if one swap of two values, at most k apart, makes one of the other",
            rule=equal,
            stated="as many neighbours as pairs of times at most k apart",
            readings={
                "six times, k = 1 to 5": lambda: [
                    Pair(neighbours_by_conditions(6, k), sum(6 - apart for apart in range(1, k + 1)), f"k = {k}")
                    for k in range(1, 6)
                ]
            },
            tokens=("Neighboring Time Series", "|i - j| \\leq k"),
            parameters="ours: six different values, k from 1 to 5",
            note="values in a window of k times are k − 1 apart at most: the printed condition reaches one further",
        ),
        row(
            id="L02",
            place="Definition 2.2, eq. 3",
            says="a mechanism can keep the ratio of every output's probability under neighbours within e^ε",
            rule=existence,
            stated="some mechanism meets it",
            readings={
                "mechanisms that release as values come": lambda: [
                    _impossible(case) == 0 for case in (*_PAPERS, _EXTENDED)
                ],
                "swaps inside fixed blocks": lambda: [shuffle_loss(4, 2.0) <= 2 + 1e-9],
            },
            tokens=("\\Pr(\\mathcal{A}(S) = R) \\leq e^\\epsilon",),
            parameters="ours: k = 3 and 4, ε = 1 and 2",
            note="nothing that releases exact values as they come can meet it: no value comes before its time",
        ),
    ]


def _conversions() -> list[Claim]:
    return [
        row(
            id="L03",
            place="Theorem 2.3",
            says="ε/2 for each value gives ε for the order",
            rule=bound,
            stated="e^ε = 9",
            tolerance=Tolerance(relative=1e-12),
            readings={"randomised response": lambda: [Pair(response_ratio(3), 9.0, "e^{ε/2} = 3")]},
            tokens=("\\epsilon/2",),
            parameters="ours: randomised response with e^{ε/2} = 3",
        ),
        row(
            id="L04",
            place="Theorem 2.4",
            says="ε for the order gives the larger of ε/2 and the skewness for each value",
            rule=bound,
            stated="no output of probability above 0 becomes impossible when a value changes",
            readings={
                "an even shuffle, which is 0-private for the order": lambda: [
                    Pair(impossible_share(BlockShuffle(3, 0.0), (0, 1, 2), (0, 1, 3)), 0.0, "(0,1,2) and (0,1,3)"),
                    Pair(
                        impossible_share(BlockShuffle(4, 0.0), (0, 0, 1, 1), (0, 0, 0, 1)),
                        0.0,
                        "(0,0,1,1) and (0,0,0,1), where no value is more than 3 times as frequent",
                    ),
                ]
            },
            tokens=("skewness of value",),
            parameters="ours: blocks of 3 and 4, ε = 0",
            note="a shuffle of a block keeps the order and shows every value",
        ),
    ]


def _mechanisms() -> list[Claim]:
    claims = (
        ("L09", "III-A 1)", "Backward keeps ε for the order", "Backward, k = 3, ε = 2", ("this protocol satisfies",)),
        ("L10", "III-B 1)", "Forward keeps ε for the order", "Forward, k = 3, ε = 2", ("trivially satisfies",)),
        (
            "L21",
            "Theorem 4.3",
            "Threshold keeps the derived budget, the largest log-ratio of dispatch probabilities twice, for the order",
            "Threshold, k = 4, c₀ = 3",
            ("TLDP Guarantee of Threshold Mechanism",),
        ),
        (
            "L27",
            "Theorem 4.5",
            "the extended Threshold keeps ε for the order",
            _EXTENDED,
            ("extended Threshold mechanism satisfies",),
        ),
    )
    return [
        row(
            id=name,
            place=place,
            says=says,
            rule=bound,
            stated="no output becomes impossible after a swap",
            readings={"a swap of neighbours in time": partial(_counterexample, case)},
            tokens=tokens,
            parameters=f"ours: {case}",
            note="what is bounded is the ratio of two dispatch probabilities of one value" if name == "L21" else "",
        )
        for name, place, says, case, tokens in claims
    ]


def _counterexample(case: str) -> list[Pair]:
    return [Pair(_impossible(case), 0.0, case)]


def _impossible(case: str) -> float:
    if case == _EXTENDED:
        return ruled_out(Threshold(4, 1.0), 1)
    mechanism, length, place = _PAPERS[case]
    return impossible_share(mechanism, *_swapped(length, place))


def _restored() -> list[Claim]:
    def guesses(*budgets: float) -> list[float]:
        return [best_guess(kind, 10, epsilon) for kind in ("Backward", "Threshold") for epsilon in budgets]

    return [
        row(
            id="L53",
            place="I and II-B",
            says="the time that a released value comes from cannot be told with high confidence",
            rule=below,
            stated=0.5,
            readings={
                "ε = 1 to 8": lambda: guesses(*map(float, range(1, 9))),
                "ε = 1 to 4": lambda: guesses(1.0, 2.0, 3.0, 4.0),
            },
            tokens=("with high confidence", "true timestamp"),
            parameters="not stated: high confidence is taken as right more often than not, at k = 10",
            note="at ε = 8 most values are released at their own time",
        )
    ]


def _block_shuffle() -> Claim:
    return row(
        id="N11b",
        place="",
        says="a block shuffle keeps ε for every swap inside its block",
        rule=equal,
        stated="ε = 1, 2 and 3",
        tolerance=Tolerance(absolute=1e-9),
        readings={
            "blocks of 4": lambda: [
                Pair(shuffle_loss(4, epsilon), epsilon, f"ε = {epsilon:g}") for epsilon in (1.0, 2.0, 3.0)
            ]
        },
        origin="ours",
        parameters="ours: blocks of 4",
    )


def _of(mechanism: Mechanism) -> Callable[..., Any]:
    def run(values: Series, /, *, entropy: Entropy) -> object:
        return mechanism.perturb(values, entropy=entropy).values

    return run


def _conditions(first: Series, second: Series, window: int) -> bool:
    apart = [place for place in range(len(first)) if first[place] != second[place]]
    if len(apart) != 2:
        return False
    one, two = apart
    return two - one <= window and first[one] == second[two] and first[two] == second[one]


def _swapped(length: int, first: int, second: int | None = None) -> tuple[Series, Series]:
    whole = tuple(range(length))
    return whole, _exchange(whole, first, first + 1 if second is None else second)


def _exchange(values: tuple[Any, ...], first: int, second: int) -> tuple[Any, ...]:
    moved = list(values)
    moved[first], moved[second] = moved[second], moved[first]
    return tuple(moved)
