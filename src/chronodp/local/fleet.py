"""A whole fleet at once: the answers of many devices over time, drawn from the same tables as on the devices."""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.local.longitudinal import Fresh, Memoised, Slots, TwoLevels, WindowAsked, WindowBudget, WindowPopulation
from chronodp.local.mechanism import NumberMechanism
from chronodp.local.plan import LocalPlan
from chronodp.local.reports import Records, fill_records
from chronodp.local.response import respond
from chronodp.local.values import choices_of
from chronodp.privacy import as_numbers
from chronodp.randomness import Entropy, SecureKeystream, check_entropy

__all__ = ["simulate"]


def simulate(plan: LocalPlan, histories: ArrayLike, *, entropy: Entropy | None = None) -> Records:
    """Return the reports of devices whose true values are the rows of ``histories``, one column a slot.

    For examples and tests: real values never leave real devices. Answers have the law of the shipped device; a test
    compares them.

    >>> from chronodp.local import LocalPlan, OptimizedUnary, Slots
    >>> plan = LocalPlan("page", OptimizedUnary(epsilon=1.0, choices=20), Slots(horizon=90, reports=3))
    >>> simulate(plan, np.zeros((1000, 90), dtype=int)).shape
    (3000,)
    """
    bits = check_entropy(entropy)
    if not isinstance(plan, LocalPlan):
        raise InvalidArgument("plan", plan, "a LocalPlan")
    allowed = "devices × slots, within the plan's horizon"
    table = as_numbers("histories", histories, allowed)
    if table.ndim != 2 or (plan.horizon is not None and table.shape[1] > plan.horizon):
        raise InvalidArgument("histories", histories, allowed, private=True)
    places, slots = _who_reports(plan, table.shape, bits)
    if isinstance(plan.protocol, Memoised):
        answers: NDArray[Any] = _kept_answers(plan, table, bits).reshape(-1)[places]
    else:
        answers = plan.mechanism.perturb(table.reshape(-1)[places], entropy=bits)
    fresh = SecureKeystream()  # also where answers are seeded: the same id would be a replay

    def ids(part: slice) -> NDArray[np.int64]:
        return fresh.words(2 * len(slots[part])).reshape(-1, 2)

    return fill_records(plan, slots, answers, ids)


def _who_reports(
    plan: LocalPlan, shape: tuple[int, ...], entropy: Entropy
) -> tuple[slice | NDArray[np.int64], NDArray[Any]]:
    """Where in the flat table the values of all reports stand, and their slots."""
    devices, slots = shape
    match plan.protocol:
        case Fresh() | Memoised() | WindowBudget():
            return slice(None), np.tile(np.arange(slots, dtype=np.uint32), devices)
        case Slots(horizon=horizon, reports=reports):
            chosen = np.empty((devices, reports), dtype=np.int64)
            rows = max(1, 2**20 // horizon)
            for first in range(0, devices, rows):
                part = chosen[first : first + rows]
                part[:] = entropy.permutations(horizon, rows=len(part))[:, :reports]
            who = np.repeat(np.arange(devices), reports)
            timely = chosen.ravel() < slots
            return _flat(who[timely], chosen.ravel()[timely], slots)
        case WindowPopulation(window=window):
            phases = entropy.integers(window, devices)
            who, when = np.nonzero((np.arange(slots)[None, :] - phases[:, None]) % window == 0)
            return _flat(who, when, slots)
        case WindowAsked():
            raise InvalidArgument("plan", str(plan.protocol), "one in which devices themselves know when to report")
        case never:
            assert_never(never)


def _flat(who: NDArray[np.int64], when: NDArray[np.int64], slots: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return who * slots + when, when


def _kept_answers(plan: LocalPlan, table: NDArray[Any], entropy: Entropy) -> NDArray[np.int64]:
    """The answers of every device in every slot, around answers kept for each value."""
    levels, mechanism = plan.levels, plan.mechanism
    if levels is None or not isinstance(plan.protocol, Memoised):
        raise AssertionError("kept answers have two levels")
    if isinstance(mechanism, NumberMechanism):
        thresholds = entropy.integers(mechanism.grid, len(table))
        held = (mechanism.range.to_quanta(table.ravel()).reshape(table.shape) > thresholds[:, None]).astype(np.int64)
    else:
        held = choices_of(table.ravel(), levels.choices).reshape(table.shape)
    kept = _kept(levels, held, plan.protocol.max_values or levels.choices, entropy)
    chosen = np.take_along_axis(kept, held, axis=1).ravel()
    again = respond(chosen, levels.choices, levels.keep_again, levels.whole_again, entropy)
    return again.reshape(table.shape).astype(np.int64)


def _kept(levels: TwoLevels, held: NDArray[np.int64], most: int, entropy: Entropy) -> NDArray[np.int64]:
    """The answer that each device keeps for each value: devices × values."""
    devices = len(held)
    every = np.tile(np.arange(levels.choices), devices)
    kept = (
        respond(every, levels.choices, levels.keep, levels.whole, entropy)
        .reshape(devices, levels.choices)
        .astype(np.int64)
    )
    if most < levels.choices:
        first = np.full(kept.shape, held.shape[1])
        for slot in range(held.shape[1] - 1, -1, -1):
            first[np.arange(devices), held[:, slot]] = slot
        late = np.argsort(np.argsort(first, axis=1, kind="stable"), axis=1) >= most
        kept[late] = entropy.integers(levels.choices, int(late.sum()))
    return kept
