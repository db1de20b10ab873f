"""What other definitions say of the same release: the paper's baselines, as they are published.

Each answers a question of its own. Only the group ceiling and exact or certified leakage bound what the release tells
about the present when sequences hang together; the others are shown so that their numbers can be compared, and are no
bounds here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronodp.correlated.ageing import Ages, check_ages
from chronodp.correlated.bounds.ceiling import group_spans
from chronodp.correlated.bounds.total_variation import aged_distances, from_distance
from chronodp.correlated.chain import CouplingMarkovChain, Floats
from chronodp.correlated.joint import JointChain
from chronodp.correlated.leakage import leakage
from chronodp.correlated.leakage_model import LeakageModel
from chronodp.correlated.query import Query, check_query, tabulate
from chronodp.privacy import check_epsilon

__all__ = [
    "Published",
    "age_dependent",
    "compare_definitions",
    "correlated",
    "dependent",
    "group_ceiling",
    "plain_laplace",
]


@dataclass(frozen=True, slots=True)
class Published:
    """One definition's number for a release.

    Attributes:
        name: of the definition.
        epsilon: what it says.
        bounds_present: whether it bounds what is told about the present of coupled sequences.
        says: what it is a statement about.
    """

    name: str
    epsilon: float
    bounds_present: bool
    says: str


def plain_laplace(epsilon: float) -> float:
    """Return ε_C: what differential privacy says of one record when all others are fixed."""
    return check_epsilon(epsilon)


def age_dependent(model: CouplingMarkovChain, *, ages: Ages, epsilon: float) -> float:
    """Return ln(1 + Δ(A) (e^ε_C - 1)) with each sequence taken as a chain by itself, P^(ii) alone.

    Right for sequences that hear nobody else; a sequence that does not hear itself is taken to forget nothing.

    References:
        Zhang, Wei, Berry, Huang (2023), Age-dependent differential privacy.

    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.5, 0.5], [0.5, 0.5]])
    >>> round(age_dependent(model, ages=1, epsilon=1.0), 4)
    0.5231
    """
    each = check_ages(ages, model.sequences)
    distances = np.ones(model.sequences)
    for edge in np.flatnonzero(model.heads == model.tails):
        j = int(model.heads[edge])
        alone = JointChain(CouplingMarkovChain(model.moves[edge] / model.weights[edge], [[1.0]]))
        if len(alone.closed_classes) == 1:
            distances[j] = aged_distances(alone, each[j : j + 1])[0]
    return float(from_distance(distances, np.full(model.sequences, check_epsilon(epsilon))).max())


def dependent(model: CouplingMarkovChain, *, query: Query, epsilon: float) -> float:
    """Return ε_C max_i Σ_j ρ_ij w_j, ρ_ij the largest change of x_j's law with x_i, in one period: age is not seen.

    References:
        Zhao, Zhang, Poor (2017), Dependent differential privacy for correlated data.
    """
    return _inflated(model, query, epsilon, _dependence(JointChain(model)))


def correlated(model: CouplingMarkovChain, *, query: Query, epsilon: float) -> float:
    """Return ε_C max_i Σ_j |corr(x_i, x_j)| w_j: correlated sensitivity, in one period.

    References:
        Zhang, Zhu, Liu, Zhou (2021), Correlated data in differential privacy: definition and analysis.
    """
    joint = JointChain(model)
    numbers = joint.snapshots - joint.stationary @ joint.snapshots
    covariance = (numbers * joint.stationary[:, None]).T @ numbers
    spread = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        return _inflated(model, query, epsilon, np.nan_to_num(np.abs(covariance / np.outer(spread, spread))))


def group_ceiling(model: CouplingMarkovChain, *, query: Query, epsilon: float) -> float:
    """Return d ε_C: the whole group changes at once. A bound, whatever the chain and the ages."""
    outputs = tabulate(check_query(query), model.sequences, model.states)
    return float(group_spans(model, outputs).max()) * check_epsilon(epsilon)


def compare_definitions(
    model: CouplingMarkovChain | LeakageModel, *, query: Query, ages: Ages, epsilon: float
) -> list[Published]:
    """Return every definition's number for one release; those that need the joint law only where it can be listed."""
    gauge = model if isinstance(model, LeakageModel) else LeakageModel(model)
    chain = gauge.model
    told = leakage(gauge, query=query, ages=ages, epsilon=epsilon)
    blind = leakage(gauge, query=query, ages=ages, epsilon=epsilon, adversary="knows_none")
    found = [
        Published("leakage, all others known", told.certified, True, f"the present, by {told.certified_by}"),
        Published("leakage, nothing else known", blind.certified, True, f"the present, by {blind.certified_by}"),
        Published("group ceiling", group_ceiling(chain, query=query, epsilon=epsilon), True, "the group as a whole"),
        Published("plain Laplace", plain_laplace(epsilon), False, "one record, all others fixed"),
        Published(
            "age-dependent", age_dependent(chain, ages=ages, epsilon=epsilon), False, "a sequence that hears nobody"
        ),
    ]
    if chain.states**chain.sequences <= gauge.largest and JointChain(chain).has_law:
        found += [
            Published("dependent", dependent(chain, query=query, epsilon=epsilon), False, "one period, no age"),
            Published("correlated", correlated(chain, query=query, epsilon=epsilon), False, "one period, no age"),
        ]
    for name, formula in (("Theorem 1", told.paper_theorem_1), ("Theorem 2", told.paper_theorem_2)):
        if formula is not None:
            found.append(Published(f"the paper's {name}", formula, False, "refuted: it can lie below the truth"))
    return found


def _dependence(joint: JointChain) -> Floats:
    count, m = joint.model.sequences, joint.model.states
    weight = joint.stationary.reshape(joint.shape)
    found = np.eye(count)
    for i in range(count):
        for j in range(count):
            if i != j:
                others = tuple(axis for axis in range(count) if axis not in (i, j))
                pair = weight.sum(axis=others) if i < j else weight.sum(axis=others).T
                with np.errstate(invalid="ignore", divide="ignore"):
                    given = np.nan_to_num(pair / pair.sum(axis=1, keepdims=True))
                found[i, j] = max(np.abs(given[a] - given[b]).sum() / 2 for a in range(m) for b in range(m))
    return found


def _inflated(model: CouplingMarkovChain, query: Query, epsilon: float, ties: Floats) -> float:
    outputs = tabulate(check_query(query), model.sequences, model.states)
    return float((ties @ (outputs.changes / outputs.sensitivity)).max()) * check_epsilon(epsilon)
