"""Windows as live sources have them: totals in, rows by window and key out."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from chronodp.errors import InvalidArgument
from chronodp.privacy import as_numbers
from chronodp.series.recursion import Floats

__all__ = ["Row", "check_totals", "rows_by_step"]

Row: TypeAlias = dict[str, Any]


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
