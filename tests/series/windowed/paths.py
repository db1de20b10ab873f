"""The whole law of a few steps of a windowed stream, by walking through every draw of every state it can reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.enumerated_entropy import EnumeratedEntropy, Unfollowed, exponential
from chronodp.audit.exact import Outcomes
from chronodp.randomness import Shape
from chronodp.series.windowed import WindowedDesign, WindowedState, advance, start

Twist = Callable[[WindowedState], WindowedState]
"""What a broken twin does to the state after each step."""

_NEAR = range(-2, 6)  # paths end once a release lies outside: a coarser view of the output, which may only hide
_REACH = 12


class ShortEntropy(EnumeratedEntropy):
    """Follows noise out to 12 scales; ``shrink`` makes a twin's noise narrower."""

    def __init__(self, script: Sequence[int], shrink: float) -> None:
        super().__init__(script)
        self._shrink = shrink

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        return self._noise(_weights(Fraction(scale * self._shrink)), size)


@lru_cache(maxsize=64)
def _weights(scale: Fraction) -> list[Fraction]:
    def below(x: Fraction) -> Fraction:
        tail = exponential(-abs(x) / scale) / 2
        return tail if x < 0 else 1 - tail

    reach = math.ceil(scale * _REACH)
    inside = [
        below(Fraction(2 * place + 1, 2)) - below(Fraction(2 * place - 1, 2)) for place in range(-reach, reach + 1)
    ]
    return [*inside, 1 - sum(inside, Fraction(0))]


def law(
    design: WindowedDesign, rows: Sequence[float], *, twist: Twist = lambda state: state, shrink: float = 1.0
) -> Outcomes:
    """Return the law of (charge, release) at every step."""
    paths: dict[tuple[tuple[int, ...], ...], tuple[Fraction, WindowedState]] = {(): (Fraction(1), start(design))}
    ended: dict[Hashable, Fraction] = {}
    unresolved = Fraction(0)
    for row in rows:
        known: dict[bytes, tuple[list[tuple[Fraction, WindowedState]], Fraction]] = {}
        following = {}
        for path, (chance, state) in paths.items():
            key = state.to_bytes()
            if key not in known:
                known[key] = _one_step(design, state, row, shrink)
            branches, lost = known[key]
            unresolved += chance * lost
            for probability, after in branches:
                output = (int(after.spent[-1]), *after.released.tolist())
                if after.released[0] in _NEAR:
                    following[(*path, output)] = (chance * probability, twist(after))
                else:
                    far = (*path, "far", bool(after.released[0] > 0))
                    ended[far] = ended.get(far, Fraction(0)) + chance * probability
        paths = following
    return Outcomes(ended | {path: chance for path, (chance, _) in paths.items()}, unresolved)


def _one_step(
    design: WindowedDesign, state: WindowedState, row: float, shrink: float
) -> tuple[list[tuple[Fraction, WindowedState]], Fraction]:
    found: dict[bytes, tuple[Fraction, WindowedState]] = {}
    lost = Fraction(0)
    script: list[int] = []
    while True:
        entropy = ShortEntropy(script, shrink)
        try:
            after, _ = advance(design, state, [row], entropy)
        except Unfollowed:
            lost += entropy.probability
        else:
            key = after.to_bytes()
            found[key] = (found[key][0] + entropy.probability if key in found else entropy.probability, after)
        script = entropy.following()
        if not script:
            return list(found.values()), lost
