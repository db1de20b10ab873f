"""Places beside other queries on one budget, and ratios of two of them."""

from __future__ import annotations

import numpy as np
from tests.series.places.test_release import TREE, adds_up, series

import chronodp as cdp
from chronodp.randomness import seeded


def test_places_are_planned_together_and_divided(ledger: cdp.Ledger) -> None:
    days = series()
    food = days.count().where("trade = 'food'")
    queries = {"food": food.by(TREE, max_groups=2), "all": days.count().by(TREE, max_groups=2)}
    plan = cdp.plan_together(queries, epsilon=4.0, delta=1e-6)
    release = plan.release(ledger, dataset="meters", request="both", entropy=seeded("both"), progress=lambda _: None)
    part, whole = release["food"], release["all"]
    assert isinstance(part, cdp.Release)
    assert isinstance(whole, cdp.Release)
    assert adds_up(part.to_pandas())
    assert adds_up(whole.to_pandas())
    shares = part.resample("7D").ratio(whole.resample("7D"), within=(0, 1)).to_pandas()
    assert list(shares.columns[:3]) == ["time", "level", "place"]
    assert np.isfinite(shares["lower"]).all()
