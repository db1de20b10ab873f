"""One bound on a person's whole series, as a user says it."""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_flag, check_positive, settle
from chronodp.series.found import Find

__all__ = ["Norm", "check_norm"]


@dataclass(frozen=True, slots=True)
class Norm:
    """In place of a clip and of limits: the series of a person, over all periods and groups, has at most this l2 norm.

    A longer series is scaled down, each of its numbers by the same factor. For `User` and Gaussian noise alone: one day
    of a series moves the factor of all others.

    Args:
        most: the largest l2 norm, the root of the sum of squares; or `Find()`, which finds it privately.
        signed: whether totals below 0 count. False takes them as 0, which errs less where people's lists are public
            (``User(relation="replace")``).

    >>> Norm(120.0)
    Norm(most=120.0, signed=True)
    """

    most: float | Find
    signed: bool = True

    def __post_init__(self) -> None:
        check_flag("signed", self.signed)
        if not isinstance(self.most, Find):
            settle(self, most=check_positive("most", self.most))


def check_norm(bound: object) -> Norm:
    """Return ``bound`` if it is one."""
    if not isinstance(bound, Norm):
        raise InvalidArgument("bound", bound, "Norm(...), such as Norm(120.0) or Norm(Find())")
    return bound
