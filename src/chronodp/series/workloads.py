"""What a release is tuned for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from chronodp.errors import InvalidArgument
from chronodp.privacy.documents import document

__all__ = ["EachPeriod", "Workload", "check_workload"]


@document("each_period")
@dataclass(frozen=True, slots=True)
class EachPeriod:
    """Every period for itself: the error of single periods is made as small as it can be.

    >>> print(EachPeriod())
    each period for itself
    """

    def __str__(self) -> str:
        return "each period for itself"


Workload: TypeAlias = EachPeriod


def check_workload(value: object) -> Workload:
    """Return ``value`` if it is a workload."""
    if not isinstance(value, EachPeriod):
        raise InvalidArgument("tuned_for", value, "a workload such as EachPeriod()")
    return value
