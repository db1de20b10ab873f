"""A budget that cannot pay a plan refuses it before any data are read, whatever the plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.series.releases import Silent, made, night

import chronodp as cdp
from chronodp.dataset.joint.plan import PlanTogether
from chronodp.errors import BudgetExhausted, RequestConflict, UnitMismatch, UnknownBudget, UnsupportedCost
from chronodp.ledger import Written
from chronodp.privacy import Claim, FailureCost, GaussianCost, SequenceCost
from chronodp.series import Plan
from chronodp.series.discovery.plan import DiscoverPlan
from chronodp.series.finding.plan import FindPlan
from chronodp.series.quantiles.plan import QuantilePlan
from chronodp.series.releasing import ReleasePlan
from chronodp.spectrum.spectrum import SpectrumPlan


def test_every_plan_is_released_by_the_one_way_that_checks_first() -> None:
    made = set(all_kinds(ReleasePlan))
    assert {Plan, FindPlan, DiscoverPlan, QuantilePlan, SpectrumPlan, PlanTogether} <= made
    for kind in made:
        assert kind.release is ReleasePlan.release, kind


def all_kinds(kind: Any) -> Iterator[type[ReleasePlan[Any, Any]]]:
    for below in kind.__subclasses__():
        yield below
        yield from all_kinds(below)


class Unread(ReleasePlan[int, None]):
    """A plan with a failure whose data nobody may read."""

    claim = Claim(cdp.User(), SequenceCost((GaussianCost(1.0, 5.0), FailureCost(1e-7))), "a page")
    identity, _purpose, _reading = "unread", "unread", "Reading"

    def read(self, *, key: str, progress: object) -> int:  # noqa: ARG002
        raise AssertionError("data were read")

    def draw(self, numbers: int, entropy: object) -> Written:
        raise NotImplementedError

    def certificate_for(self, *, seeded: bool) -> Any:
        raise NotImplementedError

    def content(self, numbers: int) -> tuple[bytes, ...]:
        raise NotImplementedError

    def _released(self, fulfilled: object) -> None:
        raise NotImplementedError


def test_a_failure_without_a_reserve_is_refused_before_data_are_read(ledger: cdp.Ledger) -> None:
    ledger.open("kept", unit=cdp.User(), epsilon=100.0, delta=1e-3, reserve=1e-7)
    ledger.open("pure", unit=cdp.User(), epsilon=100.0)
    for dataset, mend in (("meters", "open with reserve=1e-07 or more"), ("pure", "open with delta=1e-07 or more")):
        with pytest.raises(UnsupportedCost, match=mend):
            Unread().release(ledger, dataset=dataset, request="a")
    with pytest.raises(AssertionError, match="data were read"):  # so the check above is what stood in the way
        Unread().release(ledger, dataset="kept", request="a")
    assert [ledger.status(name).charges for name in ("meters", "pure", "kept")] == [0, 0, 0]


def test_what_cannot_be_paid_is_refused_before_data_are_read(
    ledger: cdp.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.open("small", unit=cdp.User(), epsilon=1.0)
    plan = night().count().plan(epsilon=1.0)
    first = made(plan, ledger, "first", dataset="small", entropy=Silent())
    reads: list[Plan] = []
    read = Plan.read

    def noted(self: Plan, **options: Any) -> Any:
        reads.append(self)
        return read(self, **options)

    monkeypatch.setattr(Plan, "read", noted)
    rows = night(unit=cdp.Event(), max_periods=None).count().plan(epsilon=0.1)
    for asked, dataset, error in (
        (plan, "small", BudgetExhausted), (plan, "nowhere", UnknownBudget), (rows, "small", UnitMismatch),
    ):  # fmt: skip
        with pytest.raises(error):
            made(asked, ledger, "second", dataset=dataset)
    assert reads == []
    assert (ledger.status("small").charges, ledger.status("small").unreleased) == (1, ())
    # What was paid for is found again although nothing is left, and a used id is still told apart.
    assert made(plan, ledger, "first", dataset="small", entropy=Silent()).text == first.text
    with pytest.raises(RequestConflict):
        made(night().count().plan(epsilon=0.5), ledger, "first", dataset="small")
