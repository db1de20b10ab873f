"""Answering a workload step by step from released numbers, and how far noise carries the answers.

Nothing here is secret, and nothing is spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from chronodp.postprocess import deviations, quantiles
from chronodp.privacy import check_fraction
from chronodp.series.recursion import Floats, Integers
from chronodp.series.stream_design import StreamDesign
from chronodp.series.workloads import CausalFilter, EachPeriod, Ewm, Filter, Rolling, RunningTotal

__all__ = ["Intervals", "Memory", "answer", "answer_steps"]

_FEWEST, _MOST = 16, 1024  # steps whose intervals are made together, ahead of need


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


def answer_steps(
    design: StreamDesign, memory: Memory, released: Integers | Sequence[Sequence[int]], *, begin: int, level: float
) -> tuple[Floats, Floats, Memory]:
    """Return the answers of steps, half the width of their intervals, and the memory after them.

    Args:
        design: of the stream.
        memory: after the steps before.
        released: the noisy numbers of the steps, steps by keys, in steps of the grid.
        begin: the number of the first of them, from 0.
        level: how often an interval holds the value before noise.
    """
    noisy = np.asarray(released, dtype=np.int64).reshape(len(released), design.keys)
    answers, after = answer(design.workload, memory, design.grid.to_values(noisy))
    return answers, _half_widths(design, begin, len(noisy), level), after


class Intervals:
    """Half the widths of a stream's intervals at one level, made ahead for more steps each time, since no value counts.

    Args:
        design: of the stream.
        level: how often an interval holds the value before noise.
    """

    def __init__(self, design: StreamDesign, level: float) -> None:
        self.level = check_fraction("level", level)
        self._design = design
        self._begin, self._ahead = 0, np.zeros(0)

    def halves(self, begin: int, count: int) -> Floats:
        """Return half the widths of ``count`` steps from step ``begin`` on."""
        at = begin - self._begin
        if at < 0 or at + count > len(self._ahead):
            several = max(count, min(2 * len(self._ahead), _MOST), _FEWEST)
            several = min(several, self._design.length - begin)
            at, self._begin, self._ahead = 0, begin, _half_widths(self._design, begin, several, self.level)
        return self._ahead[at : at + count]


def _half_widths(design: StreamDesign, begin: int, count: int, level: float) -> Floats:
    noise = design.noise
    terms = design.variances(np.arange(begin + 1, begin + count + 1, dtype=np.float64))
    if noise.law == "gaussian" or isinstance(design.workload, EachPeriod | RunningTotal):
        return quantiles(noise.law, terms, level) * noise.scale
    return deviations(noise.law, level) * noise.deviation * np.sqrt(terms)
