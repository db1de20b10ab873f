"""What a release tells about the present: exactly (Definition 6), and by the paper's formulas.

The library's answers are kept; each computation hands on what was kept, so that a broken one costs no second look.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Mean, Query
from chronodp.correlated.bounds import aged_distances, from_distance
from chronodp.correlated.exact import exact_leakage
from chronodp.correlated.joint import JointChain
from chronodp.correlated.leakage_model import Released
from chronodp.correlated.published import definitions, paper, sensitivity
from chronodp.correlated.query import tabulate
from experiments.claims import computation
from experiments.claims.computations import rooted, scaled, squared
from experiments.correlated_sequences.chains import chain

__all__ = [
    "any_pair",
    "blind",
    "by_degree",
    "degree",
    "dependent",
    "distance",
    "exact",
    "first_line",
    "linear",
    "logarithmic",
    "proposition_1",
    "record",
    "spread",
    "theorem_1",
    "theorem_2",
]

MEAN = Mean()


@computation(
    **{
        "ten times": scaled(10.0),
        "a tenth": scaled(0.1),
        "root": rooted,
        "other sign": scaled(-1.0),
        "never ages": lambda f: lambda model, age, *rest: f(model, min(age, 1), *rest),
        "adds up over sequences": lambda f: lambda model, *rest: model.sequences * f(model, *rest),
    }
)
def exact(model: CouplingMarkovChain, age: int, epsilon: float, query: Query = MEAN) -> float:
    """Return the largest log ratio about one sequence's present, all others known: ε_S by Definition 6."""
    return _exact(model, age, epsilon, query)


@computation()
def blind(model: CouplingMarkovChain, age: int, epsilon: float) -> float:
    """Return the same for an adversary who knows no other sequence's present."""
    outputs = tabulate(MEAN, model.sequences, model.states)
    released = Released(outputs, np.full(model.sequences, age), epsilon)
    return float(_gauge(model).measure(released, "knows_none").exact.max())


@computation()
def any_pair(model: CouplingMarkovChain, age: int, epsilon: float) -> float:
    """Return what is told about any two presents, that may differ in all sequences."""
    return _gauge(model).any_pair(query=MEAN, ages=age, epsilon=epsilon)


@computation()
def record(model: CouplingMarkovChain, age: int, epsilon: float) -> float:
    """Return what is told about the record that was read, at the time that it was the present."""
    outputs = tabulate(MEAN, model.sequences, model.states)
    return float(Released(outputs, np.full(model.sequences, age), epsilon).shares.max()) * epsilon


@computation(
    **{
        "root": rooted,
        "a tenth": scaled(0.1),
        "blind to the coupling": lambda _: lambda _model, age: 0.4**age,
        "at half the age": lambda f: lambda model, age: f(model, (age + 1) // 2),
        "leans to self-coupling": lambda f: lambda model, age: f(model, age) * (1 + model.block_matrix[0, 0]),
    }
)
def distance(model: CouplingMarkovChain, age: int) -> float:
    """Return Δ_k, and so Φ: the largest total variation of the aged snapshot if one sequence's present differs."""
    return _distance(model, age)


@computation(**{"nobody": lambda _: lambda _model: 1, "the whole group": lambda _: lambda model: model.sequences})
def degree(model: CouplingMarkovChain) -> int:
    """Return k by Definition 7."""
    return sensitivity.correlation_degree(model)


@computation(**{"one": lambda _: lambda *_args: 1.0, "ten times": lambda f: lambda *args: 10 * f(*args)})
def spread(query: Query, sequences: int, k: int) -> float:
    """Return d(k) by Definition 8, of binary sequences."""
    return sensitivity.k_sensitivity(query, sequences, 2, k)


@computation()
def linear(coupling: float, age: int, epsilon: float) -> float:
    """Return (15) as the figures take it: d(2) = 2 whatever the coupling."""
    return spread(MEAN, 2, 2) * distance(chain(coupling), age) * epsilon


@computation(**{"k = 2 throughout": lambda _: linear})
def by_degree(coupling: float, age: int, epsilon: float) -> float:
    """Return (15) with the degree that Definition 7 gives this coupling."""
    model = chain(coupling)
    return spread(MEAN, 2, degree(model)) * distance(model, age) * epsilon


@computation()
def first_line(share: float, level: float) -> float:
    """Return ln(1 + x (e^y - 1)), the first line of (45)."""
    return float(from_distance(np.array([share]), np.array([level]))[0])


@computation(
    **{
        "ten times": scaled(10.0),
        "square": squared,
        "all that the panel says": lambda _: (
            lambda coupling, age, _epsilon: 0.04 * (0.44 if coupling == 1 else 0.356) ** ((age - 1) / 2)
        ),
    }
)
def logarithmic(coupling: float, age: int, epsilon: float) -> float:
    """Return the first line of (45) for the paper's chain, before the step that makes (15) of it."""
    return first_line(distance(chain(coupling), age), spread(MEAN, 2, 2) * epsilon)


@computation()
def theorem_1(model: CouplingMarkovChain, age: int, epsilon: float, k: int | None = None) -> float:
    """Return (15) with the degree of Definition 7, or with k if given."""
    return _theorem_1(model, age, epsilon, k)


@computation()
def theorem_2(model: CouplingMarkovChain, age: int, epsilon: float) -> float:
    """Return (19)."""
    return _theorem_2(model, age, epsilon)


@computation()
def proposition_1(model: CouplingMarkovChain, age: int, epsilon: float) -> float:
    """Return (7), with each sequence taken by itself."""
    return _proposition_1(model, age, epsilon)


@computation()
def dependent(model: CouplingMarkovChain, epsilon: float) -> float:
    """Return dependent differential privacy of a release without age."""
    return definitions.dependent(model, query=MEAN, epsilon=epsilon)


@cache
def _gauge(model: CouplingMarkovChain) -> LeakageModel:
    return LeakageModel(model)


@cache
def _exact(model: CouplingMarkovChain, age: int, epsilon: float, query: Query) -> float:
    # Definition 6 fixes the whole present snapshot, also of sequences that do not hang together.
    outputs = tabulate(query, model.sequences, model.states)
    told = exact_leakage(
        _joint(model),
        outputs,
        np.full(model.sequences, age),
        scale=outputs.sensitivity / epsilon,
        adversary="knows_others",
        outside=outputs.nothing()[None],
    )
    return float(told.max())


@cache
def _distance(model: CouplingMarkovChain, age: int) -> float:
    return float(aged_distances(_joint(model), np.full(model.sequences, age)).max())


@cache
def _joint(model: CouplingMarkovChain) -> JointChain:
    return JointChain(model)


@cache
def _theorem_1(model: CouplingMarkovChain, age: int, epsilon: float, k: int | None) -> float:
    return paper.theorem_1(model, query=MEAN, ages=age, epsilon=epsilon, degree=k)


@cache
def _proposition_1(model: CouplingMarkovChain, age: int, epsilon: float) -> float:
    return definitions.age_dependent(model, ages=age, epsilon=epsilon)


@cache
def _theorem_2(model: CouplingMarkovChain, age: int, epsilon: float) -> float:
    return paper.theorem_2(model, ages=age, epsilon=epsilon)
