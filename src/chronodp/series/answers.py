"""Answering a workload step by step from released numbers: nothing here is secret, and nothing is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from chronodp.series.recursion import Floats
from chronodp.series.workloads import CausalFilter, EachPeriod, Ewm, Filter, Rolling, RunningTotal

__all__ = ["Memory", "answer"]


@dataclass(frozen=True, slots=True)
class Memory:
    """What must be known of earlier steps: the last total or mean, or the last numbers, oldest first, by series."""

    numbers: Floats

    @classmethod
    def start(cls, workload: CausalFilter, keys: int) -> Self:
        """Return the memory before the first step."""
        return cls(np.zeros((_rows(workload), keys)))


def _rows(workload: CausalFilter) -> int:
    match workload:
        case EachPeriod():
            return 0
        case RunningTotal() | Ewm():
            return 1
        case Rolling(periods=periods):
            return periods - 1
        case Filter(weights=weights):
            return len(weights) - 1


def answer(workload: CausalFilter, memory: Memory, released: Floats) -> tuple[Floats, Memory]:
    """Return the answers of the next steps, from released numbers of steps by series, and the memory afterwards.

    >>> totals, after = answer(RunningTotal(), Memory.start(RunningTotal(), 1), np.array([[3.0], [4.0]]))
    >>> totals.tolist(), after.numbers.tolist()
    ([[3.0], [7.0]], [[7.0]])
    """
    from scipy.signal import lfilter

    known = memory.numbers
    if not released.shape[1]:  # no series, as where no key was found: there is nothing to answer
        return released, memory
    match workload:
        case EachPeriod():
            return released, memory
        case RunningTotal():
            totals = known[-1] + np.cumsum(released, axis=0)
            return totals, Memory(totals[-1:].copy())
        case Ewm(alpha=alpha):
            means, _ = lfilter([alpha], [1.0, alpha - 1.0], released, axis=0, zi=(1 - alpha) * known)
            return means, Memory(means[-1:].copy())
        case Rolling() | Filter():
            weights = workload.response(len(known) + 1)
            together = np.concatenate((known, released))
            filtered = lfilter(weights, [1.0], together, axis=0)[len(known) :]
            return filtered, Memory(together[len(together) - len(known) :].copy())
