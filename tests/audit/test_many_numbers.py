"""A case that releases more numbers at once than a text lists is judged like any other."""

from __future__ import annotations

import numpy as np
import pytest

import chronodp as cdp
from chronodp.ledger import MOST_LISTED
from chronodp.randomness import seeded
from tests.audit.cases.series import noisy_numbers


@pytest.mark.slow
def test_numbers_beside_the_text_are_those_that_an_adversary_sees() -> None:
    totals = np.zeros(MOST_LISTED + 1)
    plan = cdp.Aggregate(totals, change=1.0, unit=cdp.Event()).plan(epsilon=1.0)
    seen = noisy_numbers(plan, seeded(1))
    assert seen.shape == totals.shape
    assert 0 < np.abs(seen).mean() * plan.design.noises[0].step < 2
