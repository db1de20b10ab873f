"""One step: whole numbers of bounded length, exact samples, and its law enumerated against the claim."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from chronodp.accounting import sampled
from chronodp.audit.exact import examine, outcomes
from chronodp.errors import InvalidArgument
from chronodp.federated.training.clipping import whole_rows
from chronodp.federated.training.step import RESOLUTION, StepDesign, private_sum, sample
from chronodp.privacy import User
from chronodp.randomness import Entropy, seeded
from tests.conftest import Trials

STEP = StepDesign(clip=1.0, sigma=1.0, rate=0.3, resolution=4)

anything = st.floats(allow_nan=True, allow_infinity=True, width=32)


def test_rows_are_the_gradient_clipped() -> None:
    chance = np.random.default_rng(0)
    for size in (1, 3, 1000, 20_000):
        rows = chance.normal(0, 1, (8, size)) * np.array([1e-3, 0.1, 1, 1, 3, 10, 1e3, 1e30])[:, None] / np.sqrt(size)
        found = whole_rows(rows, clip=2.0, resolution=RESOLUTION) * (2.0 / RESOLUTION)
        lengths = np.linalg.norm(rows / np.abs(rows).max(1, keepdims=True), axis=1) * np.abs(rows).max(1)
        expected = rows * np.minimum(1, 2.0 / lengths)[:, None]
        assert np.abs(found - expected).max() <= 2.0 / RESOLUTION * 1.01 + 1e-4 * np.abs(expected).max()


def test_the_sample_has_the_exact_chance() -> None:
    for rate in (0.1, 1 / 3, 0.7):
        law = outcomes(partial(_count, rate))
        chance = law.probabilities[1]
        assert Fraction(0) <= Fraction(str(rate)) - chance <= Fraction(1, 2**52)


def _count(rate: float, entropy: Entropy) -> int:
    return len(sample(1, rate, entropy))


def step(people: tuple[float, ...], *, entropy: Entropy) -> object:
    rows = np.array(people).reshape(-1, 1)
    return private_sum(STEP, len(people), lambda chosen: [rows[chosen]], size=1, entropy=entropy).tolist()


@pytest.mark.slow
def test_one_step_is_as_private_as_it_says_and_nearly_no_more() -> None:
    finding = examine(step, [((1.0,), ()), ((9.0, -1.0), (-1.0,)), ((0.4, 0.2), (0.4,))])
    for epsilon in (0.02, 0.1, 0.3, 0.7, 1.2):
        claimed = sampled.delta_of(STEP.cost, epsilon)
        low, high = finding.delta(epsilon)
        assert high <= claimed
        assert low > 0.9 * claimed - 1e-4  # the grid hides very little
        assert finding.refutes(epsilon, 0.8 * claimed)


def test_an_empty_sample_is_noise_which_is_not_torchs() -> None:
    none = private_sum(STEP, 0, lambda _: [], size=3, entropy=seeded(1))
    rows = np.ones((1, 3))
    rare = StepDesign(clip=1.0, sigma=1.0, rate=1e-9)
    quiet = private_sum(rare, 1, lambda chosen: [rows[chosen]], size=3, entropy=seeded(1))
    assert none.any()
    assert quiet.any()
    import torch

    torch.manual_seed(1)
    one = private_sum(STEP, 0, lambda _: [], size=50, entropy=seeded(1))
    torch.manual_seed(2)
    assert np.array_equal(one, private_sum(STEP, 0, lambda _: [], size=50, entropy=seeded(1)))


def test_noise_has_the_stated_deviation(trials: Trials) -> None:
    size = trials(2_000_000, least=100_000)
    design = StepDesign(clip=0.5, sigma=1.7, rate=0.5)
    noise = private_sum(design, 0, lambda _: [], size=size, entropy=seeded(7))
    # 7 standard errors of a standard deviation: a false alarm once in 4e11; nine tenths of the noise is far beyond.
    assert abs(float(noise.std()) / 0.85 - 1) < 7 / np.sqrt(2 * size)
    assert abs(0.9 - 1) > 7 / np.sqrt(2 * size)
    assert abs(float(noise.mean())) < 7 * 0.85 / np.sqrt(size)


def test_claims_and_bad_designs() -> None:
    assert STEP.claim.unit == User()
    assert STEP.claim.cost == STEP.cost
    assert STEP.scale >= 4
    for name, wrong in (("clip", 0.0), ("sigma", 0.0), ("rate", 1.0), ("resolution", 0)):
        options: dict[str, Any] = {"clip": 1.0, "sigma": 1.0, "rate": 0.1, "resolution": 4} | {name: wrong}
        with pytest.raises(InvalidArgument, match=name):
            StepDesign(**options)
