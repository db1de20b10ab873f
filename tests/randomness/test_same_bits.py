"""The fast path against the slow one, on the same bits: every value that the fast path decides must agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.randomness import slow
from chronodp.randomness.reservoir import Reservoir
from chronodp.randomness.variates import EXPONENTIAL, GAUSSIAN, LAPLACE, Family, Workspace
from tests.conftest import Trials
from tests.randomness.replay import Replay, edge_words, random_words

SCALES = [0.3, 16.0, 1000.3, 2.0**20, 2.0**29.5]
UNDECIDED = -(2**62)
Words = NDArray[np.int64]


class FilterOnly(Reservoir):
    """A reservoir that marks what it would have handed to the slow path."""

    def _slowly(self, index: int, scale: float) -> int:  # noqa: ARG002 - the signature is the parent's
        return UNDECIDED


def fast(family: Family, words: Words, scale: float) -> NDArray[np.int64]:
    return FilterOnly(Replay(words), family, batch=len(words)).draw(scale, len(words))


def reference_laplace(words: Words, scale: float) -> NDArray[np.int64]:
    return np.array([slow.laplace(slow.UniformReal(int(word), Replay()), scale) for word in words])


def reference_exponential(words: Words, scale: float) -> NDArray[np.int64]:
    return np.array([slow.exponential(slow.UniformReal(int(word), Replay()), scale) for word in words])


def reference_gaussian(words: Words, scale: float) -> NDArray[np.int64]:
    half = len(words) // 2
    numbers = [slow.UniformReal(int(word), Replay()) for word in words]
    pairs = list(zip(numbers[:half], numbers[half:], strict=True))
    sines = [slow.gaussian(*pair, scale, cosine=False) for pair in pairs]
    cosines = [slow.gaussian(*pair, scale, cosine=True) for pair in pairs]
    return np.array(sines + cosines)


REFERENCES: dict[str, tuple[Family, Callable[[Words, float], NDArray[np.int64]]]] = {
    "laplace": (LAPLACE, reference_laplace),
    "exponential": (EXPONENTIAL, reference_exponential),
    "gaussian": (GAUSSIAN, reference_gaussian),
}


def words_for(kind: str, count: int, seed: int) -> Words:
    edges = edge_words()
    if kind != "gaussian":
        return np.concatenate([edges, random_words(count, seed)])
    radius = np.concatenate([edges, random_words(len(edges), seed + 1), edges, random_words(count // 2, seed + 2)])
    angle = np.concatenate([random_words(len(edges), seed + 3), edges, edges[::-1], random_words(count // 2, seed + 4)])
    return np.concatenate([radius, angle])


@pytest.mark.parametrize("kind", REFERENCES)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.long
def test_agree_on_random_and_edge_words(kind: str, scale: float, trials: Trials) -> None:
    family, reference = REFERENCES[kind]
    count = trials(20_000, least=1_000)  # over five scales: 100,000 random values of each kind
    words = words_for(kind, count, seed=11)
    values = fast(family, words, scale)
    decided = values != UNDECIDED
    expected = reference(words, scale)
    assert np.array_equal(values[decided], expected[decided])
    assert decided[-(count // 2) :].mean() > (0.99 if scale > 2**25 else 0.9999)


def words_near_boundaries(kind: str, scale: float, count: int, seed: int) -> Words:
    """Words whose scaled variate lies within three tolerances of a point where the rounding changes."""
    chance = np.random.default_rng(seed)
    tolerance = scale * REFERENCES[kind][0].tolerance
    signs = chance.choice([-1, 1], count)
    first, second = [], random_words(count, seed + 1)
    with mpmath.workprec(200):
        for index in range(count):
            offset = mpmath.mpf(REFERENCES[kind][0].half) + mpmath.mpf(chance.uniform(-3, 3)) * tolerance
            if kind != "gaussian":
                step = min(int(chance.exponential() * scale * 1.5), int(15.5 * scale))
                size = mpmath.exp(-(step + offset) / mpmath.mpf(scale))
            else:
                turn = mpmath.pi / 2 * mpmath.mpf(int(second[index])) / 2**63
                share = abs(mpmath.cos(turn) if chance.random() < 0.5 else mpmath.sin(turn))
                step = int(abs(chance.normal()) * scale * float(share))
                size = mpmath.exp(-(((step + offset) / (scale * share)) ** 2) / 2)
            first.append(int(mpmath.floor(2**63 * min(size, 1 - mpmath.mpf(2) ** -62))) * int(signs[index]))
    words = np.array(first, dtype=np.int64)
    return words if kind != "gaussian" else np.concatenate([words, second])


@pytest.mark.parametrize("kind", REFERENCES)
@pytest.mark.parametrize("scale", [16.0, 1000.3, 2.0**20])
def test_agree_within_three_tolerances_of_a_boundary_and_an_injected_error_is_caught(
    kind: str, scale: float, trials: Trials
) -> None:
    family, reference = REFERENCES[kind]
    words = words_near_boundaries(kind, scale, trials(6_000, least=400), seed=23)
    expected = reference(words, scale)

    def disagreements(injected: float) -> int:
        chance = np.random.default_rng(5)

        def transform(given: Words, out: NDArray[np.float64], work: Workspace) -> None:
            family.transform(given, out, work)
            out += chance.choice([-1.0, 1.0], len(out)) * injected * family.tolerance

        values = fast(replace(family, transform=transform), words, scale)
        decided = values != UNDECIDED
        assert decided.any()
        return int((values[decided] != expected[decided]).sum())

    assert disagreements(0.0) == 0
    assert disagreements(3.0) > 0


@pytest.mark.parametrize("kind", REFERENCES)
@pytest.mark.long
def test_a_whole_draw_is_the_slow_path_wherever_the_fast_one_gives_up(kind: str) -> None:
    family, reference = REFERENCES[kind]
    words = words_for(kind, 256, seed=31)
    values = Reservoir(Replay(words), family, batch=len(words)).draw(1000.3, len(words))
    assert (fast(family, words, 1000.3) == UNDECIDED).any()
    assert np.array_equal(values, reference(words, 1000.3))


@pytest.mark.parametrize("word", [1, -2, 12345, -(2**40), 2**62, -(2**63), 2**63 - 1])
def test_the_slow_path_agrees_with_plain_high_precision(word: int) -> None:
    """A third opinion: 400 digits without intervals, at bits chosen by the keystream."""
    uniform = slow.UniformReal(word, Replay())
    value = slow.laplace(uniform, 1000.3)
    exact = uniform.numerator(6)
    with mpmath.workdps(400):
        ratio = (mpmath.mpf(exact) + mpmath.mpf(0.5)) / mpmath.mpf(2) ** (64 * 6 - 1)
        size = mpmath.mpf(1000.3) * mpmath.log(abs(ratio))
        assert value == int(mpmath.floor((size if ratio > 0 else -size) + mpmath.mpf(0.5)))
        assert slow.exponential(uniform, 1000.3) == int(mpmath.floor(-size))
    assert slow.exponential_exceeds(uniform, 0.0)
    assert slow.exponential_exceeds(uniform, 1.0) == (abs(ratio) < mpmath.exp(-1))
    angle = slow.UniformReal(2**61 + 7, Replay())
    pair = [slow.gaussian(uniform, angle, 1000.3, cosine=cosine) for cosine in (False, True)]
    with mpmath.workdps(400):
        radius = mpmath.mpf(1000.3) * mpmath.sqrt(-2 * mpmath.log(abs(ratio)))
        turn = mpmath.pi / 2 * (mpmath.mpf(angle.numerator(6)) + mpmath.mpf(0.5)) / mpmath.mpf(2) ** (64 * 6 - 1)
        expected = [radius * mpmath.sin(turn), mpmath.sign(ratio) * radius * mpmath.cos(turn)]
        assert pair == [int(mpmath.floor(part + mpmath.mpf(0.5))) for part in expected]
