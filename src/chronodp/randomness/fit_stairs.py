"""Fits the stairs that are shipped: ``python -m chronodp.randomness.fit_stairs`` renews `stairs.json`.

The outermost step is as wide as it can be, then the next, until K of them lie under the curve. How well they fit
decides how often the rest is drawn, and nothing else: the law hangs on the inequalities of `stairs.py` alone.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from chronodp.randomness.stairs import BELL, CURVES, FINE, LAYERS, SHARES, TABLE, Curve, Stairs

__all__ = ["fit", "main"]

_ROUNDS = 60  # each leaves at most 0.4 of the distance


def fit(curve: Curve, layers: int = LAYERS) -> Stairs:
    """Return stairs of as many steps as fit under a curve."""
    from mpmath import mp, workprec

    with workprec(120):
        edges: list[int] = []
        level = mp.mpf(0)
        begin = mp.mpf(12)
        while (edge := _next(mp, curve, level, mp.mpf(1) / (2 * layers), begin)) is not None:
            edges.append(edge)
            begin = mp.mpf(edge) / FINE
            level += 1 / (2 * layers * begin)
        masses = _masses(mp, curve, layers, edges)
        unit = float(sum(masses) / SHARES * (1 + mp.mpf(2) ** -16))
        shares = [int(mp.ceil(mass / unit)) + 1 for mass in masses]
        shares[0] += SHARES - sum(shares)
    return Stairs(curve, layers, tuple(edges), tuple(shares), unit)


def _next(mp: Any, curve: Curve, level: Any, area: Any, begin: Any) -> int | None:
    """Return the widest edge x, of those left of the step before, at which level + area / x lies under the curve."""
    x = begin
    for _ in range(_ROUNDS):
        before, x = x, _inverse(mp, curve, level + area / x)
        if x is None:
            return None
        if x == before:  # what is left of the rounds would give it again
            break
    edge = int(x * FINE) - 2  # inside the curve, whatever the last rounds left over
    return edge if level + area * FINE / edge <= _height(mp, curve, mp.mpf(edge) / FINE) else None


def _masses(mp: Any, curve: Curve, layers: int, edges: list[int]) -> list[Any]:
    """Return the masses of the least boxes over the strips, the tail's first."""
    places = [mp.mpf(edge) / FINE for edge in edges] + [mp.mpf(0)]
    rate = places[0] if curve is BELL else 1
    masses, level = [2 * _height(mp, curve, places[0]) / rate], mp.mpf(0)
    for right, left in pairwise(places):
        level += 1 / (2 * layers * right)
        masses.append(2 * (right - left) * (_height(mp, curve, left) - level))
    return masses


def _height(mp: Any, curve: Curve, x: Any) -> Any:
    return mp.exp(-curve.depth_between(mp, x))


def _inverse(mp: Any, curve: Curve, height: Any) -> Any:
    below = -mp.log(height) - curve.depth_between(mp, mp.mpf(0))
    if below <= 0:
        return None
    return mp.sqrt(2 * below) if curve is BELL else below


def main() -> None:
    """Write the table."""
    lines = []
    for curve in CURVES:
        stairs = fit(curve)
        rows = {"edges": stairs.edges, "shares": stairs.shares}
        parts = [f'"unit": {json.dumps(stairs.unit)}']
        for name, numbers in rows.items():
            texts = [", ".join(map(str, numbers[at : at + 10])) for at in range(0, len(numbers), 10)]
            parts.append(f'"{name}": [\n' + ",\n".join(texts) + "]")
        lines.append(f'"{curve.name}": {{' + ",\n".join(parts) + "}")
    (Path(__file__).parent / TABLE).write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
