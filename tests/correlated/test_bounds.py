"""Every bound against exact leakage on thousands of random chains; formulas that are no bounds must be caught."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Mean, leakage
from chronodp.correlated.bounds import (
    blunted,
    forward_distances,
    forward_dobrushin,
    from_distance,
    group_spans,
    least_ratios,
    round_up,
    total_variation,
)
from chronodp.correlated.joint import JointChain
from chronodp.correlated.leakage_model import Released
from chronodp.correlated.published.paper import theorem_1, theorem_2
from chronodp.correlated.query import tabulate
from chronodp.errors import InvalidArgument
from tests.conftest import Trials
from tests.correlated.chains import Case, draw, two

CERTIFIED = {"group ceiling", "one step", "space-time Dobrushin", "memory", "total variation", "forward Dobrushin"}
NO_BOUNDS = {"theorem 1", "theorem 2", "forward Dobrushin, irreversible"}


def every_bound(
    case: Case, gauge: LeakageModel, released: Released, exact: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    found = gauge.bounds(released, "knows_others")
    if len(gauge.groups) > 1 or released.releases > 1:
        return found
    joint, ages = gauge.joints[0], np.array(case.ages)
    heard = group_spans(case.model, released.outputs) * case.epsilon
    found["total variation"] = round_up(total_variation(joint, ages, heard=heard))
    forward = round_up(from_distance(forward_distances(case.model, ages), heard))
    found["forward Dobrushin" if joint.is_reversible else "forward Dobrushin, irreversible"] = forward
    formulas = {
        "theorem 1": theorem_1(case.model, query=case.query, ages=case.ages, epsilon=case.epsilon),
        "theorem 2": theorem_2(case.model, ages=case.ages, epsilon=case.epsilon),
    }
    for name, formula in formulas.items():
        found[name] = np.where(exact == exact.max(), formula, np.inf)
    return found


@pytest.mark.slow
def test_no_certified_bound_is_ever_below_the_truth_and_the_papers_are(trials: Trials) -> None:
    chance = np.random.default_rng(2026)
    checked: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for _ in range(trials(5_000, least=250)):
        case = draw(chance)
        gauge = LeakageModel(case.model)
        outputs = tabulate(case.query, case.model.sequences, case.model.states)
        releases = 2 if case.model.states**case.model.sequences <= 8 and chance.random() < 0.2 else 1
        released = Released(outputs, np.array(case.ages), case.epsilon, releases)
        for adversary in ("knows_others", "knows_none"):
            exact = gauge.measure(released, adversary).exact
            assert not np.isnan(exact).any()
            if adversary == "knows_others":
                bounds = every_bound(case, gauge, released, exact)
            else:
                bounds = gauge.bounds(released, "knows_none")
            for name, bound in bounds.items():
                checked[name] += 1
                broken[name] += bool(np.any(bound < exact))
    assert set(checked) == CERTIFIED | NO_BOUNDS
    assert {name for name in CERTIFIED if broken[name]} == set()
    assert {name for name in NO_BOUNDS if broken[name]} == NO_BOUNDS


def test_reversible_chains_may_spread_forward_and_others_may_not() -> None:
    ages = np.array([2, 2])
    joint = JointChain(two(0.75))
    assert (
        forward_dobrushin(joint, ages, heard=np.full(2, 2.0)).max()
        >= leakage(two(0.75), query=Mean(), ages=2, epsilon=1.0).certified
    )
    turning = CouplingMarkovChain([[0.9, 0.0, 0.1], [0.1, 0.9, 0.0], [0.0, 0.1, 0.9]], [[1.0]])
    with pytest.raises(InvalidArgument, match="looks different backwards"):
        forward_dobrushin(JointChain(turning), np.array([1]), heard=np.array([1.0]))


def test_the_closed_form_of_the_one_step_bound_is_attained() -> None:
    chance = np.random.default_rng(1)
    for told, heard in chance.exponential(2.0, size=(50, 2)):
        share = 1 / (1 + np.exp((told + heard) / 2))
        weights, rho, density = np.array([share, 1 - share]), np.array([np.exp(told), 1]), np.array([np.exp(heard), 1])
        reached = np.log((weights @ (rho * density)) / (weights @ rho) / (weights @ density))
        bound = blunted(np.array([told]), np.array([heard]))[0]
        assert bound == pytest.approx(reached, rel=1e-9)
        assert bound <= min(told, heard)
        other = chance.dirichlet(np.ones(6))
        rhos, densities = np.exp(told * chance.random(6)), np.exp(heard * chance.random(6))
        assert np.log((other @ (rhos * densities)) / (other @ rhos) / (other @ densities)) <= bound
    assert blunted(np.array([1e-9]), np.array([1e-9]))[0] == pytest.approx(2.5e-19, rel=1e-6)
    assert blunted(np.array([3.0, np.inf, 900.0]), np.array([np.inf, 2.0, 900.0])).tolist()[:2] == [3.0, 2.0]


def test_least_ratios_are_those_of_listing() -> None:
    chance = np.random.default_rng(4)
    for _ in range(30):
        case = draw(chance)
        laws = case.model.next_laws(JointChain(case.model).snapshots)
        listed = (laws[:, :, :, None] / laws[:, :, None, :]).min(axis=0)
        assert least_ratios(case.model) == pytest.approx(listed, rel=1e-12)


def ring(sequences: int, stay: float) -> CouplingMarkovChain:
    """Everyone hears itself and two neighbours, in a circle."""
    place = np.arange(sequences)
    rows = np.repeat(place, 3)
    columns = np.stack([place, (place + 1) % sequences, (place - 1) % sequences], axis=1).ravel()
    weights = np.tile([0.5, 0.25, 0.25], sequences)
    coupling = sparse.csr_array((weights, (rows, columns)), shape=(sequences, sequences))
    return CouplingMarkovChain([[stay, 1 - stay], [1 - stay, stay]], coupling)


def test_a_group_too_large_to_list_falls_back_to_a_bound_that_dies_with_age_and_says_so() -> None:
    gauge = LeakageModel(ring(400, 0.62))
    found = [leakage(gauge, query=Mean(), ages=age, epsilon=1.0) for age in (1, 3, 6)]
    assert [told.exact for told in found] == [None] * 3
    assert found[0].certified > 5 * found[1].certified > 25 * found[2].certified > 0
    assert found[2].certified_by == "space-time Dobrushin"
    assert "a group of 400 sequences has 2^400 joint states" in found[0].reasons[0]
    assert len(found[0].each) == 400
    # A circle of 8 is listed; the bound for the same neighbourhood lies above it.
    small = leakage(ring(8, 0.62), query=Mean(), ages=3, epsilon=1.0)
    assert small.exact is not None
    assert small.exact <= found[1].certified
    assert found[0].paper_theorem_1 is None


@pytest.mark.slow
def test_a_stream_of_releases_never_tells_more_than_the_last_step() -> None:
    gauge = LeakageModel(ring(60, 0.62))
    one, ten, many = (leakage(gauge, query=Mean(), ages=2, epsilon=1.0, releases=n) for n in (1, 10, 1000))
    assert one.certified < ten.certified <= many.certified
    assert many.certified < 3.0  # one step: h, whatever was released before
    assert many.series == 1000.0
    small = LeakageModel(two(0.75))
    exact = [leakage(small, query=Mean(), ages=1, epsilon=1.0, releases=n).exact for n in (1, 2, 3)]
    assert exact == sorted(exact)  # type: ignore[type-var]
