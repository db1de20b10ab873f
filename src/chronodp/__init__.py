"""Differential privacy for time series: a guarantee that is stated, paid for, durable and checkable.

>>> import chronodp as cdp
>>> day = cdp.privacy.RepeatedCost(cdp.privacy.GaussianCost(sensitivity=1.0, sigma=50.0), times=1440)
>>> round(cdp.accounting.gaussian.epsilon(day, delta=1e-5), 3)
3.19
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from chronodp import errors, privacy, randomness
from chronodp.privacy import Event, User, UserPeriod, Window

if TYPE_CHECKING:
    from chronodp import accounting, audit

__version__ = "0.1.0"

__all__ = [
    "Event",
    "User",
    "UserPeriod",
    "Window",
    "__version__",
    "accounting",
    "audit",
    "errors",
    "privacy",
    "randomness",
]

_LATE = frozenset({"accounting", "audit"})  # rooms that need scipy: imported when first used


def __getattr__(name: str) -> ModuleType:
    if name in _LATE:
        return importlib.import_module(f"chronodp.{name}")
    raise AttributeError(f"module 'chronodp' has no attribute {name!r}")
