"""A whole release, ledger and all, enumerated through its public call."""

from __future__ import annotations

import pytest

from chronodp.audit.exact import examine
from chronodp.audit.subjects.series import coarse_plan, noisy_numbers
from chronodp.randomness import Entropy


@pytest.mark.parametrize(("thin", "caught"), [(1.0, False), (0.9, True)])
def test_a_release_keeps_its_epsilon_and_a_thinner_one_is_caught(thin: float, caught: bool) -> None:
    def release(visits: tuple[str, ...], *, entropy: Entropy) -> int:
        return int(noisy_numbers(coarse_plan(visits, thin=thin), entropy)[0])

    finding = examine(release, [(("ann", "ann", "bo"), ("ann",))])
    assert finding.refutes(8.0, 0.0) is caught
    assert finding.epsilon > 7.9
