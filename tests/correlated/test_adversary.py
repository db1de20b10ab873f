"""A simulated adversary who uses everything: it stays under what is certified, and above what the paper says."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import chronodp as cdp
from chronodp.correlated import (
    CouplingMarkovChain,
    Fran,
    Maximum,
    Mean,
    Several,
    autoregressive_covariance,
    design_fran,
    gaussian_information,
    leakage,
    release_aged,
    simulate,
    snippet_entropy,
)
from chronodp.correlated.fran import FranState, advance
from chronodp.correlated.joint import JointChain
from chronodp.errors import BudgetExhausted, InvalidArgument, RequestConflict
from chronodp.ledger import verify
from chronodp.randomness import seeded
from tests.conftest import Trials
from tests.correlated.chains import two

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
