"""Leakage of small chains with sixty digits and exponents without end: the truth where floats give out."""

from __future__ import annotations

import decimal
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal

from chronodp.correlated import CouplingMarkovChain

Snapshot = tuple[int, ...]
Law = dict[Snapshot, Decimal]

SIXTY = decimal.Context(prec=60, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)


@functools.lru_cache(maxsize=8)
def kernel(model: CouplingMarkovChain) -> dict[tuple[Snapshot, Snapshot], Decimal]:
    """The probability of (after, before), from the floats of the model's edges."""
    with decimal.localcontext(SIXTY):
        return _kernel(model)


def _kernel(model: CouplingMarkovChain) -> dict[tuple[Snapshot, Snapshot], Decimal]:
    edges = list(zip(model.heads.tolist(), model.tails.tolist(), model.moves.tolist(), strict=True))
    snapshots = list(itertools.product(range(model.states), repeat=model.sequences))
    made = {}
    for before in snapshots:
        laws = [[Decimal(0)] * model.states for _ in range(model.sequences)]
        for head, tail, moves in edges:
            for state in range(model.states):
                laws[head][state] += Decimal(moves[state][before[tail]])
        for after in snapshots:
            made[after, before] = math.prod((laws[j][after[j]] for j in range(model.sequences)), start=Decimal(1))
    return made


@functools.lru_cache(maxsize=8)
def stationary(model: CouplingMarkovChain) -> Law:
    """By elimination, after what is left for good is gone; all 0 if the chain has several closed classes."""
    with decimal.localcontext(SIXTY):
        return _stationary(kernel(model))


def _stationary(move: dict[tuple[Snapshot, Snapshot], Decimal]) -> Law:
    snapshots = sorted({after for after, _ in move})
    reach = {x: {y for y in snapshots if move[y, x] > 0} | {x} for x in snapshots}
    for through, x in itertools.product(snapshots, repeat=2):
        if through in reach[x]:
            reach[x] |= reach[through]
    inside = [x for x in snapshots if all(x in reach[y] for y in snapshots)]
    if not inside:
        return dict.fromkeys(snapshots, Decimal(0))
    rest = {(x, y): move[y, x] for x in inside for y in inside}
    for last in range(len(inside) - 1, 0, -1):
        out, left = inside[last], inside[:last]
        leaving = sum((rest[out, y] for y in left), Decimal(0))
        for x in left:
            rest[x, out] /= leaving
            for y in left:
                rest[x, y] += rest[x, out] * rest[out, y]
    law: Law = {inside[0]: Decimal(1)}
    for place, x in enumerate(inside[1:], 1):
        law[x] = sum((law[y] * rest[y, x] for y in inside[:place]), Decimal(0))
    total = sum(law.values(), Decimal(0))
    return {x: law.get(x, Decimal(0)) / total for x in snapshots}


@functools.lru_cache(maxsize=8)
def _walks(model: CouplingMarkovChain, ages: tuple[int, ...]) -> dict[tuple[Snapshot, Snapshot], Decimal]:
    """The chance of (what is read at these ages, the present)."""
    move, law = kernel(model), stationary(model)
    blank = (-1,) * model.sequences
    walks = {(blank, x): chance for x, chance in law.items() if chance > 0}
    for age in range(max(ages), -1, -1):
        marked: dict[tuple[Snapshot, Snapshot], Decimal] = {}
        for (seen, now), chance in walks.items():
            mark = tuple(now[j] if ages[j] == age else seen[j] for j in range(model.sequences))
            for after in law if age else (now,):
                moved = chance * move[after, now] if age else chance
                if moved > 0:
                    marked[mark, after] = marked.get((mark, after), Decimal(0)) + moved
        walks = marked
    return walks


def leakage_about_each(
    model: CouplingMarkovChain,
    ages: Sequence[int],
    query: Callable[[Snapshot], float],
    scale: float,
    *,
    knows_others: bool,
) -> list[Decimal]:
    """Largest |ln p(y|a)/p(y|b)| over the values of the query, for one group that is alone."""
    with decimal.localcontext(SIXTY):
        walks = _walks(model, tuple(ages))
        asked = {x: query(x) for x in stationary(model)}
        values = sorted(set(asked.values()))
        decay = {(y, v): (-abs(Decimal(y) - Decimal(v)) / Decimal(scale)).exp() for y in values for v in values}
        found = []
        for target in range(model.sequences):
            known: dict[Snapshot, dict[int, list[Decimal]]] = {}
            for (seen, now), chance in walks.items():
                others = (*now[:target], *now[target + 1 :]) if knows_others else ()
                row = known.setdefault(others, {}).setdefault(now[target], [Decimal(0)] * (len(values) + 1))
                row[-1] += chance
                for place, y in enumerate(values):
                    row[place] += chance * decay[y, asked[seen]]
            worst = Decimal(1)
            for rows in known.values():
                told = [[part / row[-1] for part in row[:-1]] for row in rows.values()]
                for one, other in itertools.combinations(told, 2):
                    worst = max(worst, *(max(a / b, b / a) for a, b in zip(one, other, strict=True)))
            found.append(worst.ln())
        return found
