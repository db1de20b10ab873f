"""Outputs and inputs of mechanisms as something that can be compared and counted."""

from __future__ import annotations

import math
from collections.abc import Hashable
from enum import Enum

import numpy as np

from chronodp.errors import InvalidArgument

__all__ = ["freeze"]

_PLAIN = frozenset({int, bool, str, bytes, type(None)})  # kinds that are compared as they are


def freeze(value: object) -> Hashable:
    """Return an output or input as something that can be compared and counted."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, list | tuple):
        return tuple(map(freeze, value))
    if isinstance(value, np.ndarray):
        parts = value.ravel().tolist()
        return (value.shape, *(map(freeze, parts) if value.dtype.kind in "fO" else parts))
    if isinstance(value, np.generic):
        item: Hashable = value.item()
        return item
    if isinstance(value, float) and math.isnan(value):
        return "not a number"  # which is otherwise unequal to itself
    if isinstance(value, dict):
        return tuple(sorted((str(key), freeze(part)) for key, part in value.items()))
    if isinstance(value, Hashable) and (value is None or isinstance(value, Enum) or _compares(value)):
        return value
    raise InvalidArgument("mechanism", value, "a mechanism whose output can be compared: numbers, tuples or arrays")


def _compares(value: object) -> bool:
    """Whether equality means more than being the same object, which no two runs would return."""
    return type(value).__eq__ is not object.__eq__
