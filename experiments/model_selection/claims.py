"""What a source says about choosing a model by the exponential mechanism, and what we add."""

from __future__ import annotations

from functools import cache, partial
from typing import Literal

import numpy as np
from tests.audit.cases.selection import MUTANTS
from tests.audit.registry import Mutant

from chronodp.audit.exact import examine
from chronodp.selection import (
    ChoiceMechanism,
    ExponentialMechanism,
    LeastSquares,
    PermuteAndFlip,
    Validation,
    losses_of,
)
from experiments.claims import Claim, Given, Pair, Tolerance, above, bound, computation, every, number, order, rising
from experiments.model_selection.accuracy import (
    ORDERS,
    Floats,
    accuracy,
    generated_people,
    people_losses,
    utilities_of,
)

__all__ = ["claims"]

EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
MECHANISMS: dict[str, ChoiceMechanism] = {
    "exponential mechanism": ExponentialMechanism(),
    "permute-and-flip": PermuteAndFlip(),
}
_SHORTCUT = "choice without the 2 where a person is replaced"


@computation()
def choice_epsilon(*, halved: bool) -> float:
    """Return the least ε of a choice at ε = 1 where a person is replaced, with the 2 in its exponent or without."""
    mutant = _mutant()
    return examine(mutant.sound if halved else mutant.broken, mutant.neighbours).epsilon


@computation()
def clips_moved() -> float:
    """Return how many clips one moved value moves the sum of clipped one-step errors of one refit series."""
    series = generated_people()[0]
    held = len(series) // 2
    validation = Validation(LeastSquares(), held, len(series), largest_error=1.0)
    before = held * losses_of([series], ORDERS, validation)[0]
    worst = 0.0
    for place in range(0, len(series), 10):
        moved = series.copy()
        moved[place] = 10 * np.abs(series).max()
        worst = max(worst, float(np.abs(held * losses_of([moved], ORDERS, validation)[0] - before).max()))
    return worst


@computation()
def chance_of_best(utility: str, mechanism: str, epsilon: float, *, replaced: bool = False) -> float:
    """Return the probability that the order with the largest utility is chosen; computed, not simulated."""
    return accuracy(_utilities()[utility], MECHANISMS[mechanism], epsilon, replaced=replaced)


def claims(given: Given) -> list[Claim]:
    """Return the claims; none of them reads a file."""
    del given
    return [_private(), *_beside(), *_found()]


def _private() -> Claim:
    def pair(kind: Literal["bounded", "refit"]) -> list[Pair]:
        enumerated = Pair(choice_epsilon(halved=True), 1.0, "utilities that change by at most Δ, enumerated")
        # A choice made for a change of one clip costs as many times ε as the utility moves clips.
        refit = Pair(clips_moved(), 1.0, "validation loss of a refit, in multiples of ε")
        return [enumerated, refit] if kind == "refit" else [enumerated]

    return Claim(
        id="A20",
        source="applications",
        place="Applications, Private Model Selection",
        says="The exponential mechanism chooses privately, for instance an order of ARIMA by its negative validation "
        "loss.",
        rule=bound,
        stated="at most ε",
        tolerance=Tolerance(absolute=1e-6),
        readings={
            "utility: the clipped validation loss of a refit": lambda: pair("refit"),
            "utilities whose sensitivity is bounded": lambda: pair("bounded"),
        },
        tokens=("negative validation loss", "the order `(p,d,q)` of an ARIMA model"),
        parameters="ours: ε = 1; a made-up series of 150 values",
    )


def _beside() -> list[Claim]:
    claim = partial(Claim, source="applications", place="beside A20", origin="ours")
    return [
        claim(
            id="N08",
            says="Without the 2 in its exponent, where a person is replaced, a choice at ε = 1 costs 2.",
            rule=number,
            stated=2,
            tolerance=Tolerance(absolute=1e-6),
            readings={"enumerated": lambda: choice_epsilon(halved=False)},
        ),
        claim(
            id="N27",
            says="One value of a series moves the clipped validation losses of its refits by many clips, not by one.",
            rule=above,
            stated=1.0,
            readings={"clips moved": clips_moved},
        ),
    ]


def _found() -> list[Claim]:
    claim = partial(
        Claim,
        source="applications",
        place="beside A20",
        origin="ours",
        data="made-up: 60 people whose series follow a second-order model",
    )

    def chances(utility: str, mechanism: str) -> list[float]:
        return [chance_of_best(utility, mechanism, epsilon) for epsilon in EPSILONS]

    return [
        claim(
            id="N08b",
            says="Votes and clipped regrets of people who fit at home find the best order at ε = 1 nine times in ten, "
            "and the more surely the larger ε.",
            rule=every(*[rising] * 4, above),
            stated=(*["rises with ε"] * 4, 0.9),
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "regret and votes by the two mechanisms; at ε = 1": lambda: (
                    *(
                        chances(utility, mechanism)
                        for utility in ("clipped regret", "votes")
                        for mechanism in MECHANISMS
                    ),
                    [
                        chance_of_best(utility, mechanism, 1.0)
                        for utility in ("clipped regret", "votes")
                        for mechanism in MECHANISMS
                    ],
                )
            },
        ),
        claim(
            id="N08c",
            says="Raw losses find it at ε = 1 far less often than votes, and permute-and-flip finds it more often than "
            "the exponential mechanism.",
            rule=order,
            stated="raw loss < votes; exponential mechanism < permute-and-flip; replaced < added or removed",
            tolerance=Tolerance(absolute=1e-9),
            readings={
                "chance of the best order at ε = 1": lambda: [
                    *(
                        Pair(
                            chance_of_best("raw loss", mechanism, 1.0),
                            chance_of_best("votes", mechanism, 1.0),
                            f"raw loss against votes, {mechanism}",
                        )
                        for mechanism in MECHANISMS
                    ),
                    Pair(
                        chance_of_best("raw loss", "exponential mechanism", 1.0),
                        chance_of_best("raw loss", "permute-and-flip", 1.0),
                        "the mechanisms, raw loss",
                    ),
                    Pair(
                        chance_of_best("raw loss", "permute-and-flip", 1.0, replaced=True),
                        chance_of_best("raw loss", "permute-and-flip", 1.0),
                        "replaced against added or removed, raw loss",
                    ),
                ]
            },
        ),
    ]


@cache
def _mutant() -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == _SHORTCUT)


@cache
def _utilities() -> dict[str, Floats]:
    return utilities_of(people_losses(generated_people(people=60)))
