"""Correlation degree, k-sensitivity and the paper's Theorem 1 as it defines them; where the truth lies above it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.correlated import (
    CouplingMarkovChain,
    Maximum,
    Mean,
    Query,
    Several,
    Sum,
    WeightedSum,
    correlation_degree,
    k_sensitivity,
    leakage,
    theorem_1,
)
from chronodp.correlated.joint import JointChain
from chronodp.correlated.query import tabulate
from chronodp.correlated.spectrum import spectrum
from chronodp.errors import InvalidArgument
from tests.cases import case
from tests.correlated.chains import PAPER, two


def path(sequences: int, own: float) -> NDArray[np.float64]:
    """Everyone hears itself, and its neighbours in a row by the same share."""
    coupling = np.eye(sequences) * own
    for j in range(sequences):
        near = [k for k in (j - 1, j + 1) if 0 <= k < sequences]
        coupling[j, near] = (1 - own) / len(near)
    return coupling


def six() -> CouplingMarkovChain:
    coupling = path(6, 0.4)
    coupling[0, :2] = 0.6, 0.4
    coupling[5, 4:] = 0.4, 0.6
    return CouplingMarkovChain([[0.8, 0.2], [0.2, 0.8]], coupling)


def test_the_degree_counts_partners_either_way_and_not_oneself() -> None:
    assert correlation_degree(CouplingMarkovChain(PAPER, np.eye(4))) == 1
    assert [correlation_degree(two(coupling)) for coupling in (0.0, 0.5, 1.0)] == [2, 2, 1]
    assert correlation_degree(six()) == 3
    # One that four others hear, and that hears nobody: all four are its partners.
    star = np.eye(5) * 0.5
    star[:, 0] += 0.5
    assert correlation_degree(CouplingMarkovChain(PAPER, star)) == 5
    # What carries nothing ties nobody.
    matrices = np.broadcast_to(np.array(PAPER), (2, 2, 2, 2)).copy()
    matrices[0, 1] = matrices[1, 0] = 0.5
    assert correlation_degree(CouplingMarkovChain(matrices, [[0.5, 0.5], [0.5, 0.5]])) == 1


QUERIES: list[Query] = [
    Mean(),
    Sum((0.0, 2.0, -1.0)),
    Maximum(),
    Maximum((3.0, 1.0, 1.0)),
    WeightedSum((1.0, -3.0, 0.5)),
    Several((Mean(), Maximum())),
]


def test_the_sensitivity_of_k_is_the_largest_change_of_all() -> None:
    query: Query
    for query in QUERIES:
        with case(query):
            snapshots = np.array(list(itertools.product(range(3), repeat=3)))
            values = tabulate(query, 3, 3).values(snapshots)
            changes = [0.0] * 4
            for (one, x), (other, y) in itertools.product(enumerate(snapshots), repeat=2):
                differ = int(np.count_nonzero(x != y))
                changes[differ] = max(changes[differ], float(np.abs(values[one] - values[other]).sum()))
            for k in (1, 2, 3):
                assert k_sensitivity(query, 3, 3, k) == pytest.approx(changes[k] / changes[1])


def test_golden_sensitivities(golden: Any) -> None:
    wanted = golden("claims/theorem1_sparse.json")["d_k"]
    for k in (1, 2, 3, 4):
        for query, name in ((Sum(), "sum"), (Mean(), "mean"), (Maximum(), "max"), (Maximum((0.0, -1.0)), "min")):
            assert k_sensitivity(query, 4, 2, k) == pytest.approx(wanted[name][k - 1])
    for k in (0, 5):
        with pytest.raises(InvalidArgument, match="k must be"):
            k_sensitivity(Mean(), 4, 2, k)


def test_theorem_1_on_a_path_of_six(golden: Any) -> None:
    wanted = golden("claims/theorem1_sparse.json")["path6"]
    told = leakage(six(), query=Mean(), ages=1, epsilon=1.0)
    assert told.paper_theorem_1 == pytest.approx(wanted["thm1 d(3)*Delta (reading 1)"], rel=1e-12)
    assert told.exact == pytest.approx(wanted["exact"], rel=1e-10)
    whole = theorem_1(six(), query=Mean(), ages=1, epsilon=1.0, degree=6)
    assert whole == pytest.approx(2 * wanted["thm1 d(3)*Delta (reading 1)"], rel=1e-12)
    with pytest.raises(InvalidArgument, match="degree must be"):
        theorem_1(six(), query=Mean(), ages=1, epsilon=1.0, degree=7)


def test_theorem_1_is_refuted_on_paths_and_in_the_papers_own_family(golden: Any) -> None:
    cases = golden("claims/theorem1_sparse.json")["counterexamples"]
    refuted = []
    for name, known in cases.items():
        size = int(name.split(",")[0].removeprefix("path "))
        a, b, own, age, epsilon = (float(part.split("=")[1]) for part in name.split(",")[1:])
        model = CouplingMarkovChain([[1 - a, b], [a, 1 - b]], path(size, own))
        told = leakage(model, query=Mean(), ages=int(age), epsilon=epsilon)
        assert told.exact == pytest.approx(known["exact own"], rel=1e-9)
        assert told.paper_theorem_1 == pytest.approx(known["paper d(3) Delta eps"], rel=1e-7)
        whole = theorem_1(model, query=Mean(), ages=int(age), epsilon=epsilon, degree=size)
        assert whole == pytest.approx(known["d(s) Delta eps (own)"], rel=1e-7)
        assert told.paper_theorem_1 is not None
        refuted.append(told.certified > told.paper_theorem_1 * 1.01)
    assert refuted == [True, False, True, False]
    for p, known in golden("claims/theorem1_symmetric_family.json")["by p"].items():
        stay = 1 - float(p)
        model = two(known["lambda"], [[stay, 1 - stay], [1 - stay, stay]])
        told = leakage(model, query=Mean(), ages=known["A"], epsilon=known["eps_C"])
        assert told.exact == pytest.approx(known["exact"], rel=1e-9)
        assert told.paper_theorem_1 == pytest.approx(known["(15)"], rel=1e-9)
        assert told.exact is not None
        assert told.paper_theorem_1 is not None
        assert (told.exact > told.paper_theorem_1) == (float(p) <= 0.1)


def test_by_its_definition_no_coupling_leaks_least_and_by_its_figures_half() -> None:
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    defined = [theorem_1(two(share), query=Mean(), ages=1, epsilon=1.0) for share in shares]
    drawn = [theorem_1(two(share), query=Mean(), ages=1, epsilon=1.0, degree=2) for share in shares]
    assert defined == pytest.approx([0.8, 0.6, 0.48, 0.6, 0.4])
    assert drawn == pytest.approx([0.8, 0.6, 0.48, 0.6, 0.8])


def test_eigenvalues_and_correlations_of_the_papers_chain(golden: Any) -> None:
    wanted = golden("claims/cmc_properties.json")
    for share, values in wanted["K"].items():
        model = two(float(share))
        joint = JointChain(model)
        assert sorted(np.linalg.eigvals(joint.kernel).real) == pytest.approx(sorted(values), abs=1e-9)
        block = np.linalg.eigvals(model.block_matrix.toarray()).real
        assert sorted(block) == pytest.approx(sorted(wanted["Q"][share]), abs=1e-9)
        assert spectrum(model).second == pytest.approx(0.4)  # the rate of the joint law, not Q's own second
        states = joint.snapshots - joint.stationary @ joint.snapshots
        covariance = (states * joint.stationary[:, None]).T @ states
        correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
        assert correlation == pytest.approx(wanted["stationary_correlation"][share], abs=1e-9)
