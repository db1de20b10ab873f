"""What the block matrix and the joint kernel of a chain say of its laws in the long run."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated import CouplingMarkovChain
from chronodp.correlated.ageing import aged_law
from chronodp.correlated.joint import JointChain
from chronodp.correlated.spectrum import spectrum
from chronodp.correlated.tuning import stacked_law
from experiments.claims import computation
from experiments.correlated_sequences.chains import chain, random_chain
from experiments.correlated_sequences.leakages import distance

__all__ = [
    "by_blocks",
    "by_kernel",
    "cross_correlation",
    "influence",
    "leading",
    "product_distance",
    "second",
    "stationary",
    "still_apart",
]


@computation()
def by_blocks(seed: int) -> tuple[float, ...]:
    """Return all marginal laws one step after a drawn joint law, by the block matrix Q (eq. 5)."""
    model = random_chain(seed)
    before = _marginals(model, _drawn(seed))
    return tuple(np.asarray(model.block_matrix @ before).tolist())


@computation()
def by_kernel(seed: int) -> tuple[float, ...]:
    """Return the same by the kernel of whole snapshots."""
    model = random_chain(seed)
    return tuple(_marginals(model, JointChain(model).kernel @ _drawn(seed)).tolist())


@computation()
def leading(seed: int) -> tuple[float, float]:
    """Return the largest real part and the largest modulus of the eigenvalues of Q."""
    values = _eigenvalues(seed)
    return float(values.real.max()), float(np.abs(values).max())


@computation()
def second(model: CouplingMarkovChain) -> float:
    """Return the largest eigenvalue of Q on differences of laws: the rate at which laws forget."""
    return spectrum(model).second


@computation(**{"tells the coupling": lambda f: lambda coupling: tuple((1 + coupling) * part for part in f(coupling))})
def stationary(coupling: float) -> tuple[float, ...]:
    """Return π*, the stationary vector of marginal laws, of the paper's chain."""
    return tuple(stacked_law(chain(coupling)).ravel().tolist())


@computation()
def cross_correlation(coupling: float) -> float:
    """Return the correlation of the two sequences at one time in the stationary law."""
    joint = JointChain(chain(coupling))
    signs = 2 * joint.snapshots - 1
    law = joint.stationary
    return float(law @ (signs[:, 0] * signs[:, 1]) - (law @ signs[:, 0]) * (law @ signs[:, 1]))


@computation()
def still_apart(model: CouplingMarkovChain, steps: int) -> float:
    """Return how far the marginal laws are from the stationary ones so many steps after all began in state 0."""
    return _still_apart(model, steps)


@computation(**{"the joint law": lambda _: lambda coupling, age: distance(chain(coupling), age)})
def product_distance(coupling: float, age: int) -> float:
    """Return Δ_k if the aged snapshot had the product of its marginal laws, given the present."""
    joint = JointChain(chain(coupling))
    law = aged_law(joint, np.array([age, age])).reshape(2, 2, 2, 2)  # both then, both now
    product = law.sum(axis=1)[:, None] * law.sum(axis=0)[None]
    return float(np.abs(product[:, :, 0] - product[:, :, 1]).sum(axis=(0, 1)).max() / 2)


@computation(nothing=lambda _: lambda _own: 0.0)
def influence(own: float) -> float:
    """Return how much the next law of one sequence changes with the state of the other, at this self-coupling."""
    laws = chain(own).next_laws([[0, 0], [0, 1]])
    return float(np.abs(laws[0, 0] - laws[1, 0]).max())


@cache
def _still_apart(model: CouplingMarkovChain, steps: int) -> float:
    start = np.tile(np.eye(model.states)[0], model.sequences)
    law = np.linalg.matrix_power(model.block_matrix.toarray(), steps) @ start
    return float(np.abs(law - stacked_law(model).ravel()).max())


@cache
def _eigenvalues(seed: int) -> NDArray[np.complex128]:
    return np.asarray(np.linalg.eigvals(random_chain(seed).block_matrix.toarray()), dtype=np.complex128)


def _drawn(seed: int) -> NDArray[np.float64]:
    model = random_chain(seed)
    law: NDArray[np.float64] = np.random.default_rng([seed, 1]).dirichlet(np.ones(model.states**model.sequences))
    return law


def _marginals(model: CouplingMarkovChain, law: NDArray[np.float64]) -> NDArray[np.float64]:
    tensor = law.reshape((model.states,) * model.sequences)
    axes = range(model.sequences)
    return np.concatenate([tensor.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes])
