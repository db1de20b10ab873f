"""A whole release, ledger and all, enumerated through its public call."""

from __future__ import annotations

import pytest

from chronodp.audit.exact import examine
from chronodp.randomness import Entropy
from tests.audit.cases.series import coarse_plan, noisy_numbers


@pytest.mark.slow
def test_a_release_with_thinner_noise_is_caught() -> None:
    def release(visits: tuple[str, ...], *, entropy: Entropy) -> int:
        return int(noisy_numbers(coarse_plan(visits, thin=0.9), entropy)[0])

    finding = examine(release, [(("ann", "ann", "bo"), ("ann",))])
    assert finding.refutes(8.0, 0.0)
