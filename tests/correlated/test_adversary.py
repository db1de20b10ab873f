"""A simulated adversary who uses everything: it stays under what is certified, and above what the paper says."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta

import chronodp as cdp
from chronodp.correlated import (
    CouplingMarkovChain,
    Fran,
    LeakageModel,
    Maximum,
    Mean,
    Query,
    Several,
    Sum,
    WeightedSum,
    autoregressive_covariance,
    correlation_degree,
    design_fran,
    gaussian_information,
    k_sensitivity,
    leakage,
    release_aged,
    simulate,
    snippet_entropy,
    theorem_1,
)
from chronodp.correlated.fran import FranState, advance
from chronodp.correlated.joint import JointChain
from chronodp.correlated.mixtures import largest_log_ratio
from chronodp.correlated.published.definitions import (
    age_dependent,
    compare_definitions,
    correlated,
    dependent,
    group_ceiling,
    plain_laplace,
)
from chronodp.correlated.published.quilt import markov_quilt
from chronodp.correlated.published.temporal import temporal_leakage
from chronodp.correlated.query import tabulate
from chronodp.correlated.spectrum import spectrum
from chronodp.errors import BudgetExhausted, InvalidArgument, RequestConflict
from chronodp.ledger import verify
from chronodp.randomness import seeded
from tests.cases import case
from tests.conftest import Trials
from tests.correlated.chains import PAPER, two

LAZY = [[0.9999, 0.5], [0.0001, 0.5]]
ALARM = 1e-9


def lower_log_ratio(first: np.ndarray, second: np.ndarray, cuts: np.ndarray) -> float:
    """The largest log ratio of chances of a half-line that is certain at 1e-9, over all cuts and sides together."""
    level, best = ALARM / (4 * len(cuts)), -math.inf
    for one, other in ((first, second), (second, first)):
        for hits, others in zip(reached(one, cuts), reached(other, cuts), strict=True):
            misses = len(other) - others
            with np.errstate(invalid="ignore"):
                low = np.where(hits > 0, beta.ppf(level, hits, len(one) - hits + 1), 0.0)
                high = np.where(misses > 0, beta.ppf(1 - level, others + 1, misses), 1.0)
            if (low > 0).any():
                best = max(best, float(np.log(low[low > 0] / high[low > 0]).max()))
    return best


def reached(outputs: np.ndarray, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many outputs lie at each cut or below it, and how many at it or above."""
    below, above = (
        np.bincount(np.searchsorted(cuts, outputs, side=side), minlength=len(cuts) + 1).cumsum()[:-1]
        for side in ("left", "right")
    )
    return below, len(outputs) - above


def observed(model: CouplingMarkovChain, age: int, epsilon: float, runs: int) -> dict[tuple[int, ...], np.ndarray]:
    """Releases of the mechanism itself on simulated series, by present."""
    design = design_fran(model, query=Mean(), ages=age, epsilon=epsilon)
    made = simulate(model, age + 1, seed=17, runs=runs, warm_up=60)
    noise, grid = seeded(5), design.scale(epsilon)
    snapshots = np.indices((model.states,) * model.sequences).reshape(model.sequences, -1).T
    places = model.states ** np.arange(model.sequences)[::-1]
    aged = np.array([design.answer(snapshot) for snapshot in snapshots])[:, 0]
    outputs = (aged[made[:, 0] @ places] + noise.laplace(grid, runs)) * design.step
    # One run through the public call gives the same kind of number.
    _, released = advance(design, FranState(age, made[0, :-1]), made[0, -1], seeded(1))
    assert released is not None
    presents = made[:, -1] @ places
    return {tuple(present.tolist()): outputs[presents == number] for number, present in enumerate(snapshots)}


@pytest.mark.parametrize(
    ("matrix", "coupling", "age", "epsilon"),
    [([[0.7, 0.3], [0.3, 0.7]], 0.75, 1, 1.0), ([[0.9, 0.2], [0.1, 0.8]], 0.6, 2, 2.0)],
)
@pytest.mark.slow
def test_no_simulated_adversary_gets_beyond_the_certified_leakage(
    matrix: object, coupling: float, age: int, epsilon: float, trials: Trials
) -> None:
    model = two(coupling, matrix)
    seen = observed(model, age, epsilon, trials(2_000_000, least=100_000))
    told = leakage(model, query=Mean(), ages=age, epsilon=epsilon)
    reached = max(
        lower_log_ratio(seen[a], seen[b], np.linspace(-1, 2, 25))
        for a in seen
        for b in seen
        if sum(x != y for x, y in zip(a, b, strict=True)) == 1
    )
    assert reached <= told.certified
    assert reached > 0.5 * told.certified  # the test sees what there is to see


@pytest.mark.slow
def test_the_same_adversary_refutes_theorem_1(trials: Trials) -> None:
    # A chain that rarely leaves 0: 0.0485 by the formula, 0.8321 in truth.
    model = two(0.5, LAZY)
    told = leakage(model, query=Mean(), ages=8, epsilon=4.0)
    assert told.paper_theorem_1 == pytest.approx(0.0485, abs=1e-4)
    assert told.exact == pytest.approx(0.8321, abs=1e-4)
    # Presents other than (0, 0) are so rare that they are drawn by walking backwards from them.
    from chronodp.correlated.joint import JointChain

    joint = JointChain(model)
    backward = (joint.kernel * joint.stationary).T / joint.stationary
    past = np.linalg.matrix_power(backward, 8)
    design = design_fran(model, query=Mean(), ages=8, epsilon=4.0)
    answers = np.array([design.answer(snapshot)[0] for snapshot in joint.snapshots])
    chance, runs = np.random.default_rng(3), trials(8_000_000, least=400_000)
    worst = -math.inf
    for a, b in ((1, 3), (0, 1)):
        drawn = [
            (
                answers[chance.choice(4, size=runs, p=past[:, present])]
                + seeded(present).laplace(design.scale(4.0), runs)
            )
            * design.step
            for present in (a, b)
        ]
        worst = max(worst, lower_log_ratio(drawn[0], drawn[1], np.linspace(-1, 2.5, 15)))
    assert told.paper_theorem_1 is not None
    assert told.paper_theorem_1 < worst <= told.certified


MODEL = CouplingMarkovChain([[0.9, 0.2], [0.1, 0.8]], [[0.8, 0.2], [0.3, 0.7]])
SERIES = simulate(MODEL, 9, seed=1)[0]
DESIGN = design_fran(MODEL, query=Several((Mean(), Maximum())), ages=(0, 2), epsilon=(0.5, 1.0), horizon=9)


def ledger_at(folder: Path) -> cdp.Ledger:
    opened = cdp.Ledger(folder / "budget.db")
    opened.open("ward", unit=cdp.Window(1, relation="replace"), epsilon=2.5)
    return opened


def test_a_series_is_the_stream_run_to_its_end(tmp_path: Path) -> None:
    with ledger_at(tmp_path) as ledger:
        paid: dict[str, Any] = {"ledger": ledger, "dataset": "ward"}
        made = release_aged(SERIES, DESIGN, request="all", entropy=seeded(3), **paid)
        live = Fran.open(DESIGN, name="all", entropy=seeded(3), **paid)
        told = [live.step(row).value for row in SERIES]
        assert [value is None for value in told] == np.isnan(made.values[:, 0]).tolist() == [True] * 2 + [False] * 7
        assert np.array_equal(made.values[2:], np.stack(told[2:]))
        assert made.certificate == live.certificate
        assert made.certificate.seeded
        assert ledger.status("ward").sums[0].spent == pytest.approx(2 * DESIGN.epsilon)


def test_it_is_paid_once_and_other_data_are_refused(tmp_path: Path) -> None:
    with ledger_at(tmp_path) as ledger:
        paid: dict[str, Any] = {"ledger": ledger, "dataset": "ward", "request": "all"}
        made = release_aged(SERIES, DESIGN, **paid)
        again = release_aged(SERIES.tolist(), DESIGN, **paid)
        assert (again.text, again.signed) == (made.text, made.signed)
        assert ledger.status("ward").charges == 1
        verify(made.signed, ledger.public_key, release=made.text)
        assert made.save(tmp_path / "aged.json").exists()
        assert repr(made) == "AgedSeries(the mean, the maximum, 9 periods)"
        with pytest.raises(RequestConflict):
            release_aged(1 - SERIES, DESIGN, **paid)
        with pytest.raises(BudgetExhausted):
            release_aged(
                SERIES, design_fran(MODEL, query=Mean(), ages=0, epsilon=2.0, horizon=9), **paid | {"request": "b"}
            )


def test_whatever_cannot_be_read_is_refused_before_the_debit(tmp_path: Path) -> None:
    with ledger_at(tmp_path) as ledger:
        paid: dict[str, Any] = {"ledger": ledger, "dataset": "ward", "request": "all"}
        for wrong in (SERIES[:8], SERIES[:, :1], SERIES + 1, SERIES - 1, SERIES * 0.5, "xy", [[0], [0, 1]]):
            with pytest.raises(InvalidArgument, match="series must be"):
                release_aged(wrong, DESIGN, **paid)
        with pytest.raises(InvalidArgument, match="horizon must be given"):
            release_aged(SERIES, replace(DESIGN, horizon=None), **paid)
        with pytest.raises(InvalidArgument, match="design must be"):
            release_aged(SERIES, replace(DESIGN, present=None), **paid)
        with pytest.raises(InvalidArgument, match="design must be"):
            release_aged(SERIES, MODEL, **paid)  # type: ignore[arg-type]
        assert ledger.status("ward").charges == 0


def test_memory_makes_a_snippet_tell_more_of_the_rest_and_less_of_itself(golden: Any) -> None:
    wanted = golden("claims/adversary_and_information.json")["mi_rest_nats"]
    found = []
    for memory, nats in wanted.items():
        rho = float(memory)
        covariance = autoregressive_covariance(48, memory=rho, deviation=3.0)
        found.append(gaussian_information(covariance, range(21, 27)))
        assert found[-1] == pytest.approx(nats, abs=1e-9)
        # Only the readings beside it and the gap that it leaves matter: ½ ln((1 - ρ^14) / (1 - ρ²)²).
        assert found[-1] == pytest.approx(math.log((1 - rho**14) / (1 - rho**2) ** 2) / 2, abs=1e-12)
        # At an end of the series it has one neighbour.
        assert gaussian_information(covariance, range(6)) == pytest.approx(-math.log(1 - rho**2) / 2, abs=1e-12)
    assert [round(nats, 3) for nats in found] == [0.0, 0.288, 0.999, 1.531, 2.528]
    found = []
    for leaves, bits in golden("claims/adversary_and_information.json")["mi_self_bits"].items():
        q = float(leaves)
        chain = CouplingMarkovChain([[1 - q, q], [q, 1 - q]], [[1.0]])
        found.append(snippet_entropy(chain, 6) / math.log(2))
        assert found[-1] == pytest.approx(bits, rel=1e-12)
    assert [round(bits, 2) for bits in found] == [6.0, 5.41, 3.34, 1.71]


def test_entropy_by_listing_every_path() -> None:
    joint = JointChain(two(0.75))
    size = len(joint.stationary)
    total = 0.0
    for walk in itertools.product(range(size), repeat=3):
        chance = joint.stationary[walk[0]] * joint.kernel[walk[1], walk[0]] * joint.kernel[walk[2], walk[1]]
        total -= chance * math.log(chance)
    assert snippet_entropy(two(0.75), 3) == pytest.approx(total, rel=1e-12)
    still = CouplingMarkovChain([[0.0, 1.0], [1.0, 0.0]], [[1.0]])
    assert snippet_entropy(still, 9) == pytest.approx(math.log(2))  # a swing: one reading tells all others


def test_bad_arguments_are_named() -> None:
    covariance = autoregressive_covariance(4, memory=0.5)
    for snippet in ((), range(4), (4,), (-1,)):
        with pytest.raises(InvalidArgument, match="snippet must be"):
            gaussian_information(covariance, snippet)
    with pytest.raises(InvalidArgument, match="covariance must be"):
        gaussian_information(np.ones((3, 3)), [0])
    with pytest.raises(InvalidArgument, match="covariance must be"):
        gaussian_information([[1.0, 0.5]], [0])
    with pytest.raises(InvalidArgument, match="memory must be"):
        autoregressive_covariance(4, memory=1.0)
    with pytest.raises(InvalidArgument, match="model must be"):
        snippet_entropy(CouplingMarkovChain(np.eye(2), [[1.0]]), 3)


@pytest.mark.slow
def test_age_dependent_privacy_is_right_for_sequences_alone_and_blind_to_others() -> None:
    chance = np.random.default_rng(5)
    for _ in range(60):
        chain = CouplingMarkovChain(chance.dirichlet(np.ones(3), size=3).T, [[1.0]])
        age, epsilon = int(chance.integers(0, 4)), float(chance.choice([0.2, 1.0, 4.0]))
        told = leakage(chain, query=Mean(), ages=age, epsilon=epsilon)
        assert told.exact is not None
        assert told.exact <= age_dependent(chain, ages=age, epsilon=epsilon) * (1 + 1e-12)
    # Coupled, with hardly any memory of its own: what comes back through the other is not seen.
    swapping = CouplingMarkovChain(
        np.array(
            [
                [[[0.5, 0.5], [0.5, 0.5]], [[0.99, 0.01], [0.01, 0.99]]],
                [[[0.99, 0.01], [0.01, 0.99]], [[0.5, 0.5], [0.5, 0.5]]],
            ]
        ),
        [[0.02, 0.98], [0.98, 0.02]],
    )
    told = leakage(swapping, query=Mean(), ages=2, epsilon=1.0)
    assert told.exact is not None
    assert told.exact > 100 * age_dependent(swapping, ages=2, epsilon=1.0)
    # A sequence that does not hear itself is taken to forget nothing.
    assert age_dependent(two(0.0), ages=5, epsilon=1.0) == pytest.approx(1.0)


def test_definitions_of_one_period() -> None:
    assert plain_laplace(0.3) == 0.3
    alone, tied = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], np.eye(2)), two(0.5)
    assert dependent(alone, query=Mean(), epsilon=1.0) == pytest.approx(1.0)
    assert correlated(alone, query=Mean(), epsilon=1.0) == pytest.approx(1.0)
    law = JointChain(tied).stationary
    assert dependent(tied, query=Mean(), epsilon=1.0) == pytest.approx(1 + 2 * (law[0] - law[1]))
    assert correlated(tied, query=Mean(), epsilon=1.0) == pytest.approx(1 + 2 * (law[0] - law[1]))
    assert group_ceiling(tied, query=Mean(), epsilon=1.0) == pytest.approx(2.0)


@pytest.mark.slow
def test_the_comparison_says_which_numbers_are_bounds() -> None:
    rows = compare_definitions(two(1.0, [[0.99, 0.5], [0.01, 0.5]]), query=Mean(), ages=1, epsilon=1.0)
    truth = leakage(two(1.0, [[0.99, 0.5], [0.01, 0.5]]), query=Mean(), ages=1, epsilon=1.0).exact
    assert truth is not None
    for row in rows:
        if row.bounds_present and "nothing else" not in row.name:
            assert row.epsilon >= truth
    below = {row.name for row in rows if row.epsilon < truth}
    assert {"the paper's Theorem 1", "the paper's Theorem 2"} <= below
    assert not any(row.bounds_present for row in rows if row.name in below - {"leakage, nothing else known"})
    large = compare_definitions(
        LeakageModel(
            CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], 0.5 * np.eye(30) + 0.5 * np.roll(np.eye(30), 1, axis=0))
        ),
        query=Mean(),
        ages=2,
        epsilon=1.0,
    )
    assert {row.name for row in large}.isdisjoint({"dependent", "the paper's Theorem 1"})


@pytest.mark.slow
def test_temporal_leakage_bounds_streams_without_age() -> None:
    # The example of the reference, to its two digits.
    chain = CouplingMarkovChain([[0.8, 0.0], [0.2, 1.0]], [[1.0]])
    forward = temporal_leakage(chain, epsilons=(0.1,) * 10).forward[::-1]
    assert [round(part, 2) for part in forward] == [0.1, 0.18, 0.25, 0.3, 0.35, 0.39, 0.42, 0.45, 0.48, 0.5]
    chance = np.random.default_rng(2)
    for _ in range(20):
        model = CouplingMarkovChain(chance.dirichlet(np.ones(2), size=2).T, [[1.0]])
        epsilon = float(chance.choice([0.2, 1.0]))
        bound = temporal_leakage(model, epsilons=(epsilon,) * 4)
        for seen in (1, 2, 3, 4):
            told = leakage(model, query=Sum(), ages=0, epsilon=epsilon, releases=seen)
            assert told.exact is not None
            assert told.exact <= bound.backward[seen - 1] * (1 + 1e-9)
    frozen = temporal_leakage(CouplingMarkovChain(np.eye(2), [[1.0]]), epsilons=(0.5,) * 3)
    assert frozen.total == pytest.approx((1.5, 1.5, 1.5))  # nothing is ever forgotten
    with pytest.raises(InvalidArgument, match="epsilons must be"):
        temporal_leakage(chain, epsilons=())


def test_the_markov_quilt_protects_every_record_of_a_sum() -> None:
    chance = np.random.default_rng(7)
    horizon = 7
    for number in range(12):
        stay = float(chance.uniform(0.5, 0.75))
        chain = CouplingMarkovChain([[stay, 0.4], [1 - stay, 0.6]], [[1.0]])
        joint, epsilon = JointChain(chain), float(chance.choice([0.8, 2.0, 4.0]))
        quilt = markov_quilt(chain, horizon=horizon, epsilon=epsilon)
        assert quilt.scale <= horizon / epsilon
        paths = list(itertools.product(range(2), repeat=horizon))
        weights = np.array(
            [
                joint.stationary[path[0]] * np.prod([joint.kernel[b, a] for a, b in itertools.pairwise(path)])
                for path in paths
            ]
        )
        sums, states = np.array([sum(path) for path in paths]), np.array(paths)
        for record in range(horizon):
            laws = [
                np.bincount(sums[states[:, record] == u], weights[states[:, record] == u], horizon + 1) for u in (0, 1)
            ]
            told = largest_log_ratio(np.arange(horizon + 1.0), *(law / law.sum() for law in laws), scale=quilt.scale)
            assert told <= epsilon * (1 + 1e-9), number
    assert markov_quilt(two(1.0).part([0]), horizon=100, epsilon=1.0).scale < 10
    with pytest.raises(InvalidArgument, match="one sequence"):
        markov_quilt(two(0.5), horizon=5, epsilon=1.0)


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
