"""What a release of aged values with noise reveals about the present, and about the record it was made of."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from chronodp.correlated.ageing import Ages, check_ages
from chronodp.correlated.bounds.ceiling import group_spans
from chronodp.correlated.bounds.rounding import round_up
from chronodp.correlated.chain import CouplingMarkovChain
from chronodp.correlated.exact import Adversary, check_adversary
from chronodp.correlated.leakage_model import LeakageModel, Released
from chronodp.correlated.published import paper
from chronodp.correlated.query import Query, check_query, tabulate
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_epsilon, check_whole

__all__ = ["Leakage", "check_targets", "leakage"]

_PAPER_UP_TO = 256  # joint states of a group for which the paper's formulas are computed
_MOST_RELEASES = 10_000


@dataclass(frozen=True, slots=True)
class Leakage:
    """How much a release tells, as the largest change of log odds of any two states of one sequence.

    Attributes:
        exact: about the present, computed from the joint law; None where that is out of reach.
        certified: about the present, never too small: the exact value or the least bound, rounded up.
        certified_by: what certified it: "exact" or a bound's name.
        record: about the released record itself, when all other records are known: what differential privacy calls ε.
            For the adversary who knows none it is the group's ceiling. Ages do not help it: what is released at an age
            now is the record of that time.
        series: about all records of one sequence that the releases read.
        paper_theorem_1: d(k) Δ_k ε_C with the k of the paper's definition, which is no bound; None where the joint law
            is out of reach.
        paper_theorem_2: Δ̄ ε_C, which is no bound.
        target: the sequence about which most is told, from 0.
        adversary: what the adversary knows.
        each: certified, about each sequence asked for.
        reasons: why something was not computed exactly.
    """

    exact: float | None
    certified: float
    certified_by: str
    record: float
    series: float
    paper_theorem_1: float | None
    paper_theorem_2: float | None
    target: int
    adversary: Adversary
    each: tuple[float, ...]
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain numbers and texts."""
        return asdict(self)

    def __str__(self) -> str:
        who = "knows all others" if self.adversary == "knows_others" else "knows nothing else"
        how = "exact" if self.exact is not None else f"at most, by the {self.certified_by} bound"
        return (
            f"about the present: {self.certified:.4g} ({how}); about the released record: {self.record:.4g}; "
            f"against an adversary who {who}"
        )


def leakage(
    model: CouplingMarkovChain | LeakageModel,
    *,
    query: Query,
    ages: Ages,
    epsilon: float,
    adversary: Adversary = "knows_others",
    releases: int = 1,
    targets: tuple[int, ...] | None = None,
) -> Leakage:
    """Return what query(aged states) + Laplace noise of scale sensitivity / epsilon tells.

    ln p(y | a) / p(y | b), at its largest over outputs y, sequences and pairs of states a, b of the present, where y
    is read from sequence j at ``ages[j]`` periods ago.

    Guarantee: if the data follow the model, no output changes the log odds of two states of one sequence's present by
    more than ``certified``, for the adversary named. Whether or not they do, the release is ε_C-differentially
    private for one record. The argument stands in ``docs/explanation/proofs/correlated.md``.

    An older release is not always the safer one: of several sequences it may tell more about one of them. Of a single
    sequence it never does; `LeakageModel.any_pair` has what holds at an age and at every older one.

    Args:
        model: the chain; or a `LeakageModel` of it, for many calls.
        query: Mean(), Sum(), WeightedSum((…)), Maximum() or Several((…)).
        ages: how old what is read is, for all sequences or for each.
        epsilon: sensitivity of the query divided by the scale of the noise (ε_C).
        adversary: 'knows_others': the present of all other sequences of the group; 'knows_none': nothing of it. Either
            knows all about sequences outside the group.
        releases: how many in a row, one a period, are seen.
        targets: sequences to protect; all if not given.

    >>> from chronodp.correlated.query import Mean
    >>> model = CouplingMarkovChain([[0.99, 0.5], [0.01, 0.5]], [[1.0, 0.0], [0.0, 1.0]])
    >>> told = leakage(model, query=Mean(), ages=1, epsilon=1.0)
    >>> round(told.exact, 4), told.record, round(told.paper_theorem_1, 4)      # the paper's formula is below the truth
    (0.6031, 1.0, 0.49)
    """
    gauge = model if isinstance(model, LeakageModel) else LeakageModel(model)
    chain = gauge.model
    outputs = tabulate(check_query(query), chain.sequences, chain.states)
    each_age = check_ages(ages, chain.sequences)
    check_epsilon(epsilon)
    check_whole("releases", releases, most=_MOST_RELEASES)
    wanted = check_targets(targets, chain.sequences)
    released = Released(outputs, each_age, epsilon, releases)
    reading = gauge.measure(released, check_adversary(adversary))
    names = list(reading.bounds)
    table = np.stack([reading.bounds[name] for name in names])[:, wanted]
    certified = table.min(axis=0)
    worst = int(certified.argmax())
    known = reading.exact[wanted]
    record = float(released.shares[wanted].max()) * epsilon
    if adversary == "knows_none":
        record = float(round_up(group_spans(chain, outputs)[wanted]).max()) * epsilon
    formulas = _formulas(gauge, query, each_age, epsilon) if releases == 1 else (None, None)
    return Leakage(
        exact=None if np.isnan(known).any() else float(known.max()),
        certified=float(certified[worst]),
        certified_by=names[int(table[:, worst].argmin())],
        record=record,
        series=record * releases,
        paper_theorem_1=formulas[0],
        paper_theorem_2=formulas[1],
        target=int(wanted[worst]),
        adversary=adversary,
        each=tuple(certified.tolist()),
        reasons=reading.reasons,
    )


def check_targets(targets: tuple[int, ...] | None, sequences: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the sequences to protect."""
    if targets is None:
        return np.arange(sequences)
    if not isinstance(targets, tuple | list | range) or not targets:
        raise InvalidArgument("targets", targets, "numbers of sequences, from 0")
    return np.asarray([check_whole("targets", target, least=0, most=sequences - 1) for target in targets])


def _formulas(
    gauge: LeakageModel, query: Query, ages: np.ndarray[Any, np.dtype[np.int64]], epsilon: float
) -> tuple[float | None, float | None]:
    sizes = [len(joint.snapshots) for joint in gauge.joints.values()]
    if len(sizes) < len(gauge.groups) or max(sizes) > _PAPER_UP_TO:
        return None, None
    return (
        paper.theorem_1(gauge.model, query=query, ages=ages, epsilon=epsilon),
        paper.theorem_2(gauge.model, ages=ages, epsilon=epsilon),
    )
