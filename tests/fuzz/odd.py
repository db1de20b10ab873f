"""Things that people and programs hand in by mistake."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

import chronodp as cdp

__all__ = ["ODD"]


def _same(value: Any) -> Any:
    return value


ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    2,
    2**63,
    2**70,
    -(10**400),
    0.0,
    -0.5,
    math.nan,
    math.inf,
    -math.inf,
    1e308,
    5e-324,
    "",
    " ",
    "1",
    "nan",
    "no such thing",
    "\x00",
    "\ud800",
    "é" * 5_000,
    "[bold]x[/]",
    b"",
    b"\xff",
    (),
    (0.0,),
    (1.0, 0.0),
    (math.nan, math.nan),
    [],
    [None],
    ["a", 1],
    [[1], [1, 2]],
    [math.inf],
    {},
    {"a": 1},
    set(),
    object(),
    range(3),
    1j,
    Decimal("1.5"),
    Fraction(1, 3),
    np.float32(0.5),
    np.int64(3),
    np.array([]),
    np.array([math.nan]),
    np.array(["a"]),
    np.array(1.0),
    np.zeros((2, 0)),
    np.zeros((2, 2, 2)),
    pd.DataFrame(),
    pd.Series([1.0, None]),
    pd.NaT,
    datetime.date(2026, 1, 1),
    datetime.timedelta(days=1),
    datetime.datetime(1, 1, 1, tzinfo=datetime.UTC),
    cdp.User,
    cdp.User(),
    cdp.RunningTotal(),
    _same,
    Callable,
)
