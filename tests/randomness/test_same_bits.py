"""The fast path against the slow one on the same bits, and that against plain precision: what is decided agrees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.randomness import slow
from chronodp.randomness.logarithm import Workspace
from chronodp.randomness.pairs import PAIRS, Pairs
from chronodp.randomness.reservoir import Reservoir
from chronodp.randomness.rest import Rest
from chronodp.randomness.rounding import rounding
from chronodp.randomness.stairs import BELL, FINE, PEAK, Curve, Stairs, read_stairs
from chronodp.randomness.start_check import _decide_no_point, _decide_no_step
from chronodp.randomness.variates import CERTAIN, Family, judge_points, step_widths
from tests.conftest import Trials
from tests.randomness.replay import Continued, Replay, by_family, edge_words, random_words

SCALES = [0.3, 16.0, 1000.3, 2.0**20, 2.0**29.5]
UNDECIDED = -(2**62)
Words = NDArray[np.int64]
Integers = NDArray[np.int64]


def undecided(variate: slow.Variate, scale: float) -> int:  # noqa: ARG001 (a slow path's call)
    return UNDECIDED


def fast(family: Family, words: Words, scale: float) -> Integers:
    """Draw, marking what the slow path would have been asked."""
    return Reservoir(Continued(words), replace(family, slowly=undecided), batch=len(words)).draw(scale, len(words))


def slowly(family: Family, words: Words, scale: float) -> Integers:
    """Draw without any help of the fast path."""
    family = replace(family, transform=_decide_no_step, judge=_decide_no_point)
    return Reservoir(Continued(words), family, batch=len(words)).draw(scale, len(words))


def slowly_at_scales(family: Family, words: Words, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[float, Integers]]:
    """Draw once as `slowly` does, and round the same variates at each scale: points are judged once."""
    for kind in (slow.Across, slow.Beyond):
        monkeypatch.setattr(kind, "size", cache(kind.size))
    family = replace(family, transform=_decide_no_step, judge=_decide_no_point)
    reservoir = Reservoir(Continued(words), family, batch=len(words))
    for scale in SCALES:
        yield scale, reservoir.draw(scale, len(words))
        reservoir._next = 0


@by_family
@pytest.mark.slow
def test_agree_on_random_and_edge_words(family: Family, trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    count = trials(20_000, least=1_000)  # over five scales: 100,000 random values of each kind
    words = np.concatenate([edge_words(), random_words(count, 11)])
    for scale, expected in slowly_at_scales(family, words, monkeypatch):
        values = fast(family, words, scale)
        decided = values != UNDECIDED
        assert np.array_equal(values[decided], expected[decided])
        assert decided[-count:].mean() > 0.999


def margin(family: Family, scale: float) -> float:
    """How near a boundary a scaled variate may be and still be rounded: never less than the tolerance, scaled."""
    constants = rounding(scale, family.bounds)
    found = constants.uncertain / 2 * 2.0 ** -int(constants.shift)
    assert found > scale * family.bounds.tolerance
    return found


def words_near_boundaries(family: Family, scale: float, count: int, seed: int) -> Words:
    """Words of steps whose scaled variate lies within three margins of a point where the rounding changes."""
    chance, stairs, bounds = np.random.default_rng(seed), family.stairs, family.bounds
    words: list[int] = []
    while len(words) < count:
        step = int(chance.integers(stairs.spare, stairs.layers))
        edge = stairs.edges[step - stairs.spare]
        boundary = int(chance.uniform(0, scale * edge / FINE)) + Fraction(bounds.half)
        near = boundary + Fraction(chance.uniform(-3, 3) * margin(family, scale))
        share = int(near / Fraction(scale) / Fraction(edge, FINE) * 2**53)
        if share < 2**53:
            words.append((share if chance.random() < 0.5 else -share - 1) * 1024 + step)
    return np.array(words, dtype=np.int64)


@by_family
@pytest.mark.parametrize("scale", [16.0, 1000.3, 2.0**20])
def test_agree_within_three_margins_of_a_boundary_and_an_injected_error_is_caught(
    family: Family, scale: float, trials: Trials
) -> None:
    words = words_near_boundaries(family, scale, trials(3_000, least=200), seed=23)
    expected = slowly(family, words, scale)

    def disagreements(injected: float) -> int:
        chance = np.random.default_rng(5)

        def transform(stairs: Stairs, given: Words, steps: Words, out: Any, work: Workspace) -> None:
            step_widths(stairs, given, steps, out, work)
            out += chance.choice([-1.0, 1.0], len(out)) * injected * margin(family, scale) / scale

        values = fast(replace(family, transform=transform), words, scale)
        decided = values != UNDECIDED
        assert decided.any()
        return int((values[decided] != expected[decided]).sum())

    assert disagreements(0.0) == 0
    assert disagreements(3.0) > 0


@by_family
@pytest.mark.slow
def test_a_whole_draw_is_the_slow_path_wherever_the_fast_one_gives_up(family: Family) -> None:
    words = np.concatenate([words_near_boundaries(family, 1000.3, 300, seed=3), random_words(300, 31)])
    values = Reservoir(Continued(words), family, batch=len(words)).draw(1000.3, len(words))
    assert (fast(family, words, 1000.3) == UNDECIDED).any()
    assert np.array_equal(values, slowly(family, words, 1000.3))


def near_the_curve(family: Family, count: int, seed: int) -> tuple[Words, Words, Words]:
    """Points of boxes within two bounds of the curve, as words that a keystream gives."""
    stairs, chance = family.stairs, np.random.default_rng(seed)
    strips = chance.integers(0, len(stairs.shares), count)
    strips[::3] = 0
    across = random_words(count, seed + 1)
    sizes, _ = judge_points(stairs, strips, across, random_words(count, seed + 2))
    _, _, level, reach = (part[strips] for part in stairs.boxes)
    height = np.exp(-stairs.curve.depth(sizes) + chance.uniform(-2, 2, count) * CERTAIN)
    box = np.where(strips == 0, reach * np.abs(across) * 2.0**-63, reach)
    share = (height - level) / box
    kept = np.flatnonzero((share > 0) & (share < 1))
    chosen = stairs.ends[strips] - 1  # the last number of a strip's share
    return chosen[kept], across[kept], (share[kept] * 2.0**63).astype(np.int64)


@by_family
@pytest.mark.slow
def test_points_near_the_curve_are_judged_as_the_slow_path_does_and_an_injected_error_is_caught(
    family: Family, trials: Trials
) -> None:
    chosen, across, heights = near_the_curve(family, 2_048, seed=7)
    some = slice(trials(2_048, least=256))
    fill = random_words(2_048 - len(chosen[some]), 13)
    words = np.concatenate([chosen[some], fill, across[some], fill, heights[some], fill])

    def drawn(judge: Any) -> list[int]:
        return [int(word) for word in Rest(Continued(words), replace(family, judge=judge))._draw().across]

    def off(stairs: Stairs, strips: Words, places: Words, highs: Words) -> Any:
        sizes, apart = judge_points(stairs, strips, places, highs)
        return sizes, apart + np.where(np.arange(len(apart)) % 2, -3, 3) * CERTAIN

    expected = drawn(_decide_no_point)
    assert drawn(judge_points) == expected
    assert drawn(off) != expected


def fast_pairs(pairs: Pairs, words: Words, scale: float) -> Integers:
    """Gaussian pairs as `KeyedNoise` makes them, with what it would have handed to the slow path marked."""
    variates, result, fractions = np.empty(len(words)), np.empty_like(words), np.empty_like(words)
    pairs.transform(words, variates, Workspace(len(words)))
    result[rounding(scale, pairs.bounds).round(variates, result, fractions)] = UNDECIDED
    return result


def uniforms(words: Words) -> list[slow.UniformReal]:
    return [slow.UniformReal(int(word), Replay()) for word in words]


def reference_pairs(numbers: list[slow.UniformReal], scale: float) -> Integers:
    half = len(numbers) // 2
    pairs = list(zip(numbers[:half], numbers[half:], strict=True))
    sines = [slow.gaussian(*pair, scale, cosine=False) for pair in pairs]
    cosines = [slow.gaussian(*pair, scale, cosine=True) for pair in pairs]
    return np.array(sines + cosines)


@pytest.mark.slow
def test_pairs_agree_on_random_and_edge_words(trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow, "_of_pair", cache(slow._of_pair))  # the same pairs are rounded at each scale
    count, edges = trials(20_000, least=1_000), edge_words()
    radius = np.concatenate([edges, random_words(len(edges), 12), edges, random_words(count // 2, 13)])
    angle = np.concatenate([random_words(len(edges), 14), edges, edges[::-1], random_words(count // 2, 15)])
    words = np.concatenate([radius, angle])
    numbers = uniforms(words)
    for scale in SCALES:
        values = fast_pairs(PAIRS, words, scale)
        decided = values != UNDECIDED
        assert np.array_equal(values[decided], reference_pairs(numbers, scale)[decided])
        assert decided[-(count // 2) :].mean() > (0.99 if scale > 2**25 else 0.9999)


def pairs_near_boundaries(scale: float, count: int, seed: int) -> Words:
    chance = np.random.default_rng(seed)
    signs = chance.choice([-1, 1], count)
    first, second = [], random_words(count, seed + 1)
    with mpmath.workprec(200):
        for index in range(count):
            offset = mpmath.mpf(0.5) + mpmath.mpf(chance.uniform(-3, 3)) * scale * PAIRS.bounds.tolerance
            turn = mpmath.pi / 2 * mpmath.mpf(int(second[index])) / 2**63
            share = abs(mpmath.cos(turn) if chance.random() < 0.5 else mpmath.sin(turn))
            step = int(abs(chance.normal()) * scale * float(share))
            size = mpmath.exp(-(((step + offset) / (scale * share)) ** 2) / 2)
            first.append(int(mpmath.floor(2**63 * min(size, 1 - mpmath.mpf(2) ** -62))) * int(signs[index]))
    return np.concatenate([np.array(first, dtype=np.int64), second])


@pytest.mark.parametrize("scale", [16.0, 1000.3, 2.0**20])
@pytest.mark.slow
def test_pairs_agree_near_a_boundary_and_an_injected_error_is_caught(scale: float, trials: Trials) -> None:
    words = pairs_near_boundaries(scale, trials(6_000, least=400), seed=23)
    expected = reference_pairs(uniforms(words), scale)

    def disagreements(injected: float) -> int:
        chance = np.random.default_rng(5)

        def transform(given: Words, out: NDArray[np.float64], work: Workspace) -> None:
            PAIRS.transform(given, out, work)
            out += chance.choice([-1.0, 1.0], len(out)) * injected * PAIRS.bounds.tolerance

        values = fast_pairs(replace(PAIRS, transform=transform), words, scale)
        decided = values != UNDECIDED
        assert decided.any()
        return int((values[decided] != expected[decided]).sum())

    assert disagreements(0.0) == 0
    assert disagreements(3.0) > 0


# A third opinion on the slow path: plain high precision, without intervals, at bits chosen by the keystream.
WORDS = [0, -1, 1, -2, 12345, -(2**40), 2**62, -(2**63), 2**63 - 1]
UNEVEN = 1000.3


def share(uniform: slow.UniformReal) -> Any:
    return (mpmath.mpf(uniform.numerator(6)) + mpmath.mpf(0.5)) / mpmath.mpf(2) ** (64 * 6 - 1)


def test_rounding_and_comparing(subtests: pytest.Subtests) -> None:
    for beyond, word in product([False, True], WORDS):
        with subtests.test(beyond=beyond, word=word):
            uniform, left, other = slow.UniformReal(word, Replay()), Fraction(5, 16), Fraction(3, 8)
            variate = slow.Beyond(uniform, left, other) if beyond else slow.Across(uniform, left, other)
            rounded, floored = slow.rounded(variate, UNEVEN), slow.floored(variate, UNEVEN)
            assert slow.exceeds(variate, 0.0)
            with mpmath.workdps(400):
                size = mpmath.mpf(5) / 16
                size += -mpmath.log(abs(share(uniform))) * 8 / 3 if beyond else abs(share(uniform)) * 3 / 8
                assert floored == int(mpmath.floor(UNEVEN * size))
                assert rounded == int(mpmath.floor((-UNEVEN if word < 0 else UNEVEN) * size + mpmath.mpf(0.5)))
                assert slow.exceeds(variate, 0.5) == (size > 0.5)


def test_points_of_boxes() -> None:
    boxes = list(product([BELL, PEAK], [0, 1, 500, 1020], WORDS, [0, 2**40, 2**62, 2**63 - 1]))
    assert [box for box in boxes if lies_under(*box) != is_under(*box)] == []
    assert {lies_under(*box) for box in boxes} == {True, False}


def lies_under(curve: Curve, strip: int, across: int, height: int) -> bool:
    stairs = read_stairs(curve)
    place, high = slow.UniformReal(across, Replay()), slow.UniformReal(height, Replay())
    variate: slow.Variate = slow.Beyond(place, stairs.left(0), stairs.rate)
    if strip:
        variate = slow.Across(place, stairs.left(strip), stairs.width(strip))
    reach = stairs.reach(strip)
    return slow.lies_under(curve.depth_between, variate, high, lambda bits: stairs.level(strip, bits), reach)


def is_under(curve: Curve, strip: int, across: int, height: int) -> bool:
    stairs = read_stairs(curve)
    place, high, reach = slow.UniformReal(across, Replay()), slow.UniformReal(height, Replay()), stairs.reach(strip)
    with mpmath.workdps(150):
        one, two = abs(share(place)), abs(share(high))
        left = mpmath.mpf(stairs.left(strip).numerator) / stairs.left(strip).denominator
        if strip == 0:
            size = left - mpmath.log(one) * stairs.rate.denominator / stairs.rate.numerator
        else:
            size = left + one * stairs.width(strip).numerator / stairs.width(strip).denominator
        level = mpmath.mpf(stairs.level(strip, 450)[0]) / mpmath.mpf(2) ** 450
        point = (level + two * reach.numerator / reach.denominator) * (one if strip == 0 else 1)
        return bool(point < mpmath.exp(-curve.depth_between(mpmath.mp, size)))


def test_pairs_in_plain_precision(subtests: pytest.Subtests) -> None:
    for word in [word for word in WORDS if word not in (0, -1)]:
        with subtests.test(word=word):
            uniform, angle = slow.UniformReal(word, Replay()), slow.UniformReal(2**61 + 7, Replay())
            pair = [slow.gaussian(uniform, angle, UNEVEN, cosine=cosine) for cosine in (False, True)]
            with mpmath.workdps(400):
                radius = mpmath.mpf(UNEVEN) * mpmath.sqrt(-2 * mpmath.log(abs(share(uniform))))
                turn = mpmath.pi / 2 * share(angle)
                expected = [radius * mpmath.sin(turn), mpmath.sign(share(uniform)) * radius * mpmath.cos(turn)]
                assert pair == [int(mpmath.floor(part + mpmath.mpf(0.5))) for part in expected]
