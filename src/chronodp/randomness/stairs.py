"""Stairs under a density: nearly every draw is a uniform number times a width that a table gives.

A density f that falls on both sides of 0 has K steps under it, each as wide as from -x_i to x_i and of mass 1/N with
N = 1024. Ten bits of a word choose a step or, N - K times in N, the *rest* between curve and stairs; the other bits
are V, and Z = x_i V. The rest is cut into strips, which `rest.py` draws from:

    f(0) ─╮_            strip K      from 0 to x_K
          ▐▀╲           …
          ▐██▀╲_        strip s      from x_(s+1) to x_s, above G_s = h_1 + … + h_s
          ▐█████▀▀─.._  strip 0      the tail, from x_1 on
          0    x_i  x_1

where h_i = 1 / (2 N x_i) is a step's height. Three inequalities are all that the law of Z hangs on; the tests check
each of them for every step, and "Stairs" in ``docs/explanation/proofs/noise.md`` says why they suffice:

    G_i <= f(x_i)                     the stairs lie under the curve
    G_s + M_s >= f(x_(s+1))           the strip's box reaches over it
    M_0 >= f(x_1)                     so does the tail's

Edges are whole multiples of 2^-28 and exact as floats. They were fitted once (`fit_stairs.py`) and are shipped in
`stairs.json`, so that the same words make the same noise on every machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from importlib import resources
from itertools import accumulate
from typing import Any

import numpy as np

from chronodp.randomness.logarithm import Floats, Words

__all__ = ["BELL", "CURVES", "FINE", "LAYERS", "PEAK", "SHARES", "TABLE", "Curve", "Stairs", "read_stairs"]

TABLE = "stairs.json"
LAYERS = 1024
FINE = 2**28  # steps of the edges in 1
SHARES = 2**32  # the strips' shares add up to it
_COARSE = 16  # bits of a place that are left out where its strip is looked up first


@dataclass(frozen=True, eq=False)
class Curve:
    """A density f(x) = e^-depth(|x|).

    Attributes:
        name: of its stairs in the table.
        depth: -ln f of floats, within a few units in the last place.
        depth_between: -ln f of an interval, in interval arithmetic.
    """

    name: str
    depth: Callable[[Floats], Floats]
    depth_between: Callable[[Any, Any], Any]


BELL = Curve(
    "gaussian",
    lambda x: 0.5 * x * x + 0.9189385332046728,
    lambda interval, x: x * x / 2 + interval.log(2 * interval.pi) / 2,
)
PEAK = Curve("laplace", lambda x: x + 0.6931471805599453, lambda interval, x: x + interval.log(interval.mpf(2)))
CURVES = (BELL, PEAK)


@dataclass(frozen=True, eq=False)
class Stairs:
    """The steps under one curve, and the strips between them and it.

    Attributes:
        curve: what they lie under.
        layers: N, a power of two.
        edges: x_1 > … > x_K in steps of 2^-28.
        shares: of strips 0 to K, in 2^-32: how often each is proposed.
        unit: mass of a box, for each share of it.
    """

    curve: Curve
    layers: int
    edges: tuple[int, ...]
    shares: tuple[int, ...]
    unit: float

    @property
    def spare(self) -> int:
        """How many of the N numbers mean the rest; number i from there on means step i - spare."""
        return self.layers - len(self.edges)

    @property
    def rate(self) -> Fraction:
        """How fast the tail's box falls: as the curve does at x_1."""
        return self.left(0) if self.curve is BELL else Fraction(1)

    def left(self, strip: int) -> Fraction:
        """Return where a strip begins."""
        return Fraction(self.edges[strip] if strip < len(self.edges) else 0, FINE)

    def width(self, strip: int) -> Fraction:
        """Return how wide a strip is; the tail has no end."""
        return self.left(strip - 1) - self.left(strip)

    def reach(self, strip: int) -> Fraction:
        """Return M_s, how high the box of a strip reaches above G_s, so that its mass is its share times the unit."""
        mass = self.shares[strip] * Fraction(self.unit)
        return mass / (2 * self.width(strip)) if strip else mass * self.rate / 2

    def level(self, strip: int, bits: int) -> tuple[int, int]:
        """Return whole bounds of G_s 2^bits."""
        if bits not in self._sums:
            whole = (FINE << bits) // (2 * self.layers)
            self._sums[bits] = list(accumulate((whole // edge for edge in self.edges), initial=0))
        low = self._sums[bits][strip]
        return low, low + strip

    @cached_property
    def _sums(self) -> dict[int, list[int]]:
        """Lower bounds of G_s 2^bits for all strips, of each number of bits that was asked for: there are few."""
        return {}

    @cached_property
    def widths(self) -> Floats:
        """What V 2^63 is multiplied by for each of the N numbers; the rest gets no number yet."""
        steps = np.array(self.edges) / FINE * 2.0**-63
        return np.concatenate([np.full(self.spare, np.nan), steps])

    def strips_of(self, places: Words) -> Words:
        """Return the strip in whose share each place from 0 to 2^32 - 1 lies: how many shares end at or before it."""
        strips: Words = self._first_strips[places >> _COARSE]
        while (later := self.ends[strips] <= places).any():
            strips += later
        return strips

    @cached_property
    def ends(self) -> Words:
        """Where the shares of each strip end."""
        return np.array(list(accumulate(self.shares)))

    @cached_property
    def _first_strips(self) -> Words:
        """The strip of each place that ends in as many zeros, from where few steps are left to its own."""
        return np.searchsorted(self.ends, np.arange(0, SHARES, 2**_COARSE), side="right").astype(np.int64)

    @cached_property
    def boxes(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Left ends, widths, G and M of the strips in floats, within three roundings; the tail's width is 1 / rate."""
        edges = np.array([*self.edges, 0]) / FINE
        widths = np.append(1 / float(self.rate), edges[:-1] - edges[1:])  # without rounding but for the tail's
        whole = (FINE << 96) // (2 * self.layers)
        levels = [level / 2**96 for level in accumulate((whole // edge for edge in self.edges), initial=0)]
        reaches = np.array(self.shares) * self.unit / (2 * widths)
        return edges, widths, np.array(levels), reaches


@cache
def read_stairs(curve: Curve) -> Stairs:
    """Return the stairs that are shipped for a curve."""
    table = json.loads((resources.files(__package__) / TABLE).read_text(encoding="utf-8"))[curve.name]
    return Stairs(curve, LAYERS, tuple(table["edges"]), tuple(table["shares"]), table["unit"])
