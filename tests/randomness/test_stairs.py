"""The stairs that are shipped: three inequalities for every step, and the law that follows, enumerated."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath.ctx_iv import MPIntervalContext
from numpy.typing import NDArray

from chronodp.randomness.fit_stairs import fit
from chronodp.randomness.stairs import BELL, CURVES, FINE, LAYERS, PEAK, SHARES, Curve, Stairs, read_stairs
from chronodp.randomness.variates import CERTAIN, judge_points

few = cache(fit)


@cache
def interval() -> Any:
    context = MPIntervalContext()
    context.prec = 200
    return context


# Stairs with one step spoilt have all others in common: each is computed once.
@cache
def height(curve: Curve, edge: int) -> Any:
    """The curve at an edge, as an interval."""
    context = interval()
    return context.exp(-curve.depth_between(context, context.mpf(edge) / FINE))


@cache
def rise(layers: int, edge: int) -> Any:
    """G_k - G_(k-1), as an interval."""
    context = interval()
    return context.mpf(FINE) / (2 * layers * context.mpf(edge))


def heights(stairs: Stairs) -> list[Any]:
    """The curve at x_1 … x_K and at 0, as intervals."""
    return [height(stairs.curve, edge) for edge in (*stairs.edges, 0)]


def levels(stairs: Stairs) -> list[Any]:
    """G_0 … G_K as intervals, added up in another way than the stairs do it."""
    return list(accumulate((rise(stairs.layers, edge) for edge in stairs.edges), initial=interval().mpf(0)))


def holds(stairs: Stairs) -> bool:
    """Whether the three inequalities hold for every step."""
    curve, level = heights(stairs), levels(stairs)
    boxes = [interval().mpf(part.numerator) / part.denominator for part in map(stairs.reach, range(len(stairs.shares)))]
    under = all(low.b <= high.a for low, high in zip(level[1:], curve[:-1], strict=True))
    over = all((level[strip] + boxes[strip]).a >= curve[strip].b for strip in range(1, len(stairs.shares)))
    return under and over and boxes[0].a >= curve[0].b


@pytest.mark.slow
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_the_inequalities_hold_for_every_step(curve: Curve) -> None:
    stairs = read_stairs(curve)
    assert stairs.layers == LAYERS
    assert len(stairs.shares) == len(stairs.edges) + 1
    assert all(left > right > 0 for left, right in zip(stairs.edges, stairs.edges[1:], strict=False))
    assert stairs.edges[0] < 2**53
    assert sum(stairs.shares) == SHARES == stairs.ends[-1]
    assert min(stairs.shares) > 0
    assert stairs.spare in (3, 4)
    assert holds(stairs)


@pytest.mark.slow
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_an_edge_too_far_out_and_a_box_too_low_are_noticed(curve: Curve) -> None:
    stairs = read_stairs(curve)
    for step in (0, 500, len(stairs.edges) - 1):
        edges = list(stairs.edges)
        edges[step] += 16
        assert not holds(Stairs(curve, LAYERS, tuple(edges), stairs.shares, stairs.unit))
    for strip in (0, 500, len(stairs.edges)):
        shares = list(stairs.shares)
        shares[strip] -= max(3, shares[strip] // 2**8)
        assert not holds(Stairs(curve, LAYERS, stairs.edges, tuple(shares), stairs.unit))


@pytest.mark.slow
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_the_table_is_what_the_fit_makes(curve: Curve) -> None:
    made, shipped = fit(curve), read_stairs(curve)
    assert (made.edges, made.shares, made.unit) == (shipped.edges, shipped.shares, shipped.unit)


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_floats_stand_within_three_roundings_of_the_boxes(curve: Curve) -> None:
    stairs, near = read_stairs(curve), Fraction(3, 2**53)
    left, width, level, reach = stairs.boxes
    for strip in range(len(stairs.shares)):
        assert Fraction(float(left[strip])) == stairs.left(strip)
        wide = stairs.width(strip) if strip else 1 / stairs.rate
        assert abs(Fraction(float(width[strip])) / wide - 1) <= (near if strip == 0 else 0)
        assert abs(Fraction(float(reach[strip])) / stairs.reach(strip) - 1) <= near
        low, high = (Fraction(end, 2**150) for end in stairs.level(strip, 150))
        found = Fraction(float(level[strip]))
        assert low * (1 - near) <= found <= high * (1 + near)
    assert [float(width) * 2.0**63 for width in stairs.widths[stairs.spare :]] == [edge / FINE for edge in stairs.edges]
    assert np.isnan(stairs.widths[: stairs.spare]).all()


def test_the_curves_in_floats_and_in_intervals_are_the_densities() -> None:
    context = interval()
    for x in (0.0, 0.1, 1.0, 3.75, 9.0):
        with mpmath.workdps(50):
            ideal = {"gaussian": mpmath.npdf(x), "laplace": mpmath.exp(-x) / 2}
            for curve in CURVES:
                depth = -mpmath.log(ideal[curve.name])
                assert abs(float(curve.depth(np.array([x]))[0]) - depth) < 2.0**-48
                between = curve.depth_between(context, context.mpf(x))
                assert (
                    mpmath.mpf(between.a) - mpmath.mpf(10) ** -45
                    <= depth
                    <= mpmath.mpf(between.b) + mpmath.mpf(10) ** -45
                )


Judge = Callable[..., tuple[Any, Any]]
PLACES = (0.05, 0.3, 0.8, 1.5, 2.2, 3.0)


def law(stairs: Stairs, judge: Judge, cells: int) -> list[tuple[float, float]]:
    """Bounds of P(|Z| <= place), by walking through every step, and through cells of every box of the rest.

    Whether a point lies under the curve is what the fast path says at the corners of its cell. The curve falls, so all
    of a cell is kept if its outer upper corner is, and none of it if its inner lower corner is not.
    """
    across, height = (side.reshape(-1) for side in np.meshgrid(np.arange(cells), np.arange(cells)))
    corners = words(cells)
    within, beyond = np.zeros((2, len(PLACES))), np.zeros((2, len(PLACES)))  # masses that are kept: at least, at most
    for strip, share in enumerate(stairs.shares):
        strips = np.full(len(across), strip)
        # In the tail a larger |V| is a place further in.
        near, far = (across + 1, across) if strip == 0 else (across, across + 1)
        outer, apart = judge(stairs, strips, corners[far], corners[height + 1])
        surely = apart > CERTAIN
        inner, apart = judge(stairs, strips, corners[near], corners[height])
        maybe = ~(apart < -CERTAIN)
        for column, place in enumerate(PLACES):
            inside, outside = outer <= place, inner > place  # of a cell; neither if it is cut, or has no end
            counts = surely & inside, maybe & ~outside, surely & outside, maybe & ~inside
            least, most, least_beyond, most_beyond = (share / SHARES / cells**2 * part.sum() for part in counts)
            within[:, column] += least, most
            beyond[:, column] += least_beyond, most_beyond
    steps = [sum(min(1.0, place * FINE / edge) for edge in stairs.edges) / stairs.layers for place in PLACES]
    low, high = within[0] / (within[0] + beyond[1]), within[1] / (within[1] + beyond[0])
    rest = stairs.spare / stairs.layers
    return [(step + rest * least, step + rest * most) for step, least, most in zip(steps, low, high, strict=True)]


def words(cells: int) -> NDArray[np.int64]:
    """The words at which cells begin, and the end of the last."""
    return np.array([*(number * (2**63 // cells) for number in range(cells)), 2**63 - 1])


def ideal(curve: Curve, at: float) -> float:
    return math.erf(at / math.sqrt(2)) if curve is BELL else -math.expm1(-at)


def without_heights(stairs: Stairs, strips: Any, across: Any, heights: Any) -> Any:
    """The mistake of keeping every point of the boxes."""
    sizes, _ = judge_points(stairs, strips, across, heights)
    return sizes, np.where(np.isnan(sizes), np.nan, 1.0)


def upside_down(stairs: Stairs, strips: Any, across: Any, heights: Any) -> Any:
    """The mistake of keeping the points above the curve."""
    sizes, apart = judge_points(stairs, strips, across, heights)
    return sizes, -apart


@pytest.mark.parametrize("layers", [4, 16])
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_few_steps_walked_through_have_the_law(curve: Curve, layers: int) -> None:
    stairs = few(curve, layers)
    assert holds(stairs)
    ideals = [ideal(curve, place) for place in PLACES]

    def outside(judge: Judge) -> int:
        return sum(not low <= own <= high for (low, high), own in zip(law(stairs, judge, 64), ideals, strict=True))

    assert outside(judge_points) == 0
    assert outside(without_heights) > 0
    assert outside(upside_down) > 0
    assert all(high - low < 0.15 * stairs.spare / layers for low, high in law(stairs, judge_points, 64))


@pytest.mark.slow
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_the_shipped_steps_walked_through_have_the_law(curve: Curve) -> None:
    for place, (low, high) in zip(PLACES, law(read_stairs(curve), judge_points, 16), strict=True):
        assert low <= ideal(curve, place) <= high
        assert high - low < 2e-3


def test_stairs_of_one_curve_do_not_fit_the_other() -> None:
    narrow = few(BELL, 16)
    assert not holds(Stairs(PEAK, 16, narrow.edges, narrow.shares, narrow.unit))


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_the_strip_of_a_place_is_the_one_whose_share_holds_it(curve: Curve) -> None:
    stairs = read_stairs(curve)
    drawn = np.random.default_rng(5).integers(0, SHARES, 10_000)
    places = np.concatenate([[0], stairs.ends[:-1], stairs.ends - 1, drawn])
    assert (stairs.strips_of(places) == np.searchsorted(stairs.ends, places, side="right")).all()
