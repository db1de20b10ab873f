"""The law of what is released, given the present: each sequence read as long ago as its age says.

*Law of the past* and *Older is safer* under "Exact leakage" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.chain import Floats
from chronodp.correlated.joint import Joint, JointChain
from chronodp.correlated.query import QueryTable
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole

__all__ = ["OLDEST", "Ages", "aged_law", "aged_outputs", "check_ages", "distinct"]

Ages: TypeAlias = int | Sequence[int] | NDArray[np.int64]
Number = TypeVar("Number", np.float64, np.int64)

OLDEST = 100_000


def check_ages(ages: Ages, sequences: int, *, horizon: int | None = None) -> NDArray[np.int64]:
    """Return one age a sequence; a single number is the age of all."""
    if isinstance(ages, int | np.integer):
        given = [check_whole("ages", int(ages), least=0, most=OLDEST)] * sequences
    elif isinstance(ages, str) or not isinstance(ages, Sequence | np.ndarray) or getattr(ages, "ndim", 1) != 1:
        raise InvalidArgument("ages", ages, "a whole number, or one a sequence")
    else:
        given = [check_whole("ages", age, least=0, most=OLDEST) for age in ages]
    if len(given) != sequences:
        raise InvalidArgument("ages", len(given), f"one a sequence, {sequences}, or one for all")
    if horizon is not None and max(given) >= horizon:
        raise InvalidArgument("ages", max(given), f"below the horizon, {horizon}: nothing so old will ever be there")
    return np.asarray(given, dtype=np.int64)


def aged_outputs(joint: Joint, outputs: QueryTable, ages: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the values that the outputs can take, one a row, and P(value, present snapshot) of each.

    Args:
        joint: all sequences together.
        outputs: what is computed of the aged states.
        ages: of each sequence; or, as outputs × sequences, for each output on its own.

    From the oldest age to the newest the chain is carried on, and at each age the sequences of that age put in what
    they contribute. What was put in so far is all that is remembered of the past, so that few values mean little work.
    """
    each = np.broadcast_to(ages, outputs.parts.shape[:2])
    values = outputs.nothing()[None]
    law = joint.stationary[None]
    oldest = int(each.max())
    for age in sorted(set(each.ravel().tolist()), reverse=True):
        law = joint.carried(law, oldest - age)
        values, law = _put_in(values, law, outputs, _contributions(joint, outputs, each == age))
        oldest = age
    return values, joint.carried(law, oldest)


def aged_law(joint: JointChain, ages: NDArray[np.int64]) -> Floats:
    """Return P(z | x): the law of the aged snapshot z (rows) for each present snapshot x (columns).

    Columns of snapshots that never occur are not numbers.
    """
    places = joint.model.states ** np.arange(joint.model.sequences)[::-1]
    number = QueryTable((places[:, None] * np.arange(joint.model.states)).astype(np.float64)[None], (False,))
    values, law = aged_outputs(joint, number, ages)
    full = np.zeros((len(joint.snapshots), len(joint.snapshots)))
    full[values[:, 0].astype(np.int64)] = law
    with np.errstate(invalid="ignore"):
        given: Floats = full / full.sum(axis=0)
    return given


def _contributions(joint: Joint, outputs: QueryTable, now: NDArray[np.bool_]) -> Floats:
    """What the sequences that are read now put into each output, for every snapshot (a row)."""
    made = np.broadcast_to(outputs.nothing(), (len(joint.snapshots), len(outputs.largest))).copy()
    for output in np.flatnonzero(now.any(axis=1)):
        members = np.flatnonzero(now[output])
        single = QueryTable(outputs.parts[output : output + 1, members], outputs.largest[output : output + 1])
        made[:, output] = single.values(joint.snapshots[:, members])[:, 0]
    return made


def _put_in(values: Floats, law: Floats, outputs: QueryTable, own: Floats) -> tuple[Floats, Floats]:
    """Join contributions of the present snapshots to the values so far; equal values become one."""
    kinds, which = distinct(own)
    cases = np.concatenate([outputs.together(values, np.broadcast_to(kind, values.shape)) for kind in kinds])
    merged, place = distinct(cases)
    place = place.reshape(len(kinds), len(values))
    made = np.zeros((len(merged), law.shape[1]))
    for kind in range(len(kinds)):
        now = np.flatnonzero(which == kind)
        np.add.at(made, (place[kind][:, None], now[None, :]), law[:, now])
    return merged, made


def distinct(rows: NDArray[Number]) -> tuple[NDArray[Number], NDArray[np.int64]]:
    """Return the different rows, sorted, and which of them each row is."""
    if rows.shape[1] == 1:  # numbers are sorted several times as fast as rows
        found, which = np.unique(rows[:, 0], return_inverse=True)
        return found[:, None], which
    order = np.lexsort(rows.T[::-1])  # by one column after another: several times as fast as comparing rows
    ordered = rows[order]
    first = np.ones(len(rows), dtype=np.bool_)
    np.any(ordered[1:] != ordered[:-1], axis=1, out=first[1:])
    which = np.empty(len(rows), dtype=np.int64)
    which[order] = np.cumsum(first) - 1
    return ordered[first], which
