"""What one release may cost: an epsilon at the dataset's own delta, whatever delta it states."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from chronodp.accounting import epsilon_at, gaussian
from chronodp.errors import NotAllowed
from chronodp.privacy import FailureCost, GaussianCost, PureCost, SequenceCost
from chronodp.service.curator import Curator
from chronodp.service.planning import AnyPlan
from chronodp.service.policy_file import read_policy
from chronodp.service.price import _is_within, check_price
from chronodp.service.question import QueryRequest
from tests.cases import raising
from tests.service.town import COUNT, SUM, write_policy


@pytest.fixture
def curators(tmp_path: Path) -> Iterator[Any]:
    """Make curators whose policy differs; nothing is opened or spent."""
    made: list[Curator] = []

    def make(**changes: str) -> Curator:
        text = write_policy(tmp_path).read_text(encoding="utf-8")
        for old, new in {"epsilon = 10.0": "epsilon = 0.5", **changes}.items():
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
        made.append(Curator(read_policy(tmp_path / "policy.toml"), str(tmp_path / "budget.db")))
        return made[-1]

    yield make
    for curator in made:
        curator.close()


def plan(curator: Curator, question: Any, **changes: Any) -> AnyPlan:
    return curator.plan(curator.policy.datasets["meters"], QueryRequest.model_validate(question | changes))


def test_a_large_delta_buys_no_larger_release(curators: Any) -> None:
    curator = curators()
    with pytest.raises(NotAllowed, match=r"does not allow delta 0\.03") as refused:
        plan(curator, SUM, epsilon=0.5, delta=0.03)
    assert (refused.value.argument, refused.value.mend) == ("delta", "make it at most 1e-06")
    # With a delta within the policy's the same noise is asked for by another epsilon, and refused by its price.
    with pytest.raises(NotAllowed, match=r"costs epsilon 1\.85 at the dataset's delta of 1e-06") as refused:
        plan(curator, SUM, epsilon=1.85, delta=1e-6)
    assert "at most 0.5" in refused.value.mend


def test_a_delta_below_the_datasets_is_worth_its_difference(curators: Any) -> None:
    curator = curators()
    found = plan(curator, SUM, epsilon=0.53, delta=1e-7)  # a larger epsilon than the cap, and a smaller delta
    assert 0.45 < epsilon_at(found.design.cost, 1e-6) <= 0.5
    with pytest.raises(NotAllowed, match="costs epsilon"):
        plan(curator, SUM, epsilon=0.6, delta=1e-7)
    with pytest.raises(NotAllowed, match="costs epsilon"):
        plan(curator, SUM, epsilon=0.51, delta=0.0)


FOUND = {"measure": {"kind": "sum", "column": "kwh"}, "find": {"bounds": ["clip", "max_periods"], "from_zero": True}}
QUANTILES = {"measure": {"kind": "quantiles", "column": "kwh", "edges": [0, 1, 2, 3], "fractions": [0.5, 0.9]}}
MEAN = {"measure": {"kind": "mean", "of": "totals", "column": "kwh", "clip": [0.0, 3.0]}}
KEYS = {"measure": {"kind": "count"}, "by": {"page": {"max_keys": 3}}}
RUNNING = SUM | {"tuned_for": {"kind": "running_total"}}


@pytest.mark.parametrize("question", [SUM, COUNT, MEAN, FOUND, QUANTILES, KEYS, RUNNING, SUM | {"missing": {}}])
def test_a_question_at_the_cap_itself_is_allowed_and_one_above_is_not(curators: Any, question: Any) -> None:
    for cap in [0.1, 0.37, 1.0, 7.77]:
        search = "find = true\ndiscover = { columns = ['page'] }"
        curator = curators(
            **{
                "epsilon = 10.0": f"epsilon = {cap}",
                "delta = 1e-6": "delta = 1e-6\nreserve = 4e-7",
                "least_group = 15": search,
            }
        )
        deltas = (1e-6,) if question is KEYS else (0.0, 1e-6)
        for delta in deltas:
            found = plan(curator, question, epsilon=cap, delta=delta)
            assert epsilon_at(found.design.cost, 1e-6) <= cap, cap
            with raising(NotAllowed, match="costs epsilon", case=cap):
                plan(curator, question, epsilon=cap * (1 + 1e-3), delta=delta)


def test_a_failure_counts_as_delta_even_beside_pure_noise(curators: Any) -> None:
    changes = {
        "delta = 1e-6": "delta = 1e-6\nreserve = 4e-7",
        "least_group = 15": "delta = 1e-7\ndiscover = { columns = ['page'] }",
    }
    curator = curators(**changes)
    question = {"measure": {"kind": "count"}, "by": {"page": {"max_keys": 3, "delta": 3e-7}}, "epsilon": 0.4}
    with pytest.raises(NotAllowed, match="does not allow delta 3e-07"):
        plan(curator, question)
    plan(curator, question | {"by": {"page": {"max_keys": 3, "delta": 5e-8}}})


def test_a_budget_without_delta_counts_epsilons(curators: Any) -> None:
    curator = curators(**{"delta = 1e-6": "delta = 0.0"})
    plan(curator, SUM, epsilon=0.5, delta=0.0)
    with pytest.raises(NotAllowed, match="does not allow delta 1e-09") as refused:
        plan(curator, SUM, epsilon=0.5, delta=1e-9)
    assert refused.value.mend == "make it 0: no delta may be stated"
    with pytest.raises(NotAllowed, match=r"costs epsilon 0\.501"):
        plan(curator, SUM, epsilon=0.501, delta=0.0)


def test_a_price_just_above_is_told_apart_from_what_is_allowed(curators: Any) -> None:
    meters = curators().policy.datasets["meters"]
    with pytest.raises(NotAllowed, match=r"costs epsilon 0\.50000001 "):
        check_price(meters, PureCost(0.50000001))
    check_price(meters, PureCost(0.5))
    with pytest.raises(NotAllowed, match="costs epsilon inf"):
        check_price(meters, SequenceCost((GaussianCost(1.0, 1e9), FailureCost(1e-6))))


@given(epsilon=st.floats(0.01, 10.0), off=st.floats(-1e-3, 1e-3), delta=st.sampled_from([1e-9, 1e-6, 1e-3]))
def test_one_look_grants_no_more_than_the_price_itself(epsilon: float, off: float, delta: float) -> None:
    cost = GaussianCost(1.0, gaussian.sigma(epsilon, delta) * (1 + off))
    price = epsilon_at(cost, delta)
    assert _is_within(cost, price, delta)
    assert _is_within(cost, epsilon, delta) == (price <= epsilon) or abs(price / epsilon - 1) < 1e-12
    assert not _is_within(PureCost(epsilon / 2), epsilon, delta)  # by epsilons alone, which `epsilon_at` adds up
