"""One bound on a person's whole series, declared or found: what is released, what is said, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.dataset.test_find import frame, meters

import chronodp as cdp
from chronodp.errors import InvalidArgument, MissingBound, RequestConflict
from chronodp.privacy import dump, load
from chronodp.randomness import seeded
from chronodp.series import Find, FindPlan, Missing, Norm, ScaledSum
from chronodp.series.design import Design

REPLACE = cdp.User(relation="replace")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as store:
        store.open("meters", unit=cdp.User(), epsilon=100.0, delta=1e-5)
        yield store


def released(ledger: cdp.Ledger, query: Any, request: str = "one", **terms: Any) -> Any:
    plan = query.plan(**({"epsilon": 1.0, "delta": 1e-6} | terms))
    return plan.release(ledger, dataset="meters", request=request, entropy=seeded(5))


def scaled(norm: Any = 3.0, *, data: Any = "x.csv", signed: bool = True, **changes: Any) -> Any:
    return meters(data, **({"max_periods": None} | changes)).sum("kwh", bound=Norm(norm, signed))


@pytest.mark.slow
def test_people_are_scaled_and_not_cut(ledger: cdp.Ledger) -> None:
    data = frame()
    plan = scaled(data=data).plan(epsilon=1.0, delta=1e-6)
    (numbers,) = plan.read(key="k", progress=lambda _: None)
    by_day = data.assign(
        kept=data.kwh * data.groupby("who").kwh.transform(lambda own: min(1, 3 / np.hypot.reduce(own)))
    )
    exact = by_day.groupby("at").kept.sum().to_numpy()
    assert numbers[:, 0] * plan.design.noises[0].step == pytest.approx(exact, abs=1e-3)
    made = plan.release(ledger, dataset="meters", request="one")
    words = "a person's whole series scaled to a length of at most 3"
    assert words in " ".join(str(plan).split())
    assert words in str(made.certificate.mechanism)
    assert load(dump(made.design), Design) == made.design


@pytest.mark.parametrize(
    ("unit", "signed", "change"),
    [(cdp.User(), True, 3.0), (cdp.User(), False, 3.0), (REPLACE, True, 6.0), (REPLACE, False, 3 * 2**0.5)],
    ids=str,
)
def test_noise_follows_from_the_length(unit: Any, signed: bool, change: float) -> None:
    for groups in ({}, {"region": ["north", "south"]}):
        query = scaled(unit=unit, signed=signed)
        plan = (query.by(**groups) if groups else query).plan(epsilon=1.0, delta=1e-6)
        assert plan.design.noises[0].sensitivity == pytest.approx(change, rel=1e-12)
        assert str(plan.design.shape) == "white noise"
        assert plan.design.law == "gaussian"


def test_limits_of_the_series_do_not_matter() -> None:
    plans = [scaled(max_periods=limit).plan(epsilon=1.0, delta=1e-6) for limit in (None, 2, Find())]
    assert len({plan.identity for plan in plans}) == 1


@pytest.mark.slow
def test_a_length_is_found_and_errs_less_than_a_found_clip(ledger: cdp.Ledger) -> None:
    data = frame(3000)
    truth = data.groupby("at").kwh.sum().to_numpy()
    plan = scaled(Find(), data=data).plan(epsilon=1.0, delta=1e-6, missing=Missing(assume="even loss"))
    assert isinstance(plan, FindPlan)
    assert "of the budget picks bound, of 29 candidates" in " ".join(str(plan).split())
    made = plan.release(ledger, dataset="meters", request="one", entropy=seeded(5))
    assert made.found is not None
    assert made.found.norm is not None
    assert 3 < made.found.norm < 20
    assert made.found.size is None
    assert made.design.table.measure == ScaledSum("kwh", made.found.norm)
    assert made.certificate.claim.cost == plan.claim.cost == made.design.cost
    assert f"norm {made.found.norm:g}" in str(made.certificate.mechanism)
    days = made.to_pandas()
    assert ((days.lower_if_even <= truth) & (truth <= days.upper_if_even)).mean() > 0.9
    clip = released(ledger, meters(data).sum("kwh", clip=Find()), "clip").to_pandas()
    assert np.std(days.value - truth) < np.std(clip.value - truth)
    again = plan.release(ledger, dataset="meters", request="one")
    assert again.text == made.text
    with pytest.raises(RequestConflict):
        released(ledger, scaled(Find(0.1), data=data), missing=Missing())


_norm: Any = Norm


def test_what_cannot_be_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, str]] = [
        (lambda: _norm(0), "most"),
        (lambda: _norm("far"), "most"),
        (lambda: _norm(3.0, signed="no"), "signed"),
        (lambda: meters("x.csv").sum("kwh", bound=3.0), "bound must be Norm"),  # type: ignore[arg-type]
        (lambda: meters("x.csv").sum("kwh", clip=(0, 1), bound=Norm(3.0)), "clip must be left out"),
        (lambda: scaled(unit=cdp.Window(3)), "whole history"),
        (lambda: scaled(unit=cdp.UserPeriod("1W")), "whole history"),
        (lambda: scaled(unit=cdp.Event()), "whole history"),
        (lambda: scaled().plan(epsilon=1.0), "delta"),
        (lambda: scaled(Find()).plan(epsilon=1.0), "delta"),
        (lambda: scaled().by(max_groups=1, region=["north"]), "max_groups"),
        (lambda: scaled().by(max_groups=Find(), region=["north"]), "max_groups"),
        (lambda: scaled().peak(every="7D"), "peak"),
        (lambda: scaled(1e60), "clip"),
        (lambda: cdp.plan_together([scaled(Find())], epsilon=1.0), "delta"),
    ]
    for make, said in cases:
        with subtests.test(make=make, said=said), pytest.raises(InvalidArgument, match=said):
            make()


def test_a_sum_needs_a_bound_and_a_count_its_limit() -> None:
    series = meters("x.csv", max_periods=None)
    with pytest.raises(MissingBound, match="clip"):
        series.sum("kwh")
    with pytest.raises(MissingBound, match="max_periods"):
        series.count()
