"""Interpreting the guarantee: the loss variable, odds and total variation."""

from __future__ import annotations

import math

from chronodp.accounting import adversary, gaussian, loss
from chronodp.audit.exact import examine
from chronodp.privacy import GaussianCost
from chronodp.randomness import Entropy
from experiments.verdicts import Verdict


def check() -> list[Verdict]:
    return [_posterior_odds(), *_odds_except_with_probability_delta(), _total_variation()]


def _posterior_odds() -> Verdict:
    def respond(bit: int, *, entropy: Entropy) -> int:
        return bit ^ int(not entropy.coins(3, 4))

    first, second = examine(respond, [(0, 1)]).pairs[0]
    prior = 0.2
    joint = (prior * float(first.probabilities[0]), (1 - prior) * float(second.probabilities[0]))
    by_bayes = joint[0] / sum(joint)
    ours = adversary.posterior(prior, math.log(first.probabilities[0] / second.probabilities[0]))
    return Verdict(
        "odds after = e^loss × odds before; prior 0.2, an answer 3 times as likely",
        "an identity",
        f"{ours:.6f}; by Bayes {by_bayes:.6f}",
        "holds" if math.isclose(ours, by_bayes) else "false",
    )


def _odds_except_with_probability_delta() -> list[Verdict]:
    verdicts = []
    for epsilon, delta in ((1.0, 1e-5), (0.1, 1e-5)):
        variable = loss(GaussianCost(sensitivity=1.0, sigma=gaussian.sigma(epsilon, delta)))
        often = variable.tail(epsilon)
        verdicts.append(
            Verdict(
                f"the odds move by at most e^ε except with probability δ; ({epsilon:g}, {delta:g})",
                f"P(loss > ε) ≤ δ = {delta:g}",
                f"Gaussian noise that exactly meets (ε, δ): {often:.3g} = {often / delta:.0f} δ",
                "false" if often > delta else "holds",
            )
        )
    epsilon, delta = 1.0, 1e-5
    variable = loss(GaussianCost(sensitivity=1.0, sigma=gaussian.sigma(epsilon, delta)))
    steps = (0.01, 0.1, 0.5, 1.0)
    true = all(variable.tail(epsilon + step) <= adversary.odds_tail(epsilon, delta, epsilon + step) for step in steps)
    verdicts.append(
        Verdict(
            "what is true in its place: P(loss > ε′) ≤ δ / (1 - e^(ε-ε′)) for ε′ > ε",
            "(not in the chapter)",
            f"at ε′ = ε + 0.1: {variable.tail(1.1):.3g} ≤ {adversary.odds_tail(1.0, 1e-5, 1.1):.3g}",
            "holds" if true else "false",
        )
    )
    return verdicts


def _total_variation() -> Verdict:
    def leaky(bit: int, *, entropy: Entropy) -> object:
        return ("leak", bit) if entropy.coins(1, 50) else bit ^ int(not entropy.coins(3, 4))

    exact = examine(leaky, [(0, 1)]).delta(0.0)[1]
    bound = adversary.total_variation(math.log(3), 0.02)
    return Verdict(
        "TV ≤ (e^ε - 1)/(e^ε + 1) (1 - δ) + δ; (ln 3, 0.02)",
        f"{bound:.6g}",
        f"{exact:.6g} for a response that leaks one time in fifty: attained",
        "holds" if exact <= bound * (1 + 1e-12) else "false",
    )
