"""Random chains of many temperaments, as tests draw them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated import CouplingMarkovChain, Maximum, Mean, Query, Sum, WeightedSum

PAPER = ((0.7, 0.3), (0.3, 0.7))


@dataclass(frozen=True, eq=False)
class Case:
    transitions: NDArray[np.float64]
    coupling: NDArray[np.float64]
    query: Query
    ages: tuple[int, ...]
    epsilon: float

    @cached_property
    def model(self) -> CouplingMarkovChain:
        return CouplingMarkovChain(self.transitions, self.coupling)


def draw(chance: np.random.Generator, *, most: int = 4, oldest: int = 3) -> Case:
    """A chain of up to ``most`` sequences of 2 or 3 states: even or sharp, dense or sparse, loose or tight."""
    s, m = int(chance.integers(1, most + 1)), int(chance.integers(2, 4))
    if s == 4 and chance.random() < 0.8:
        m = 2
    transitions = chance.dirichlet(np.full(m, chance.choice([0.2, 1.0, 5.0])), size=(s, s, m)).swapaxes(2, 3)
    transitions = np.maximum(transitions, 1e-6)
    transitions /= transitions.sum(axis=2, keepdims=True)
    coupling = chance.dirichlet(np.full(s, chance.choice([0.3, 1.0])), size=s)
    kind = chance.random()
    if kind < 0.25:
        coupling = np.where(coupling < coupling.max(axis=1, keepdims=True) / 2, 0.0, coupling)
        coupling /= coupling.sum(axis=1, keepdims=True)
    elif kind < 0.5:
        coupling = 0.05 * coupling + 0.95 * np.eye(s)
    weights = tuple(float(part) + 0.5 for part in chance.integers(-3, 4, size=s))
    query = (Mean(), Sum(), Maximum(), WeightedSum(weights))[int(chance.integers(4))]
    ages = tuple(int(age) for age in chance.integers(0 if chance.random() < 0.3 else 1, oldest + 1, size=s))
    return Case(transitions, coupling, query, ages, float(chance.choice([0.1, 0.5, 1.0, 3.0, 8.0])))


def two(coupling: float, matrix: object = PAPER) -> CouplingMarkovChain:
    """The paper's two sequences with self-coupling λ."""
    return CouplingMarkovChain(matrix, [[coupling, 1 - coupling], [1 - coupling, coupling]])  # type: ignore[arg-type]


def draw_extreme(chance: np.random.Generator) -> Case:
    """A chain of few sequences whose probabilities are tiny, 0 or next to 1: slow ones, and states never entered."""
    s, m = ((1, 2), (1, 3), (2, 2), (2, 2), (2, 3), (3, 2))[int(chance.integers(6))]
    small = 10.0 ** -(chance.choice([2.0, 15.0, 60.0, 150.0, 300.0]) * chance.random((s, s, m, m)))
    kind = chance.random()
    if kind < 0.25:  # slow: everyone stays where it is, or where the one it hears is
        transitions = np.where(np.eye(m, dtype=bool), 1.0, small)
    elif kind < 0.5:  # one column decides, so that other states are rare whatever came before
        transitions = np.where(np.arange(m)[:, None] == chance.integers(m, size=(s, s, 1, 1)), 1.0, small)
    else:
        transitions = small
    transitions = np.where(chance.random(transitions.shape) < chance.choice([0.0, 0.0, 0.2]), 0.0, transitions)
    if m == 3 and chance.random() < 0.3:
        transitions[:, :, int(chance.integers(m)), :] = 0.0
    empty = transitions.sum(axis=2, keepdims=True) == 0
    transitions = np.where(empty, 1 / m, transitions)
    transitions /= transitions.sum(axis=2, keepdims=True)
    coupling = 10.0 ** -(chance.choice([0.5, 2.0, 20.0]) * chance.random((s, s)))
    coupling /= coupling.sum(axis=1, keepdims=True)
    weights = tuple(float(part) + 0.5 for part in chance.integers(-3, 4, size=s))
    query = (Mean(), Sum(), Maximum(), WeightedSum(weights))[int(chance.integers(4))]
    ages = tuple(int(age) for age in chance.integers(0 if chance.random() < 0.2 else 1, 4, size=s))
    return Case(transitions, coupling, query, ages, float(chance.choice([0.1, 1.0, 8.0, 200.0])))
