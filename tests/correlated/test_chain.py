"""The model: what it refuses, and its dense, sparse and partial forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from chronodp.correlated import (
    CouplingMarkovChain,
    LeakageModel,
    Maximum,
    Mean,
    Several,
    Sum,
    WeightedSum,
    leakage,
    simulate,
)
from chronodp.correlated.joint import JointChain
from chronodp.correlated.query import tabulate
from chronodp.errors import InvalidArgument
from tests.cases import case
from tests.correlated.chains import PAPER, draw, two

EVEN = [[0.5, 0.5], [0.5, 0.5]]


def test_models_that_are_none() -> None:
    transitions: object
    coupling: object
    said: str
    for transitions, coupling, said in [
        ([[0.7, 0.4], [0.2, 0.6]], EVEN, "as all columns do"),
        ([[0.7, 0.4], [0.2, 0.6]], EVEN, r"transitions\[:, 0\] must be a column that sums to one.*got 0\.8999"),
        ([[0.7, 0.3], [0.4, 0.6]], EVEN, "the rows do, so transpose"),
        ([[1.2, 0.5], [-0.2, 0.5]], EVEN, r"transitions\[1\]\[0\] must be a number of at least 0"),
        ([[float("nan"), 0.5], [0.2, 0.5]], EVEN, r"transitions\[0\]\[0\]"),
        (PAPER, [[1.2, -0.2], [0.5, 0.5]], r"coupling\[0\]\[1\] must be a finite number of at least 0; got -0.2"),
        (
            PAPER,
            [[0.5, 0.4], [0.5, 0.5]],
            r"coupling\[0\] must be a row that sums to one: whom sequence 0 hears; got 0.9",
        ),
        (PAPER, [[0.0, 0.0], [0.5, 0.5]], r"coupling\[0\] must be a row that sums to one"),
        (PAPER, [[0.5, 0.5]], "a square matrix"),
        (PAPER, "half", "a square matrix"),
        (PAPER, [[float("nan"), 1.0], [0.5, 0.5]], r"coupling\[0\]\[0\]"),
        ([[1.0]], EVEN, "one matrix"),
        (np.full((3, 3, 2, 2), 0.5), EVEN, "2 × 2 × states × states"),
        ("move", EVEN, "one matrix"),
        (np.array([[PAPER, PAPER], [PAPER, [[0.5, 0.5], [0.6, 0.5]]]]), EVEN, r"transitions\[1\]\[1\]\[:, 0\]"),
    ]:
        with case(transitions, coupling, said), pytest.raises(InvalidArgument, match=said):
            CouplingMarkovChain(transitions, coupling)  # type: ignore[arg-type]


def test_dense_and_sparse_are_the_same_model() -> None:
    chance = np.random.default_rng(1)
    coupling = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])
    matrices = chance.dirichlet(np.ones(3), size=(3, 3, 3)).swapaxes(2, 3)
    dense = CouplingMarkovChain(matrices, coupling)
    rows, columns = np.nonzero(coupling)
    thin = CouplingMarkovChain(matrices[rows, columns], sparse.csr_array(coupling))
    assert dense.fingerprint == thin.fingerprint
    assert dense.fingerprint != CouplingMarkovChain(PAPER, coupling).fingerprint
    assert dense.next_laws([[0, 1, 2]]).sum(axis=2) == pytest.approx(1.0)
    assert repr(thin) == "CouplingMarkovChain(3 sequences of 3 states, 6 edges)"
    assert np.allclose(dense.block_matrix.toarray()[0:3, 3:6], 0.5 * matrices[0, 1])


def test_groups_are_those_who_hear_of_each_other() -> None:
    blind = np.array([[[0.3, 0.3], [0.7, 0.7]]])
    coupling = [[0.5, 0.5, 0, 0], [0, 1.0, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]]
    matrices = np.array([PAPER, PAPER, PAPER, PAPER, blind[0], PAPER])[[0, 1, 2, 3, 4, 5]]
    model = CouplingMarkovChain(matrices, coupling)
    assert model.components[0] == model.components[1]
    assert len(set(model.components[2:].tolist())) == 2  # an edge with equal columns ties nobody
    part = model.part([2])
    assert part.next_laws([[1]])[0, 0] == pytest.approx(model.next_laws([[0, 0, 1, 1]])[0, 2])
    with pytest.raises(InvalidArgument, match="all sequences of the components"):
        model.part([0])


def test_reducible_and_periodic_chains_keep_what_still_holds() -> None:
    frozen = CouplingMarkovChain([[1.0, 0.0], [0.0, 1.0]], [[1.0]])
    told = leakage(frozen, query=Mean(), ages=3, epsilon=0.7)
    assert told.exact is None
    assert "several closed classes" in told.reasons[0]
    assert told.certified == pytest.approx(0.7)  # a chain that never moves: ageing protects nothing
    with pytest.raises(InvalidArgument, match="2 closed classes"):
        _ = JointChain(frozen).stationary
    swinging = CouplingMarkovChain([[0.0, 1.0], [1.0, 0.0]], [[1.0]])
    joint = JointChain(swinging)
    assert (joint.period, joint.stationary.tolist()) == (2, [0.5, 0.5])
    assert leakage(swinging, query=Mean(), ages=3, epsilon=0.7).exact == pytest.approx(0.7)
    assert JointChain(two(0.75)).period == 1
    # States that are left for good have no present to be told apart.
    draining = CouplingMarkovChain([[1.0, 0.5], [0.0, 0.5]], [[1.0]])
    assert JointChain(draining).stationary.tolist() == [1.0, 0.0]
    assert leakage(draining, query=Mean(), ages=1, epsilon=1.0).exact == 0.0


def test_questions_that_cannot_be_asked() -> None:
    model = two(0.75)
    good = {"query": Mean(), "ages": 1, "epsilon": 1.0}
    for change, said in (
        ({"query": "median"}, r"query must be Mean\(\), Sum\(\)"),
        ({"query": WeightedSum((1.0,))}, "one a sequence, 2"),
        ({"query": Mean(scores=(1.0, 2.0, 3.0))}, "one a state, 2"),
        ({"query": Sum(scores=(1.0, 1.0))}, "that some sequence can change"),
        ({"ages": -1}, "ages must be a whole number"),
        ({"ages": (1, 2, 3)}, "one a sequence, 2"),
        ({"ages": "old"}, "ages must be"),
        ({"epsilon": 0.0}, "epsilon must be"),
        ({"adversary": "knows_all"}, "'knows_others' or 'knows_none'"),
        ({"releases": 0}, "releases must be"),
        ({"targets": (2,)}, "targets must be"),
        ({"targets": ()}, "targets must be"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            leakage(model, **{**good, **change})  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="a CouplingMarkovChain"):
        leakage("chain", **good)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="weights must be"):
        WeightedSum((0.0, 0.0))
    with pytest.raises(InvalidArgument, match="queries must be"):
        Several(())
    with pytest.raises(InvalidArgument, match="largest must be"):
        LeakageModel(model, largest=10**9)
    with pytest.raises(InvalidArgument, match="at most 4096 joint states"):
        JointChain(CouplingMarkovChain(PAPER, np.eye(13)))
    with pytest.raises(InvalidArgument) as refused:
        two(0.5).next_laws([[0, 7351]])
    assert "7351" not in str(refused.value)


def test_queries_on_snapshots_and_what_one_sequence_changes() -> None:
    states = np.array([[0, 1, 2], [2, 2, 0]])
    for query, expected, most in (
        (Mean(), [1.0, 4 / 3], 2 / 3),
        (Sum(scores=(0.0, 1.0, 4.0)), [5.0, 8.0], 4.0),
        (WeightedSum((1.0, -2.0, 0.0)), [-2.0, -2.0], 4.0),
        (Maximum(), [2.0, 2.0], 2.0),
    ):
        outputs = tabulate(query, 3, 3)
        assert outputs.values(states)[:, 0] == pytest.approx(expected)
        assert outputs.sensitivity == pytest.approx(most)
    # A sequence that cannot rise above what others always reach changes no maximum.
    both = tabulate(Several((Maximum(), Sum())), 3, 3)
    assert both.changes == pytest.approx(np.full(3, 4.0))


def test_sensitivities_are_those_of_listing() -> None:
    chance = np.random.default_rng(8)
    for _ in range(40):
        case = draw(chance)
        outputs = tabulate(case.query, case.model.sequences, case.model.states)
        joint = JointChain(case.model)
        values = outputs.values(joint.snapshots)[:, 0].reshape(joint.shape)
        listed = [np.ptp(values, axis=axis).max() for axis in range(case.model.sequences)]
        assert outputs.changes == pytest.approx(np.array(listed))


@pytest.mark.slow
def test_simulated_series_have_the_joint_law() -> None:
    case = draw(np.random.default_rng(12), most=2)
    model = case.model
    made = simulate(model, 2, seed=3, runs=40_000, warm_up=100)
    joint = JointChain(model)
    places = model.states ** np.arange(model.sequences)[::-1]
    pairs = np.bincount((made[:, 1] @ places) * len(joint.snapshots) + made[:, 0] @ places)
    expected = (joint.kernel * joint.stationary).ravel() * len(made)
    pairs = np.pad(pairs, (0, len(expected) - len(pairs)))
    # Sums of squared deviations stay below what 1e-9 of all runs exceed (Laurent, Massart 2000).
    score = float((((pairs - expected) ** 2) / np.maximum(expected, 5.0)).sum())
    freedom, far = len(expected), np.log(1e9)
    assert score < freedom + 2 * np.sqrt(freedom * far) + 2 * far
    assert (
        simulate(model, 3, seed=1, start=np.zeros(model.sequences, int), warm_up=0)[0, 0].tolist()
        == [0] * model.sequences
    )
