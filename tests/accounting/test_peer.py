"""Agreement with dp-accounting on a generated grid."""

from __future__ import annotations

from itertools import product

import dp_accounting
import pytest
from dp_accounting import rdp

from chronodp.accounting import renyi
from chronodp.privacy import Cost, GaussianCost, LaplaceCost, RepeatedCost

ORDERS = [1.1, 1.5, 2.0, 3.0, 8.0, 32.0, 256.0]
DELTAS = [1e-9, 1e-6, 1e-3, 0.1]


def test_divergences_agree(subtests: pytest.Subtests) -> None:
    for times, ratio in product([1, 7, 1000], [0.01, 0.1, 1.0, 5.0]):
        with subtests.test(times=times, ratio=ratio):
            pairs: list[tuple[Cost, dp_accounting.DpEvent]] = [
                (GaussianCost(sensitivity=ratio, sigma=1.0), dp_accounting.GaussianDpEvent(1 / ratio)),
                (LaplaceCost(sensitivity=ratio, scale=1.0), dp_accounting.LaplaceDpEvent(1 / ratio)),
            ]
            for cost, event in pairs:
                accountant = rdp.RdpAccountant(ORDERS)
                accountant.compose(event, times)
                ours = [renyi.divergence(RepeatedCost(cost, times), order) for order in ORDERS]
                assert ours == pytest.approx(list(accountant._rdp), rel=1e-9)
                for delta in DELTAS:  # theirs has a few orders, ours the best one
                    assert renyi.epsilon(RepeatedCost(cost, times), delta) <= accountant.get_epsilon(delta) * (1 + 1e-9)
