"""What a guarantee means to someone who guesses: odds, tails of the loss, total variation."""

from __future__ import annotations

import math
from functools import partial

from chronodp.accounting import adversary, gaussian, loss
from chronodp.audit.exact import examine
from chronodp.privacy import GaussianCost
from experiments.claims import Claim, Pair, Tolerance, bound, computation, equal
from experiments.textbook.responses import leaky, respond

__all__ = ["interpretation_claims"]

PLACE = "Principles and Mechanisms, Interpreting the Privacy Guarantee"
GUARANTEES = ((1.0, 1e-5), (0.1, 1e-5), (0.01, 1e-5))
_BEYOND = (0.01, 0.1, 0.5, 1.0)


@computation()
def belief_after(prior: float) -> float:
    """Return the belief in one of two bits after an answer three times as likely under it, by the rule of odds."""
    ratio = examine(respond, [(0, 1)]).ratio
    return adversary.posterior(prior, math.log(ratio)) if ratio else 1.0


@computation()
def belief_by_bayes(prior: float) -> float:
    """Return the same belief from the joint probabilities, enumerated."""
    first, second = examine(respond, [(0, 1)]).pairs[0]
    joint = prior * float(first.probabilities[0]), (1 - prior) * float(second.probabilities[0])
    return joint[0] / sum(joint)


@computation()
def beyond(epsilon: float, delta: float, threshold: float) -> float:
    """Return the probability that the loss exceeds a threshold, for Gaussian noise that meets (ε, δ) exactly."""
    return loss(GaussianCost(sensitivity=1.0, sigma=gaussian.sigma(epsilon, delta))).tail(threshold)


@computation()
def proved_tail(epsilon: float, delta: float, threshold: float) -> float:
    """Return δ / (1 − e^(ε−ε′)), which no tail of the loss exceeds at ε′ > ε."""
    return adversary.odds_tail(epsilon, delta, threshold)


@computation()
def enumerated_variation() -> float:
    """Return the total variation of the response that leaks one time in fifty."""
    return examine(leaky, [(0, 1)]).delta(0.0)[1]


@computation()
def printed_bound(epsilon: float, delta: float) -> float:
    """Return (e^ε − 1)/(e^ε + 1) (1 − δ) + δ."""
    return adversary.total_variation(epsilon, delta)


def interpretation_claims() -> list[Claim]:
    """Return the claims on odds and total variation."""
    claim = partial(Claim, source="textbook", place=PLACE)
    return [
        claim(
            id="T20",
            says="Odds after an output are e^loss times the odds before.",
            rule=equal,
            stated="an identity",
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "against Bayes, enumerated": lambda: [
                    Pair(belief_after(prior), belief_by_bayes(prior), f"prior {prior:g}") for prior in (0.2, 0.01, 0.9)
                ]
            },
            tokens=(r"\Lambda_1 = \exp(L(o)) \Lambda_0",),
            parameters="ours: a response at e^ε = 3, three priors",
        ),
        claim(
            id="T21",
            says="With probability at least 1 − Σ δ the loss lies within ± Σ ε.",
            rule=bound,
            stated="P(loss > ε) / δ at most 1",
            readings={
                "Gaussian noise that meets (ε, δ)": lambda: [_failures(epsilon, delta) for epsilon, delta in GUARANTEES]
            },
            tokens=(r"1 - \sum \delta_t", r"[-\sum \epsilon_t, \sum \epsilon_t]"),
            parameters="ours: (1, 1e-5), (0.1, 1e-5), (0.01, 1e-5)",
            note="The Chinese text says the same of one release.",
        ),
        claim(
            id="T22",
            says="Except with a small probability of failure the odds move by at most e^(Σ ε).",
            rule=bound,
            stated="P(loss > ε′) / probability of failure at most 1",
            readings={
                "ε′ = ε, failing with δ": lambda: [_failures(epsilon, delta) for epsilon, delta in GUARANTEES],
                "any ε′ above ε, failing with δ/(1 − e^(ε−ε′))": lambda: [
                    Pair(
                        beyond(epsilon, delta, epsilon + more) / proved_tail(epsilon, delta, epsilon + more),
                        1.0,
                        f"({epsilon:g}, {delta:g}), ε′ = ε + {more:g}",
                    )
                    for epsilon, delta in GUARANTEES
                    for more in _BEYOND
                ],
            },
            tokens=("except with a small failure probability",),
            parameters="ours: (1, 1e-5), (0.1, 1e-5), (0.01, 1e-5)",
        ),
        claim(
            id="T23",
            place=f"{PLACE}, formula of TV",
            says="Total variation under (ε, δ) is at most (e^ε − 1)/(e^ε + 1) (1 − δ) + δ.",
            rule=bound,
            stated="at most the formula",
            readings={
                "a response at ln 3 that leaks one time in fifty": lambda: [
                    Pair(enumerated_variation(), printed_bound(math.log(3), 0.02), "(ln 3, 0.02)")
                ]
            },
            tokens=(r"(1 - \delta_{\mathrm{tot}}) + \delta_{\mathrm{tot}}",),
            parameters="ours: (ln 3, 0.02)",
        ),
        claim(
            id="N11c",
            place="in place of T21",
            says="For ε′ above ε the loss exceeds ε′ with probability at most δ/(1 − e^(ε−ε′)).",
            rule=bound,
            stated="at most the formula",
            readings={
                "Gaussian noise that meets (1, 1e-5)": lambda: [
                    Pair(beyond(1.0, 1e-5, 1.0 + more), proved_tail(1.0, 1e-5, 1.0 + more), f"ε′ = {1 + more:g}")
                    for more in _BEYOND
                ]
            },
            origin="ours",
        ),
    ]


def _failures(epsilon: float, delta: float) -> Pair:
    return Pair(beyond(epsilon, delta, epsilon) / delta, 1.0, f"({epsilon:g}, {delta:g})")
