"""Leakage of small chains with sixty digits and exponents without end: the truth where floats give out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from mpmath import mp, mpf

from chronodp.correlated import CouplingMarkovChain

Snapshot = tuple[int, ...]
Law = dict[Snapshot, mpf]


def kernel(model: CouplingMarkovChain) -> dict[tuple[Snapshot, Snapshot], mpf]:
    """The probability of (after, before), from the floats of the model's edges."""
    edges = list(zip(model.heads.tolist(), model.tails.tolist(), model.moves.tolist(), strict=True))
    snapshots = list(itertools.product(range(model.states), repeat=model.sequences))
    made = {}
    for before in snapshots:
        laws = [[mpf(0)] * model.states for _ in range(model.sequences)]
        for head, tail, moves in edges:
            for state in range(model.states):
                laws[head][state] += mpf(moves[state][before[tail]])
        for after in snapshots:
            made[after, before] = mp.fprod(laws[j][after[j]] for j in range(model.sequences))
    return made


def stationary(move: dict[tuple[Snapshot, Snapshot], mpf]) -> Law:
    """By elimination, after what is left for good is gone; all 0 if the chain has several closed classes."""
    snapshots = sorted({after for after, _ in move})
    reach = {x: {y for y in snapshots if move[y, x] > 0} | {x} for x in snapshots}
    for through, x in itertools.product(snapshots, repeat=2):
        if through in reach[x]:
            reach[x] |= reach[through]
    inside = [x for x in snapshots if all(x in reach[y] for y in snapshots)]
    if not inside:
        return dict.fromkeys(snapshots, mpf(0))
    rest = {(x, y): move[y, x] for x in inside for y in inside}
    for last in range(len(inside) - 1, 0, -1):
        out, left = inside[last], inside[:last]
        leaving = mp.fsum(rest[out, y] for y in left)
        for x in left:
            rest[x, out] /= leaving
            for y in left:
                rest[x, y] += rest[x, out] * rest[out, y]
    law: Law = {inside[0]: mpf(1)}
    for place, x in enumerate(inside[1:], 1):
        law[x] = mp.fsum(law[y] * rest[y, x] for y in inside[:place])
    total = mp.fsum(law.values())
    return {x: law.get(x, mpf(0)) / total for x in snapshots}


def leakage_about_each(
    model: CouplingMarkovChain,
    ages: Sequence[int],
    query: Callable[[Snapshot], float],
    scale: float,
    *,
    knows_others: bool,
) -> list[mpf]:
    """Largest |ln p(y|a)/p(y|b)| over the values of the query, for one group that is alone."""
    with mp.workdps(60):
        move = kernel(model)
        law = stationary(move)
        snapshots = list(law)
        blank = (-1,) * model.sequences
        walks = {(blank, x): chance for x, chance in law.items() if chance > 0}
        for age in range(max(ages), -1, -1):
            marked: dict[tuple[Snapshot, Snapshot], mpf] = {}
            for (seen, now), chance in walks.items():
                mark = tuple(now[j] if ages[j] == age else seen[j] for j in range(model.sequences))
                for after in snapshots if age else (now,):
                    moved = chance * (move[after, now] if age else 1)
                    if moved > 0:
                        marked[mark, after] = marked.get((mark, after), mpf(0)) + moved
            walks = marked
        values = sorted({query(x) for x in snapshots})
        decay = {(y, v): mp.exp(-abs(mpf(y) - mpf(v)) / mpf(scale)) for y in values for v in values}
        found = []
        for target in range(model.sequences):
            known: dict[Snapshot, dict[int, list[mpf]]] = {}
            for (seen, now), chance in walks.items():
                others = (*now[:target], *now[target + 1 :]) if knows_others else ()
                row = known.setdefault(others, {}).setdefault(now[target], [mpf(0)] * (len(values) + 1))
                row[-1] += chance
                for place, y in enumerate(values):
                    row[place] += chance * decay[y, query(seen)]
            worst = mpf(0)
            for rows in known.values():
                for one, other in itertools.combinations(rows.values(), 2):
                    for place in range(len(values)):
                        worst = max(worst, abs(mp.log(one[place] / one[-1] / (other[place] / other[-1]))))
            found.append(worst)
        return found
