"""A model from private series: noisy counts of transitions are released once, and a model is fitted to them.

"A private fit" of ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.correlated.chain import CouplingMarkovChain, Integers
from chronodp.correlated.fit import Patterns, check_hears, check_series, fit_patterns
from chronodp.correlated.fran.present import ARGUMENT, ONE_RECORD
from chronodp.errors import InvalidArgument
from chronodp.ledger import Ledger, SignedLink, check_ledger
from chronodp.privacy import Certificate, Claim, Guarantee, LaplaceCost, check_epsilon
from chronodp.randomness import Entropy, check_entropy

__all__ = ["PrivateFit", "fit_privately", "record_reach"]

_MOST_CELLS = 1_000_000
_WIDEST, _NARROWEST = 2.0**30, 2.0**-30  # counts: the scales of noise that the sampler draws


@dataclass(frozen=True, slots=True)
class PrivateFit:
    """A model fitted to noisy counts, and what was released to fit it.

    Attributes:
        model: the likeliest chain, public from then on.
        text: the noisy counts, as they were stored and signed.
        signed: their link in the dataset's chain of certificates.
    """

    model: CouplingMarkovChain
    text: str = field(repr=False)
    signed: SignedLink = field(repr=False)

    @property
    def certificate(self) -> Certificate:
        """What is promised, by which argument."""
        return self.signed.link.certificate


def fit_privately(
    series: ArrayLike,
    *,
    states: int,
    hears: ArrayLike | None = None,
    epsilon: float,
    ledger: Ledger,
    dataset: str,
    request: str,
    analyst: str = "",
    entropy: Entropy | None = None,
) -> PrivateFit:
    """Return a model of private series, fitted to counts of all patterns with Laplace noise.

    Counted is, for each sequence, how often it went to u after those it hears were in states v. One changed record
    moves one count of its own table and one of every sequence that hears it, down in one cell and up in another: an
    l1 change of at most 2 (1 + how many hear it).

    Guarantee: epsilon-differentially private for one record, replaced; who may hear whom is public. The same request
    again returns the same model. Fitting to the noisy counts is post-processing.

    Args:
        series: states from 0, as length × sequences or runs × length × sequences.
        states: how many there are.
        hears: who may hear whom; everyone everyone if not given.
        epsilon: of the release of counts.
        ledger: what pays.
        dataset: whose budget pays.
        request: an id of the caller's choice, once for each release.
        analyst: whose part of the budget pays.
        entropy: of the noise; secure unless a test says otherwise.
    """
    rows = check_series(series, states)
    mask = check_hears(hears, rows.shape[2])
    check_epsilon(epsilon)
    check_ledger(ledger)
    bits = check_entropy(entropy)
    heard = mask.sum(axis=1).tolist()
    if sum(states ** (1 + count) for count in heard) > _MOST_CELLS:
        allowed = f"fewer ties: at most {_MOST_CELLS:,} counts of patterns in all"
        raise InvalidArgument("hears", f"{max(heard)} heard by one", allowed)
    reach = record_reach(mask)
    if not _NARROWEST < reach / epsilon < _WIDEST:  # refused here: after the debit it would be lost
        raise InvalidArgument("epsilon", epsilon, f"from {reach / _WIDEST:.1e} to {reach / _NARROWEST:.1e}")
    cost = LaplaceCost(sensitivity=float(reach), scale=reach / epsilon * (1 + 1e-15))
    certificate = Certificate(
        mechanism=f"counts of transitions of {rows.shape[2]} sequences with Laplace noise",
        claim=Claim(ONE_RECORD, cost, ARGUMENT),
        guarantee=Guarantee(ONE_RECORD, epsilon),
        theorem="Laplace mechanism",
        precision="whole numbers",
        seeded=bits.seeded,
    ).after("a coupling Markov chain fitted by maximum likelihood")
    tables = [_full_counts(rows, j, np.flatnonzero(mask[j]), states) for j in range(rows.shape[2])]

    def produce() -> tuple[str, Certificate]:
        noisy = [(table + bits.laplace(cost.scale, table.shape)).tolist() for table in tables]
        return json.dumps(noisy), certificate

    # Numbers of numpy have no form in JSON; plain ones keep theirs, by which stored requests are found.
    plan = json.dumps({"states": states, "hears": mask.tolist(), "epsilon": epsilon}, default=float)
    made = ledger.fulfil(
        dataset,
        request=request,
        cost=cost,
        unit=ONE_RECORD,
        plan=plan,
        source=ledger.keys.fingerprint(rows.tobytes(), of=("correlated fit", dataset, request)),
        produce=produce,
        analyst=analyst,
    )
    patterns = [_patterns(counts, np.flatnonzero(mask[j]), states) for j, counts in enumerate(json.loads(made.release))]
    return PrivateFit(fit_patterns(patterns, states).model, made.release, made.signed)


def record_reach(hears: NDArray[np.bool_]) -> int:
    """Return the most that one record changes all counts together, in l1: 2 (1 + how many hear it).

    >>> record_reach(np.array([[True, True], [False, True]]))      # sequence 1 is heard by both
    6
    """
    return 2 * (1 + int(hears.sum(axis=0).max()))


def _full_counts(rows: Integers, sequence: int, hears: Integers, states: int) -> Integers:
    """Counts of every pattern there is, seen or not, the next state counting fastest."""
    places = states ** np.arange(len(hears), -1, -1)
    joint = np.concatenate([rows[:, :-1, hears], rows[:, 1:, sequence : sequence + 1]], axis=2)
    numbers = (joint @ places).ravel()
    return np.bincount(numbers, minlength=states ** (len(hears) + 1)).astype(np.int64)


def _patterns(counts: list[int], hears: Integers, states: int) -> Patterns:
    every = np.asarray(list(itertools.product(range(states), repeat=len(hears) + 1)), dtype=np.int64)
    # A hundredth of a record in every cell: what was never seen is unlikely, not impossible.
    weights = np.maximum(np.asarray(counts, dtype=np.float64), 0.0) + 0.01
    return Patterns(hears, every[:, :-1], every[:, -1], weights)
