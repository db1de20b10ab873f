"""The paper's chain, and what its numerical study computes."""

from __future__ import annotations

import math

import numpy as np

from chronodp.correlated import CouplingMarkovChain, Leakage, LeakageModel, Mean, leakage
from chronodp.correlated.bounds import aged_distances
from chronodp.correlated.joint import JointChain

COUPLINGS = (0.0, 0.25, 0.5, 0.75, 1.0)


def chain(coupling: float, stay: float = 0.7) -> CouplingMarkovChain:
    """Two binary sequences that keep their state with probability 0.7, self-coupling λ (eq. 25)."""
    return CouplingMarkovChain(
        [[stay, 1 - stay], [1 - stay, stay]], [[coupling, 1 - coupling], [1 - coupling, coupling]]
    )


def phi(coupling: float, age: int) -> float:
    """Definition 11: the largest total variation of the aged snapshot."""
    return float(aged_distances(JointChain(chain(coupling)), np.array([age, age])).max())


def told(coupling: float, age: int, epsilon: float) -> Leakage:
    return leakage(LeakageModel(chain(coupling)), query=Mean(), ages=age, epsilon=epsilon)


def exact(coupling: float, age: int, epsilon: float) -> float:
    found = told(coupling, age, epsilon).exact
    return math.nan if found is None else found


def realised_error(states: tuple[int, int], age: int, coupling: float = 0.75) -> float:
    """Mean squared error of a mean of known aged states, the present taken as two independent sequences."""
    laws = chain(coupling).block_matrix.toarray()
    now = np.eye(2)[list(states)].ravel()
    ones = (np.linalg.matrix_power(laws, age) @ now)[1::2]
    return float((sum(states) / 2 - ones.mean()) ** 2 + (ones * (1 - ones)).sum() / 4)
