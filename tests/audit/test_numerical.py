"""Exact curves of noise on a grid, and shapes measured on what really runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from chronodp.accounting import gaussian
from chronodp.audit import Allowance, AuditCase, Linear, judge
from chronodp.audit.exact import examine
from chronodp.audit.numerical import GridNoise
from chronodp.privacy import Claim, Event, GaussianCost, LaplaceCost
from chronodp.randomness import Entropy
from tests.rounding import FUNCTION


@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize(("law", "scale"), [("laplace", 3.0), ("gaussian", 4.0), ("laplace", 0.3)])
def test_curves_are_those_of_every_outcome(law: str, scale: float, shift: int) -> None:
    def count(value: int, *, entropy: Entropy) -> int:
        return value + int(getattr(entropy, law)(scale, 1)[0])

    finding = examine(count, [(0, shift)])
    noise = GridNoise(law, scale, shift)  # type: ignore[arg-type]  # one of the two
    for epsilon in (0.0, 0.1, 0.4, 1.0):
        low, high = finding.delta(epsilon)
        off = 4 * FUNCTION * (1 + math.exp(epsilon))  # two probabilities of at most 1, each by two functions
        assert low - off <= noise.delta(epsilon) <= high + off
    if law == "laplace":
        assert noise.epsilon(0.0) == pytest.approx(finding.epsilon, abs=1e-12)


def test_fine_grids_come_near_the_ideal_curve_from_below() -> None:
    for power in (2, 8, 24):
        scale = 3.0 * 2.0**power
        noise = GridNoise("gaussian", scale, 2**power)
        ideal = gaussian.delta_of(1 / 3.0, 0.7)
        assert noise.delta(0.7) <= ideal * (1 + 1e-9)
        assert noise.delta(0.7) == pytest.approx(ideal, rel=0.05 / 2**power + 1e-9)
    assert GridNoise("gaussian", 3.0, 1).epsilon(0.0) == math.inf


def test_a_shape_is_measured_and_its_missing_memory_caught() -> None:
    memory = 0.5

    def stream(values: tuple[float, ...], *, entropy: Entropy) -> tuple[float, ...]:
        draws = entropy.gaussian(2.0**20, len(values)) / 2.0**20
        noise = draws.copy()
        for step in range(1, len(values)):
            noise[step] = draws[step] - memory * noise[step - 1]
        return tuple((np.array(values) + noise).tolist())

    def verdict(sensitivity: float) -> str:
        sigma = 1.0
        claim = Claim(Event(), GaussianCost(sensitivity, sigma), "here")
        pairs = (((0.0,) * 3, (1.0, 0.0, 0.0)), ((0.0,) * 3, (0.0, 0.0, 1.0)))
        case = AuditCase(name="own", mechanism=stream, neighbours=pairs, claim=claim, delta=1e-3, checks=(Linear(),))
        return judge(case, Allowance()).outcome

    assert verdict(math.hypot(1.0, memory)) == "holds"
    assert verdict(1.0) == "refuted"


def test_an_output_without_noise_of_its_own_cannot_pass() -> None:
    def shared(values: tuple[float, ...], *, entropy: Entropy) -> tuple[float, ...]:
        noise = float(entropy.laplace(1000.0, 1)[0]) / 1000
        return tuple(value + noise for value in values)

    claim = Claim(Event(), LaplaceCost(1.0, 1.0), "here")
    case = AuditCase(
        name="own", mechanism=shared, neighbours=(((0.0, 0.0), (1.0, 0.0)),), claim=claim, checks=(Linear(),)
    )
    verdict = judge(case)
    assert not verdict.passed
    assert "published without noise" in verdict.reason
