"""The law of the noise, by chi-square at a false alarm rate of 1e-9; the same test must reject noise times 0.9."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.audit.cases.plain import shuffle_naively
from tests.conftest import Trials

from chronodp.privacy import Grid
from chronodp.randomness import KeystreamEntropy, secure

FALSE_ALARM = 1e-9
Share = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class Law(NamedTuple):
    below: Share
    above: Share
    half: float


LAWS = {
    "laplace": Law(stats.laplace.cdf, stats.laplace.sf, 0.5),
    "gaussian": Law(stats.norm.cdf, stats.norm.sf, 0.5),
    "exponential": Law(stats.expon.cdf, stats.expon.sf, 0.0),
}


def p_value(drawn: NDArray[np.int64], scale: float, law: Law) -> float:
    """Chi-square of integers against floor(scale Z + half), with cells of at least ten expected."""
    reach = int(np.abs(drawn).max()) + 1
    edges: NDArray[np.float64] = (np.arange(-reach, reach + 2, dtype=np.float64) - law.half) / scale
    above, below = law.above(edges), law.below(edges)
    masses = np.where(edges[:-1] >= 0, above[:-1] - above[1:], below[1:] - below[:-1])
    observed = np.bincount(drawn + reach, minlength=2 * reach + 1)
    group = np.cumsum(masses * len(drawn)) // 10
    index = np.unique(group, return_inverse=True)[1]
    expected = np.bincount(index, weights=masses) * len(drawn)
    expected[-1] += len(drawn) - expected.sum()
    found = np.bincount(index, weights=observed)
    keep = expected > 5
    statistic = float((((found - expected) ** 2 / np.where(keep, expected, 1))[keep]).sum())
    return float(stats.chi2.sf(statistic, int(keep.sum()) - 1))


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("scale", [0.7, 1.7, 16.0, 1000.3])
def test_noise_has_its_law_and_thinner_noise_does_not(kind: str, scale: float, trials: Trials) -> None:
    draws = trials(20_000_000, least=400_000)
    drawn = getattr(secure(), kind)(scale, draws)
    assert p_value(drawn, scale, LAWS[kind]) > FALSE_ALARM
    thin = getattr(secure(), kind)(0.9 * scale, draws)
    assert p_value(thin, scale, LAWS[kind]) < FALSE_ALARM


@pytest.mark.parametrize("kind", LAWS)
def test_fine_noise_fills_equal_cells_equally(kind: str, trials: Trials) -> None:
    scale = 2.0**20
    drawn = getattr(secure(), kind)(scale, trials(10_000_000, least=400_000))
    middles = (drawn + 0.5 - LAWS[kind].half) / scale  # of the stretches that are rounded to each whole number
    cells = np.bincount((LAWS[kind].above(middles) * 1024).astype(int), minlength=1024)
    assert stats.chisquare(cells).pvalue > FALSE_ALARM


def test_the_two_gaussians_of_a_pair_are_independent(trials: Trials) -> None:
    half = 8192
    batches = trials(600, least=60)
    drawn = secure().gaussian(2.0**20, (batches, 2, half)) / 2.0**20
    sines, cosines = drawn[:, 0].ravel(), drawn[:, 1].ravel()
    for one, two in ((sines, cosines), (np.abs(sines), np.abs(cosines)), (sines**2, cosines**2)):
        correlation = float(np.corrcoef(one, two)[0, 1])
        assert abs(correlation) * np.sqrt(len(one)) < 6.2


def reaches_off_grid(values: NDArray[np.float64]) -> float:
    """How often an output is not a multiple of 2^-53: what numpy's Laplace gives at 0 and cannot give at 1."""
    scaled = values * 2.0**53
    return float(np.mean(scaled != np.floor(scaled)))


def test_the_float_attack_succeeds_on_numpy_and_fails_here(trials: Trials) -> None:
    draws = trials(1_000_000, least=100_000)
    unsafe = np.random.default_rng()
    assert reaches_off_grid(0.0 + unsafe.laplace(size=draws)) > 0.2
    assert reaches_off_grid(1.0 + unsafe.laplace(size=draws)) == 0
    grid = Grid.for_scale(1.0)
    for value in (0.0, 1.0):
        noisy = grid.to_quanta(np.full(draws, value)) + secure().laplace(1.0 / grid.step, draws)
        assert reaches_off_grid(grid.to_values(noisy)) == 0
        assert np.all(np.mod(noisy, 1) == 0)


def test_integers_and_coins_have_their_law(trials: Trials) -> None:
    entropy = secure()
    draws = trials(4_000_000, least=200_000)
    for below in (3, 7, 1000):
        assert stats.chisquare(np.bincount(entropy.integers(below, draws), minlength=below)).pvalue > FALSE_ALARM
    for numerator, denominator in ((1, 3), (2**62, 2**63 - 1), (999, 1000)):
        heads = int(entropy.coins(numerator, denominator, draws).sum())
        assert stats.binomtest(heads, draws, numerator / denominator).pvalue > FALSE_ALARM
    for exponent in (1e-3, 0.5, 3.0):
        heads = int(entropy.exponential_coins(np.full(draws, exponent)).sum())
        assert stats.binomtest(heads, draws, float(np.exp(-exponent))).pvalue > FALSE_ALARM
        assert stats.binomtest(heads, draws, float(np.exp(-0.9 * exponent))).pvalue < FALSE_ALARM or exponent < 0.1


def orders(permutations: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(permutations @ 4 ** np.arange(permutations.shape[1]), minlength=256)


@pytest.mark.slow
def test_permutations_are_uniform_and_the_naive_shuffle_is_not(trials: Trials) -> None:
    rows = trials(1_000_000, least=100_000)
    entropy: KeystreamEntropy = secure()
    counts = orders(entropy.permutations(4, rows))
    assert (counts > 0).sum() == 24
    assert stats.chisquare(counts[counts > 0]).pvalue > FALSE_ALARM
    mixed = [shuffle_naively((0, 1, 2, 3), entropy=entropy) for _ in range(20_000)]
    naive = orders(np.array(mixed))
    assert stats.chisquare(naive[naive > 0]).pvalue < FALSE_ALARM
