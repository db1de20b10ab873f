"""A third opinion on the slow path: plain high precision, without intervals, at bits chosen by the keystream."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest

from chronodp.randomness import slow
from chronodp.randomness.stairs import BELL, PEAK, Curve, read_stairs
from tests.randomness.replay import Replay

WORDS = [0, -1, 1, -2, 12345, -(2**40), 2**62, -(2**63), 2**63 - 1]
SCALE = 1000.3


def share(uniform: slow.UniformReal) -> Any:
    return (mpmath.mpf(uniform.numerator(6)) + mpmath.mpf(0.5)) / mpmath.mpf(2) ** (64 * 6 - 1)


def test_rounding_and_comparing(subtests: pytest.Subtests) -> None:
    for beyond, word in product([False, True], WORDS):
        with subtests.test(beyond=beyond, word=word):
            uniform, left, other = slow.UniformReal(word, Replay()), Fraction(5, 16), Fraction(3, 8)
            variate = slow.Beyond(uniform, left, other) if beyond else slow.Across(uniform, left, other)
            rounded, floored = slow.rounded(variate, SCALE), slow.floored(variate, SCALE)
            assert slow.exceeds(variate, 0.0)
            with mpmath.workdps(400):
                size = mpmath.mpf(5) / 16
                size += -mpmath.log(abs(share(uniform))) * 8 / 3 if beyond else abs(share(uniform)) * 3 / 8
                assert floored == int(mpmath.floor(SCALE * size))
                assert rounded == int(mpmath.floor((-SCALE if word < 0 else SCALE) * size + mpmath.mpf(0.5)))
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


def test_pairs(subtests: pytest.Subtests) -> None:
    for word in [word for word in WORDS if word not in (0, -1)]:
        with subtests.test(word=word):
            uniform, angle = slow.UniformReal(word, Replay()), slow.UniformReal(2**61 + 7, Replay())
            pair = [slow.gaussian(uniform, angle, SCALE, cosine=cosine) for cosine in (False, True)]
            with mpmath.workdps(400):
                radius = mpmath.mpf(SCALE) * mpmath.sqrt(-2 * mpmath.log(abs(share(uniform))))
                turn = mpmath.pi / 2 * share(angle)
                expected = [radius * mpmath.sin(turn), mpmath.sign(share(uniform)) * radius * mpmath.cos(turn)]
                assert pair == [int(mpmath.floor(part + mpmath.mpf(0.5))) for part in expected]
