"""Fitting public series, and private ones for a price; chains of higher order; spectra."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import chronodp as cdp
from chronodp.audit.exact import examine
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
from chronodp.correlated.augment import augment
from chronodp.correlated.budgeted_fit import fit_privately, record_reach
from chronodp.correlated.fit import check_hears, count_patterns, fit
from chronodp.correlated.joint import JointChain
from chronodp.correlated.model_file import model_from_json, model_to_json, read_model
from chronodp.correlated.query import tabulate
from chronodp.correlated.spectrum import mixing_time, spectrum
from chronodp.errors import BudgetExhausted, ChronodpError, InvalidArgument, RequestConflict, UnknownDocument
from chronodp.ledger import verify
from chronodp.randomness import Entropy
from tests.cases import case
from tests.correlated.chains import PAPER, draw, two

TRUTH = CouplingMarkovChain(
    np.array(
        [[[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.1], [0.3, 0.9]]], [[[0.5, 0.5], [0.5, 0.5]], [[0.6, 0.3], [0.4, 0.7]]]]
    ),
    [[0.6, 0.4], [0.0, 1.0]],
)


@pytest.mark.slow
def test_the_likeliest_model_moves_like_the_truth_and_no_round_is_a_step_back() -> None:
    series = simulate(TRUTH, 20_000, seed=4)
    found = fit(series, states=2)
    snapshots = JointChain(TRUTH).snapshots
    assert found.model.next_laws(snapshots) == pytest.approx(TRUTH.next_laws(snapshots), abs=0.03)
    rows = series.reshape(1, -1, 2)
    chances = TRUTH.next_laws(rows[0, :-1])
    truth = sum(np.log(chances[np.arange(len(chances)), j, rows[0, 1:, j]]).sum() for j in range(2))
    assert found.log_likelihood >= truth  # the likeliest is at least as likely as the truth
    known = fit(series, states=2, hears=np.array([[True, True], [False, True]]))
    assert set(zip(known.model.heads.tolist(), known.model.tails.tolist(), strict=True)) <= {(0, 0), (0, 1), (1, 1)}
    assert known.log_likelihood <= found.log_likelihood + 1e-6 * 20_000


def ledger_at(folder: Path) -> cdp.Ledger:
    opened = cdp.Ledger(folder / "budget.db")
    opened.open("ward", unit=cdp.Window(1, relation="replace"), epsilon=5.0)
    return opened


@pytest.mark.slow
def test_a_private_fit_is_paid_once_and_repeats_itself(tmp_path: Path) -> None:
    series = simulate(TRUTH, 5_000, seed=6)[0]
    with ledger_at(tmp_path) as ledger:
        made = fit_privately(series, states=2, epsilon=2.0, ledger=ledger, dataset="ward", request="fit")
        again = fit_privately(series, states=2, epsilon=2.0, ledger=ledger, dataset="ward", request="fit")
        assert made.model.fingerprint == again.model.fingerprint
        assert ledger.status("ward").charges == 1
        assert made.certificate.guarantee.epsilon == 2.0
        assert again.signed == made.signed
        assert verify(made.signed, ledger.public_key, release=made.text).request == "fit"
        snapshots = JointChain(TRUTH).snapshots
        assert made.model.next_laws(snapshots) == pytest.approx(TRUTH.next_laws(snapshots), abs=0.1)
        with pytest.raises(RequestConflict):
            fit_privately(1 - series, states=2, epsilon=2.0, ledger=ledger, dataset="ward", request="fit")
        with pytest.raises(BudgetExhausted):
            fit_privately(series, states=2, epsilon=4.0, ledger=ledger, dataset="ward", request="more")
        with pytest.raises(InvalidArgument, match="a Ledger"):
            fit_privately(series, states=2, epsilon=1.0, ledger="x", dataset="ward", request="y")  # type: ignore[arg-type]
        for epsilon in (1e-12, 1e12):  # noise that cannot be drawn is refused before anything is debited
            with pytest.raises(InvalidArgument, match=r"epsilon must be from 5\.6e-09 to"):
                fit_privately(series, states=2, epsilon=epsilon, ledger=ledger, dataset="ward", request="y")
        assert ledger.status("ward").charges == 1
        for count in (20, 1_100):
            wide = np.zeros((3, count), dtype=int)
            with pytest.raises(InvalidArgument, match="fewer ties"):
                fit_privately(wide, states=2, epsilon=1.0, ledger=ledger, dataset="ward", request="y")


def test_what_one_record_changes_in_all_counts_is_listed() -> None:
    chance = np.random.default_rng(3)
    for _ in range(30):
        s = int(chance.integers(1, 4))
        hears = chance.random((s, s)) < 0.5
        hears[np.arange(s), chance.integers(s, size=s)] = True
        rows = chance.integers(0, 2, size=(1, 6, s))
        most = 0
        for t, j in itertools.product(range(6), range(s)):
            other = rows.copy()
            other[0, t, j] = 1 - other[0, t, j]
            most = max(most, sum(_apart(rows, other, i, np.flatnonzero(hears[i])) for i in range(s)))
        assert most <= record_reach(hears)
    # It is attained: a record in the middle, heard by both.
    assert record_reach(np.ones((2, 2), dtype=bool)) == 6


def _apart(first: np.ndarray, second: np.ndarray, sequence: int, hears: np.ndarray) -> int:
    def counted(rows: np.ndarray) -> dict[tuple[int, ...], float]:
        seen = count_patterns(rows, sequence, hears)
        return {(*b, a): c for b, a, c in zip(seen.before.tolist(), seen.after.tolist(), seen.counts, strict=True)}

    one, two_ = counted(first), counted(second)
    return int(sum(abs(one.get(key, 0) - two_.get(key, 0)) for key in one.keys() | two_.keys()))


@pytest.mark.parametrize(("shrink", "caught"), [(1.0, False), (1.3, True)])
@pytest.mark.slow
def test_the_noise_of_counts_under_the_auditor(shrink: float, caught: bool) -> None:
    # One sequence that hears itself, three periods: the middle record is counted twice.
    first, second = np.array([[0], [0], [0]]), np.array([[0], [1], [0]])

    def release(which: int, *, entropy: Entropy) -> tuple[int, ...]:
        rows = (first, second)[which].reshape(1, 3, 1)
        table = count_patterns(rows, 0, np.array([0]))
        counts = np.zeros(4, dtype=np.int64)
        counts[table.before[:, 0] * 2 + table.after] = table.counts
        noisy = counts[[0, 1, 2]] + entropy.laplace(record_reach(np.ones((1, 1), dtype=bool)) / 40.0 / shrink, (3,))
        return tuple(np.clip(noisy, -2, 4).tolist())

    assert examine(release, [(0, 1)]).refutes(40.0) is caught


def test_series_that_are_none_are_refused_without_being_told() -> None:
    series: object
    for series in [[[0, 2]], [0, 1], [[0.5, 1.0]], "01", [[0, 7351], [1, 0]], [[0], [1, 2]], [[0, -1], [0, 0]]]:
        with case(series):
            with pytest.raises(InvalidArgument, match="series must be whole numbers from 0 to 1") as refused:
                fit(series, states=2)  # type: ignore[arg-type]
            assert "7351" not in str(refused.value)


def test_who_hears_whom_must_be_said_for_everyone() -> None:
    for wrong in ([[True, False], [False, False]], [[1, 0], [0, 1]], [[True]]):
        with pytest.raises(InvalidArgument, match="hears must be"):
            check_hears(wrong, 2)


def test_a_chain_of_order_two_moves_as_it_should() -> None:
    made = augment(PAPER, [[[0.3]], [[0.7]]])
    assert (made.model.sequences, made.targets, made.ages(3)) == (2, (0,), (3, 3))
    assert made.model.next_laws([[0, 1]])[0].tolist() == [
        [pytest.approx(0.3 * 0.7 + 0.7 * 0.3), pytest.approx(0.58)],
        [1, 0],
    ]
    assert made.query(Mean()).weights == (1.0, 0.0)
    assert made.query(WeightedSum((2.0,))).weights == (2.0, 0.0)
    # The past goes into the present by two ways: exact leakage against a plain sum over four states.
    told = leakage(made.model, query=made.query(Sum()), ages=made.ages(1), epsilon=1.0, targets=made.targets)
    joint = JointChain(made.model)
    law = joint.kernel * joint.stationary
    given = (law / law.sum(axis=1, keepdims=True)).T  # P(x before | x now), rows: before
    one = given[[2, 3]].sum(axis=0)  # first sequence was 1
    density = np.array([(1 - one) + one * np.exp(-1.0), (1 - one) * np.exp(-1.0) + one])
    worst = max(np.abs(np.log(density[:, a] / density[:, b])).max() for a, b in ((0, 2), (1, 3)))
    assert told.exact == pytest.approx(worst)
    for wrong in ([[0.5, 0.5]], [[[0.5, 0.5]]], "x"):
        with pytest.raises(InvalidArgument, match="coupling must be"):
            augment(PAPER, wrong)
    with pytest.raises(InvalidArgument, match="transitions must be"):
        augment(np.full((3, 1, 1, 2, 2), 0.5), [[[0.5]], [[0.5]]])
    with pytest.raises(InvalidArgument, match="query must be"):
        made.query(Maximum())


@pytest.mark.slow
def test_spectra_and_mixing() -> None:
    assert spectrum(two(0.75)).second == pytest.approx(0.4)
    assert spectrum(CouplingMarkovChain(np.eye(2), [[1.0]])).notes[0].startswith("several stationary laws")
    assert spectrum(CouplingMarkovChain([[0, 1], [1, 0]], [[1.0]])).notes[0].startswith("a swing")
    wide = CouplingMarkovChain(
        PAPER, 0.5 * np.eye(1500) + 0.5 * np.eye(1500)[np.random.default_rng(1).permutation(1500)]
    )
    assert spectrum(wide).second == pytest.approx(0.4, abs=1e-3)
    assert mixing_time(CouplingMarkovChain([[0.99, 0.01], [0.01, 0.99]], [[1.0]])) == 35
    with pytest.raises(InvalidArgument, match="returns every 2 steps"):
        mixing_time(CouplingMarkovChain([[0, 1], [1, 0]], [[1.0]]))


def test_models_survive_being_written_down(tmp_path: Path) -> None:
    model = draw(np.random.default_rng(2)).model
    path = tmp_path / "model.json"
    path.write_text(model_to_json(model), encoding="utf-8")
    again = read_model(path)
    assert again.moves == pytest.approx(model.moves, abs=1e-15)
    thin = model_from_json(
        '{"sequences": 2, "edges": [[1, 0, 1.0], [0, 0, 1.0]], "transitions": [[0.7, 0.3], [0.3, 0.7]]}'
    )
    assert thin.tails.tolist() == [0, 0]
    for text, said in (
        ("{", "not a JSON document"),
        ("[1]", "not a model"),
        ('{"transitions": 1}', "not a model"),
        ('{"transitions": [[1]], "edges": [[1]]}', "not a model"),
    ):
        with pytest.raises(UnknownDocument, match=said):
            model_from_json(text)
    with pytest.raises(InvalidArgument, match="a file that can be read"):
        read_model(tmp_path / "none.json")


def test_edges_join_sequences_that_are_there() -> None:
    for text, said in [
        ('{"sequences": 1e999, "edges": [[0, 0, 1]], "transitions": [[1, 0], [0, 1]]}', "not a JSON document"),
        ('{"sequences": 1.5, "edges": [[0, 0, 1]], "transitions": [[1, 0], [0, 1]]}', "sequences must be a whole"),
        ('{"sequences": 1, "edges": [[0.9, 0, 1]], "transitions": [[1, 0], [0, 1]]}', "edges must be"),
        ('{"sequences": 1, "edges": [[NaN, 0, 1]], "transitions": [[1, 0], [0, 1]]}', "not a JSON document"),
        ('{"sequences": 1, "edges": [[1, 0, 1]], "transitions": [[1, 0], [0, 1]]}', "edges must be"),
        ('{"sequences": 1, "edges": [0, 0, 1], "transitions": [[1, 0], [0, 1]]}', "not a model"),
    ]:
        with case(text, said), pytest.raises(ChronodpError, match=said):
            model_from_json(text)


EVEN = [[0.5, 0.5], [0.5, 0.5]]


def test_models_that_are_none() -> None:
    transitions: object
    coupling: object
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


def test_sensitivities_are_those_of_listing() -> None:
    chance = np.random.default_rng(8)
    for _ in range(40):
        case = draw(chance)
        outputs = tabulate(case.query, case.model.sequences, case.model.states)
        joint = JointChain(case.model)
        values = outputs.values(joint.snapshots)[:, 0].reshape(joint.shape)
        listed = [np.ptp(values, axis=axis).max() for axis in range(case.model.sequences)]
        assert outputs.changes == pytest.approx(np.array(listed))
    assert tabulate(Several((Maximum(), Sum())), 3, 3).changes == pytest.approx(np.full(3, 4.0))


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
