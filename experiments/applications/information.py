"""What a snippet tells about a series: of the rest of it, and of the series that it is a part of."""

from __future__ import annotations

import math

import numpy as np

from chronodp.correlated import (
    CouplingMarkovChain,
    autoregressive_covariance,
    gaussian_information,
    snippet_entropy,
)
from experiments.claims import Claim, Tolerance, computation, falling, rising
from experiments.claims.computations import inverted

__all__ = ["information_claims"]

LENGTH, SNIPPET = 48, 6
MEMORIES = (0.0, 0.5, 0.8, 0.9, 0.98)
LEAVING = (0.5, 0.3, 0.1, 0.02)
PEOPLE, BITS = 500, 12


@computation(inverse=inverted)
def told_of_the_rest(memory: float) -> float:
    """Return, in nats, the information of six readings in the middle about the other 42 of an AR(1) series."""
    middle = (LENGTH - SNIPPET) // 2
    covariance = autoregressive_covariance(LENGTH, memory=memory)
    return gaussian_information(covariance, range(middle, middle + SNIPPET))


@computation()
def told_of_itself(leaving: float) -> float:
    """Return, in bits, the information of six readings about the binary series they are part of: their entropy."""
    chain = CouplingMarkovChain([[1 - leaving, leaving], [leaving, 1 - leaving]], [[1.0]])
    return snippet_entropy(chain, SNIPPET) / math.log(2)


@computation()
def singled_out_by_bits(leaving: float, runs: int = 40) -> float:
    """Return how many of 500 people twelve bits of their binary chains single out, simulated."""
    chance = np.random.default_rng(1)
    shares = []
    for _ in range(runs):
        flips = chance.random((PEOPLE, BITS)) < leaving
        flips[:, 0] = chance.random(PEOPLE) < 0.5
        bits = np.cumsum(flips, axis=1) % 2
        _, place, count = np.unique(bits @ (1 << np.arange(BITS)), return_inverse=True, return_counts=True)
        shares.append(np.mean(count[place] == 1))
    return float(np.mean(shares))


def information_claims() -> list[Claim]:
    """Return the claims on mutual information."""
    return [
        Claim(
            id="A17",
            source="applications",
            place="Applications, Wearable Sensors and Digital Phenotyping",
            says="Temporal correlation raises the mutual information between a small sample and the full sequence.",
            rule=rising,
            stated="rises with the correlation",
            tolerance=Tolerance(),
            readings={
                "the sequence itself (6 readings of a binary chain, in bits)": lambda: [
                    told_of_itself(leaving) for leaving in LEAVING
                ],
                "the rest of the sequence (6 of 48 readings of an AR(1) series, in nats)": lambda: [
                    told_of_the_rest(memory) for memory in MEMORIES
                ],
            },
            tokens=("increase the mutual information between a small sample of the data and the full sequence",),
            parameters="ours: a binary chain that leaves with 0.5, 0.3, 0.1, 0.02; AR(1) at ρ = 0, 0.5, 0.8, 0.9, 0.98",
        ),
        Claim(
            id="N25",
            source="applications",
            place="beside A17",
            says="The more a binary chain persists, the fewer of 500 people twelve of its bits single out.",
            rule=falling,
            stated="falls as the chain persists",
            readings={"leaving with 0.5, 0.3, 0.1": lambda: [singled_out_by_bits(leaving) for leaving in LEAVING[:3]]},
            origin="ours",
        ),
    ]
