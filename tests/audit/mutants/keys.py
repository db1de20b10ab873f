"""Mutants of rules that publish keys: each is a mistake that was made, in print or in a shipped library."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from chronodp.accounting import gaussian
from chronodp.audit.exact import Outcomes
from chronodp.audit.walked import Known
from chronodp.privacy import Claim, FailureCost, GaussianCost, LaplaceCost, SequenceCost, User, decimal_value
from chronodp.randomness import Entropy
from chronodp.selection.keys import Decided, Held, Peel, Round, Rounds, Weigh, threshold_for
from tests.audit.key_rules import Peeled, People, Weighted, ruled, weighted
from tests.audit.key_walks import gaussian_above, laplace_above
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS", "decide_by_true_weight", "tell_no_more"]

_ARGUMENT = "docs/explanation/proofs/keys.md"
_FAR = 6.0
_LONE: tuple[tuple[People, People], ...] = (((), ((0,),)),)


class _Laplace:
    """Entropy whose every noise is Laplace's."""

    seeded = True

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy

    def gaussian(self, scale: float, size: int) -> Any:
        return self._entropy.laplace(scale, size)


def decide_by_true_weight(rounds: tuple[Round, ...], hopeless: int | None, weigh: Weigh, entropy: Entropy) -> Decided:
    """Decide by two rounds that drop a key by its true weight: who is no longer dropped takes weight from others."""
    first, last = rounds
    weighed = weigh(None)
    noisy = weighed + entropy.gaussian(first.scale, len(weighed))
    found = noisy >= first.threshold
    dropped = found | (weighed < (hopeless or 0))
    again = weigh(dropped) + entropy.gaussian(last.scale, len(weighed))
    return Decided(found | ~dropped & (again >= last.threshold), np.where(found, noisy, again), found)


def tell_no_more(drawn: tuple[int, ...], table: tuple[int, ...]) -> tuple[int, ...]:
    """Say that no candidate was left, in place of the stop."""
    return (*drawn, -1) if len(drawn) == sum(count > 0 for count in table) else drawn


@dataclass(frozen=True)
class _Declared:
    """Whether the noisy count of a declared key reaches a threshold: looked at whether or not anybody holds it."""

    one: Round

    def __call__(self, people: People, *, entropy: Entropy) -> bool:
        return len(people) + int(entropy.laplace(self.one.scale, 1)[0]) >= self.one.threshold

    def law(self, people: People) -> Outcomes:
        reached = laplace_above(self.one.scale, self.one.threshold - len(people))
        return Outcomes.of({True: reached, False: 1 - reached}, Fraction(0))


def _several_keys() -> Mutant:
    sound = ruled(1.0, 0.05, 2)
    pair: People = ((0, 1),)
    return Mutant(
        name="one-key rule where people hold two keys",
        claim=Claim(User(), sound.rule.cost, _ARGUMENT),
        epsilon=1.0,
        delta=0.05,
        sound=sound,
        broken=ruled(1.0, 0.05, 1),
        neighbours=tuple((pair * people, pair * (people + 1)) for people in range(5)),
        checks=(Known(),),
    )


def _threshold_of_one() -> Mutant:
    rule = Rounds(0.5, 0.01, 3)
    parts = zip(rule.rounds, (decimal_value(0.002), decimal_value(0.008)), strict=True)
    low = tuple(Round(one.scale, threshold_for(one.scale, part, Held(rule.weights[:1]))) for one, part in parts)
    return Mutant(
        name="threshold of one key where people hold three",
        claim=Claim(User(), rule.cost, _ARGUMENT),
        epsilon=_FAR,
        delta=rule.delta + gaussian.delta_of(rule.mu, _FAR),
        sound=weighted(rule),
        broken=Weighted(low, rule.hopeless, rule.weights),
        neighbours=(((), ((0, 1, 2),)),),
        checks=(Known(),),
    )


def _rounded_down() -> Mutant:
    scale, threshold = 4.225101357215768, 21.083699498630054  # 1 + σ z(1e-6), as for real numbers
    sound = Weighted((Round(scale, math.ceil(threshold + 0.5)),), None, (1,), gaussian_above)
    return Mutant(
        name="threshold rounded down for whole-number noise",
        claim=Claim(User(), SequenceCost((GaussianCost(1.0, scale), FailureCost(1e-6))), _ARGUMENT),
        epsilon=_FAR,
        delta=1e-6 + gaussian.delta_of(1 / scale, _FAR),
        sound=sound,
        broken=replace(sound, rounds=(Round(scale, math.floor(threshold)),)),
        neighbours=_LONE,
        checks=(Known(),),
    )


def _boundary() -> Mutant:
    scale, delta = 1.0, 1e-6
    least = math.ceil(1.5 - scale * math.log(2 * delta))  # P(1 + noise ≥ t) = ½ e^-((t - 3/2) / scale)
    sound = Weighted((Round(scale, least),), None, (1,), laplace_above, drawing=_Laplace)
    return Mutant(
        name="published at the threshold, its probability counted above it",
        claim=Claim(User(), SequenceCost((LaplaceCost(1.0, scale), FailureCost(delta))), _ARGUMENT),
        epsilon=1 / scale,
        delta=delta,
        sound=sound,
        broken=replace(sound, rounds=(Round(scale, least - 1),)),
        neighbours=_LONE,
        checks=(Known(),),
    )


def _true_weight() -> Mutant:
    # 12, 11 and 4 steps, weights 3, 2, 1: one unit moves 4 steps in l1, in each of two rounds.
    scale, thresholds = 1 / 0.35, (12, 11)
    sound = Weighted(tuple(Round(scale, one) for one in thresholds), 4, (3, 2, 1), laplace_above, drawing=_Laplace)
    lone = max(
        1 - math.prod(float(1 - laplace_above(scale, one - weight)) ** keys for one in thresholds)
        for keys, weight in enumerate(sound.weights, 1)
    )
    three: People = ((0, 1, 2),) * 3
    return Mutant(
        name="hopeless by true weight",
        claim=Claim(User(), SequenceCost((LaplaceCost(4.0, scale),) * 2 + (FailureCost(lone),)), _ARGUMENT),
        epsilon=2.8,
        delta=lone,
        sound=sound,
        broken=replace(sound, deciding=decide_by_true_weight),
        neighbours=((three, (*three, (0,))),),
        checks=(Known(),),
    )


def _stop_told_apart() -> Mutant:
    sound = Peeled(Peel(0.5, 0.02, 2, 2))
    return Mutant(
        name="the end of the candidates told apart from the stop",
        claim=Claim(User(), sound.peel.cost, _ARGUMENT),
        epsilon=1.0,
        delta=0.02,
        sound=sound,
        broken=replace(sound, ending=tell_no_more),
        neighbours=(((0, 0), (0, 1)),),
        checks=(Known(),),
    )


def _booked_as_pure() -> Mutant:
    one = Round(1.0, 15)
    return Mutant(
        name="Laplace noise and a threshold, booked as pure",
        claim=Claim(User(), LaplaceCost(1.0, one.scale), _ARGUMENT),
        sound=_Declared(one),
        broken=Weighted((one,), None, (1,), laplace_above, drawing=_Laplace),
        neighbours=_LONE,
        checks=(Known(),),
    )


MUTANTS: tuple[Mutant, ...] = (
    _several_keys(),
    _threshold_of_one(),
    _rounded_down(),
    _boundary(),
    _true_weight(),
    _stop_told_apart(),
    _booked_as_pure(),
)
