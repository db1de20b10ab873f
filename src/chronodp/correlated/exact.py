"""Leakage computed from the joint law, with nothing bounded: for groups of sequences small enough to be listed.

The adversary knows all about sequences outside the target's group, past and present; inside it either the present of
all others, or nothing (`Adversary`).

"Exact leakage" of ``docs/explanation/proofs/correlated.md``: *Noise* says why extremes lie at support points, *Groups*
which levels outside are tried, *Older is safer* what is told of any two presents.
"""

from __future__ import annotations

import itertools
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.ageing import aged_outputs, distinct
from chronodp.correlated.chain import Floats, Integers
from chronodp.correlated.joint import LEAST, Joint
from chronodp.correlated.mixtures import log_densities
from chronodp.correlated.query import QueryTable
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_word

__all__ = ["Adversary", "Compared", "check_adversary", "exact_leakage", "outside_values"]

Adversary: TypeAlias = Literal["knows_others", "knows_none"]
Compared: TypeAlias = Adversary | Literal["any_pair"]
"""Whose presents are compared: those that differ in one sequence, for an adversary, or any two of the whole group."""

_MOST_POINTS = 2**12  # of a grid of outputs; each is compared with each value
_MOST_CASES = 2**8  # of levels outside


def check_adversary(value: object) -> Adversary:
    """Return ``value`` if it names an adversary."""
    return cast(Adversary, check_word("adversary", value, get_args(Adversary)))


def exact_leakage(
    joint: Joint, outputs: QueryTable, ages: NDArray[np.int64], *, scale: float, adversary: Compared, outside: Floats
) -> Floats:
    """Return for each sequence of the group the largest |ln p(y | a) / p(y | b)| over outputs and pairs of its states.

    Args:
        joint: of the group.
        outputs: what the group contributes.
        ages: of the group.
        scale: of the Laplace noise on each output.
        adversary: what it knows within the group; with "any_pair", presents that differ in any number of sequences are
            compared too, and the group's largest stands for each of its sequences.
        outside: what the sequences outside the group may contribute, one case a row.
    """
    _check_outputs(joint, outputs)
    own, law = aged_outputs(joint, outputs, ages)
    worst = np.zeros(joint.model.sequences)
    for case in outside:
        values = outputs.together(own, np.broadcast_to(case, own.shape))
        merged, which = distinct(values)
        together = np.zeros((len(merged), law.shape[1]))
        np.add.at(together, which, law)
        worst = np.maximum(worst, _leakage(joint, merged, together, scale, adversary))
    return worst


def outside_values(outputs: QueryTable, members: Integers, *, releases: int = 1) -> Floats:
    """Return every contribution, as far as it matters, that sequences outside a group can make to releases in a row.

    A sum only moves by it, so that one case stands for all; a maximum may hide what the group does, at each release
    by another level.
    """
    outside = np.setdiff1d(np.arange(outputs.parts.shape[1]), members)
    compared = np.asarray(outputs.largest)
    reached = {tuple(outputs.nothing().tolist())}
    if compared.any() and len(outside):
        kinds, counts = np.unique(outputs.parts[:, outside].swapaxes(0, 1), axis=0, return_counts=True)
        for kind, count in zip(kinds, counts, strict=True):
            levels = [tuple(np.where(compared, level, 0.0).tolist()) for level in kind.T]
            for _ in range(min(int(count), len(levels))):  # more of the same kind reach nothing new
                reached = {tuple(map(max, seen, level)) for seen in reached for level in levels}
    if len(reached) ** releases > _MOST_CASES:
        raise InvalidArgument("releases", releases, "fewer: too many levels of other groups to try")
    return np.asarray([sum(rows, ()) for rows in itertools.product(sorted(reached), repeat=releases)])


def _leakage(joint: Joint, values: Floats, law: Floats, scale: float, adversary: Compared) -> Floats:
    count = joint.model.sequences
    tensor = law.reshape(len(values), *joint.shape)
    worst = np.zeros(count)
    if adversary == "knows_none":
        for target in range(count):
            others = tuple(axis for axis in range(1, count + 1) if axis != target + 1)
            densities = _log_conditionals(values, tensor.sum(axis=others), scale)
            worst[target] = _apart(densities, axis=0)
        return worst
    densities = _log_conditionals(values, law, scale)
    if adversary == "any_pair":
        return np.full(count, _apart(densities, axis=0))
    densities = densities.reshape(*joint.shape, -1)
    for target in range(count):
        worst[target] = _apart(densities, axis=target)
    return worst


def _check_outputs(joint: Joint, outputs: QueryTable) -> None:
    """Raise if several outputs have so many values that their grid cannot be walked."""
    count = 1.0
    for output in range(len(outputs.largest)):
        single = QueryTable(outputs.parts[output : output + 1], outputs.largest[output : output + 1])
        count *= len(np.unique(single.values(joint.snapshots)))
    if len(outputs.largest) > 1 and count > _MOST_POINTS:
        raise InvalidArgument("query", len(outputs.largest), "fewer outputs, or outputs with fewer values")


def _log_conditionals(values: Floats, law: Floats, scale: float) -> Floats:
    """Log densities, up to a constant, wherever the largest ratio can lie; a row a case, nan if it never occurs."""
    total = law.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        given = (law / total).T
    if values.shape[1] == 1:
        return log_densities(values[:, 0], given, scale)
    # As a function of one output alone the ratio is Möbius again: its extremes lie on the grid of all outputs' values.
    axes = [np.unique(values[:, output]) for output in range(values.shape[1])]
    points = np.asarray(list(itertools.product(*axes)))
    distance = np.zeros((len(points), len(values)))
    for point, value in zip(points.T, values.T, strict=True):
        distance += np.abs(point[:, None] - value) / scale
    nearest = distance.min(axis=1)
    densities = given @ np.exp(nearest[:, None] - distance).T
    with np.errstate(divide="ignore"):
        logs = np.asarray(np.log(densities) - nearest)
        for case in np.flatnonzero((densities < LEAST).any(axis=1)):  # too far from all that this law holds possible
            far = densities[case] < LEAST
            logs[case, far] = np.logaddexp.reduce(np.log(given[case]) - distance[far], axis=1)
    return logs


def _apart(densities: Floats, *, axis: int) -> float:
    known = ~np.isnan(densities)
    high = np.where(known, densities, -np.inf).max(axis=axis)
    low = np.where(known, densities, np.inf).min(axis=axis)
    both = np.isfinite(high) | np.isfinite(low)
    if not both.any():
        return 0.0
    return max(0.0, float((high - low)[both].max()))
