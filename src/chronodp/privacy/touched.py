"""Which periods of a series one unit changes: how many, and whether they lie together.

This is k, and "together" the stretch of w, of "Sensitivity" in ``docs/explanation/proofs/spectrum.md`` and of both
sensitivities in ``docs/explanation/proofs/state-estimation.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.privacy.units import check_record_unit
from chronodp.privacy.units.base import Unit

__all__ = ["Touched", "touched_periods"]


@dataclass(frozen=True, slots=True)
class Touched:
    """The periods that one unit changes.

    Attributes:
        periods: the most of them.
        together: whether they lie within a stretch of so many; otherwise anywhere.
    """

    periods: int
    together: bool


def touched_periods(unit: Unit, *, horizon: int, max_periods: int | None) -> Touched:
    """Return the periods that one unit changes where every period is a number it changes by at most so much.

    An event lies in one period, and under ``replace`` may move to another. A person is in at most ``max_periods``, and
    under ``replace`` may leave these and enter as many others. What lies in a stretch of time stays there.

    >>> from chronodp.privacy import User
    >>> touched_periods(User(relation="replace"), horizon=24, max_periods=5)
    Touched(periods=10, together=False)
    """
    unit = check_record_unit("unit", unit)
    most = unit.periods_touched(max_periods, horizon=horizon)
    moves = unit.relation == "replace" and (unit.of_rows or unit.whole_person)
    return Touched(min(2 * most if moves else most, horizon), together=not (moves or unit.whole_person))
