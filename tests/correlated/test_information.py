"""What a snippet tells about the rest of a series, and about itself."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from chronodp.correlated import (
    CouplingMarkovChain,
    autoregressive_covariance,
    gaussian_information,
    snippet_entropy,
)
from chronodp.correlated.joint import JointChain
from chronodp.errors import InvalidArgument
from tests.correlated.chains import two


def test_memory_makes_a_snippet_tell_more_of_the_rest_and_less_of_itself(golden: Any) -> None:
    wanted = golden("claims/adversary_and_information.json")["mi_rest_nats"]
    found = []
    for memory, nats in wanted.items():
        rho = float(memory)
        covariance = autoregressive_covariance(48, memory=rho, deviation=3.0)
        found.append(gaussian_information(covariance, range(21, 27)))
        assert found[-1] == pytest.approx(nats, abs=1e-9)
        # Only the readings beside it and the gap that it leaves matter: ½ ln((1 - ρ^14) / (1 - ρ²)²).
        assert found[-1] == pytest.approx(math.log((1 - rho**14) / (1 - rho**2) ** 2) / 2, abs=1e-12)
        # At an end of the series it has one neighbour.
        assert gaussian_information(covariance, range(6)) == pytest.approx(-math.log(1 - rho**2) / 2, abs=1e-12)
    assert [round(nats, 3) for nats in found] == [0.0, 0.288, 0.999, 1.531, 2.528]
    found = []
    for leaves, bits in golden("claims/adversary_and_information.json")["mi_self_bits"].items():
        q = float(leaves)
        chain = CouplingMarkovChain([[1 - q, q], [q, 1 - q]], [[1.0]])
        found.append(snippet_entropy(chain, 6) / math.log(2))
        assert found[-1] == pytest.approx(bits, rel=1e-12)
    assert [round(bits, 2) for bits in found] == [6.0, 5.41, 3.34, 1.71]


def test_entropy_by_listing_every_path() -> None:
    joint = JointChain(two(0.75))
    size = len(joint.stationary)
    total = 0.0
    for walk in itertools.product(range(size), repeat=3):
        chance = joint.stationary[walk[0]] * joint.kernel[walk[1], walk[0]] * joint.kernel[walk[2], walk[1]]
        total -= chance * math.log(chance)
    assert snippet_entropy(two(0.75), 3) == pytest.approx(total, rel=1e-12)
    still = CouplingMarkovChain([[0.0, 1.0], [1.0, 0.0]], [[1.0]])
    assert snippet_entropy(still, 9) == pytest.approx(math.log(2))  # a swing: one reading tells all others


def test_bad_arguments_are_named() -> None:
    covariance = autoregressive_covariance(4, memory=0.5)
    for snippet in ((), range(4), (4,), (-1,)):
        with pytest.raises(InvalidArgument, match="snippet must be"):
            gaussian_information(covariance, snippet)
    with pytest.raises(InvalidArgument, match="covariance must be"):
        gaussian_information(np.ones((3, 3)), [0])
    with pytest.raises(InvalidArgument, match="covariance must be"):
        gaussian_information([[1.0, 0.5]], [0])
    with pytest.raises(InvalidArgument, match="memory must be"):
        autoregressive_covariance(4, memory=1.0)
    with pytest.raises(InvalidArgument, match="model must be"):
        snippet_entropy(CouplingMarkovChain(np.eye(2), [[1.0]]), 3)
