"""How fast a chain forgets: eigenvalues of its block matrix, and the time until no start can be told any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.chain import CouplingMarkovChain, Floats
from chronodp.correlated.joint import JointChain
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_fraction

__all__ = ["Spectrum", "mixing_time", "spectrum"]

_DENSE = 1_200  # rows up to which all eigenvalues are computed
_FEW = 6
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Eigenvalues of the block matrix Q on differences of laws, largest modulus first.

    The eigenvalues by which total probability is kept (1, and those of the coupling alone) are not among them.

    Attributes:
        values: all of them, or the few largest of a large model.
        second: the largest modulus: each sequence's law forgets where it began at this rate.
        notes: what does not hold because of it.
    """

    values: tuple[complex, ...]
    second: float
    notes: tuple[str, ...]


def spectrum(model: CouplingMarkovChain) -> Spectrum:
    """Return how the laws of all sequences forget, and what does not hold if they do not.

    An eigenvalue 1 means several stationary laws (reducible); another of modulus 1, a chain that swings (periodic).

    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
    >>> spectrum(model).second
    0.4
    """
    m, s = model.states, model.sequences
    # Laws of one sequence differ by numbers that add up to 0: in terms of all states but the last, Q is this.
    inner = model.moves[:, :-1, :-1] - model.moves[:, :-1, -1:]
    size = s * (m - 1)
    if size <= _DENSE:
        matrix = np.zeros((s, m - 1, s, m - 1))
        matrix[model.heads, :, model.tails] = inner
        values = np.linalg.eigvals(matrix.reshape(size, size))
    else:
        values = _largest(model, inner, size)
    values = values[np.argsort(-np.abs(values), kind="stable")]
    notes = []
    if np.any(np.abs(values - 1) < 1e-9):
        notes.append("several stationary laws: where the chain began decides, and exact leakage is not defined")
    if np.any((np.abs(values) > 1 - 1e-9) & (np.abs(values - 1) >= 1e-9)):
        notes.append("a swing that never dies: ageing need not protect, however long")
    return Spectrum(tuple(complex(value) for value in values), float(np.abs(values).max().round(12)), tuple(notes))


def _largest(model: CouplingMarkovChain, inner: Floats, size: int) -> NDArray[np.complex128]:
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import ArpackNoConvergence, eigs

    width = inner.shape[1]
    rows = np.broadcast_to(model.heads[:, None, None] * width + np.arange(width)[:, None], inner.shape)
    columns = np.broadcast_to(model.tails[:, None, None] * width + np.arange(width), inner.shape)
    matrix = coo_array((inner.ravel(), (rows.ravel(), columns.ravel())), shape=(size, size)).tocsr()
    start = np.random.default_rng(1).random(size)
    found: Any
    try:
        found = eigs(matrix, k=_FEW, which="LM", v0=start, tol=1e-6, maxiter=500, return_eigenvectors=False)
    except ArpackNoConvergence as stopped:
        found = stopped.eigenvalues
    if not len(found):  # crowded spectra do not settle: the largest column sum bounds every modulus
        found = [float(abs(matrix).sum(axis=0).max())]
    return np.asarray(found, dtype=np.complex128)


def mixing_time(model: CouplingMarkovChain, *, distance: float = 0.25) -> int:
    """Return after how many steps the joint law is within a total variation of its stationary one from any start.

    >>> mixing_time(CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]]))
    1
    """
    check_fraction("distance", distance)
    joint = JointChain(model)
    law = joint.stationary[:, None]
    if joint.period > 1:
        raise InvalidArgument("model", model, f"a chain that settles; this one returns every {joint.period} steps only")
    now = joint.kernel
    for steps in range(1, _LONGEST):
        if np.abs(now - law).sum(axis=0).max() / 2 <= distance:
            return steps
        now = joint.kernel @ now
    raise InvalidArgument("model", model, f"a chain that settles within {_LONGEST:,} steps")
