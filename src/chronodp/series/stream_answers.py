"""What a stream's released steps say: answers to its workload and how far noise carries them. Free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from chronodp.errors import InvalidArgument
from chronodp.postprocess import deviations, quantiles
from chronodp.privacy import Grid, as_numbers
from chronodp.series.answers import Memory, answer
from chronodp.series.recursion import Floats, Integers
from chronodp.series.stream_design import StreamDesign
from chronodp.series.workloads import EachPeriod, RunningTotal

__all__ = ["Row", "answer_steps", "check_totals", "rows_by_step"]

Row: TypeAlias = dict[str, Any]


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
    answers, after = answer(design.workload, memory, Grid(design.noise.step).to_values(noisy))
    return answers, _half_widths(design, begin, len(noisy), level), after


def _half_widths(design: StreamDesign, begin: int, count: int, level: float) -> Floats:
    noise = design.noise
    terms = design.variances(np.arange(begin + 1, begin + count + 1, dtype=np.float64))
    if noise.law == "gaussian" or isinstance(design.workload, EachPeriod | RunningTotal):
        return quantiles(noise.law, terms, level) * noise.scale
    return deviations(noise.law, level) * noise.deviation * np.sqrt(terms)


def check_totals(totals: ArrayLike, columns: int) -> Floats:
    """Return totals of windows, windows by columns, if all are finite: none is released before all can be."""
    allowed = f"finite numbers, windows × {columns}"
    numbers = as_numbers("totals", totals, allowed)
    if numbers.ndim != 2 or numbers.shape[1] != columns or not np.all(np.isfinite(numbers)):
        raise InvalidArgument("totals", totals, allowed, private=True)
    return numbers.astype(np.float64)


def rows_by_step(count: int, **columns: Any) -> list[list[Row]]:
    """Return rows by step, one a key, from arrays of steps, or of steps by keys."""
    tables = {
        name: np.asarray(values, dtype=np.float64).reshape(count, -1).tolist() for name, values in columns.items()
    }
    keys = len(next(iter(tables.values()))[0]) if count else 0
    return [
        [{name: table[step][key] for name, table in tables.items()} for key in range(keys)] for step in range(count)
    ]
