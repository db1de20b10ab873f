"""A person's whole series scaled to one norm, through the release's own path: whoever has much comes or goes."""

from __future__ import annotations

from typing import Any

from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import Linear
from chronodp.dataset import TimeSeries
from chronodp.engines import Record, Reference
from chronodp.privacy import Calendar, Claim, User
from chronodp.randomness import Entropy
from chronodp.series import Norm, Plan
from tests.audit.cases.ledgers import stored_release
from tests.audit.registry import Entry

__all__ = ["DELTA", "ENTRIES", "FIRST", "NEIGHBOURS", "Scaled"]

Cells = tuple[tuple[str, int, str, float], ...]
"""Who has how much on which day in which place."""

_DAYS = Calendar("1D", "2026-01-01", "2026-01-04")
_PLACES = ("north", "south")
_NORM = 5.0
DELTA = 1e-6
FIRST = int(_DAYS.edges[0])
_OTHERS: Cells = (("bo", 0, "north", 2.0), ("bo", 1, "south", -1.0), ("cy", 2, "north", 40.0))
_EVERYWHERE: Cells = tuple(("ann", day, place, 3.0) for day in range(3) for place in _PLACES)
_LATE: Cells = (("ann", 0, "north", 1.0), ("ann", 1, "south", -30.0), ("ann", 2, "south", 7.0))
_ONCE: Cells = (("ann", 1, "north", 60.0),)
NEIGHBOURS: tuple[tuple[Cells, Cells], ...] = tuple(((*_OTHERS, *ann), _OTHERS) for ann in (_EVERYWHERE, _LATE, _ONCE))


class Scaled:
    """Sums by day and place, every person's series scaled to a norm of 5."""

    def __init__(self, engine: Reference | None = None) -> None:
        """Take the engine that adds up; another than the plain one is a mistake."""
        self._engine = Reference() if engine is None else engine

    @property
    def claim(self) -> Claim:
        """Whom it protects, at what cost."""
        return self._plan(()).claim

    def __call__(self, cells: Cells, *, entropy: Entropy) -> list[list[int]]:
        """Release the sums by the public call and return the numbers that were stored."""
        made = stored_release(self._plan(cells), entropy, unit=User(), delta=1e-5)
        noisy: list[list[int]] = made["noisy"]
        return noisy

    def _plan(self, cells: Cells) -> Plan:
        world = [Record(who, int(_DAYS.edges[day]), much, (place,)) for who, day, place, much in cells]
        engine: Any = self._engine
        series = TimeSeries(
            world,
            time="at",
            user="who",
            every=_DAYS.every,
            start=_DAYS.start,
            end=_DAYS.end,
            unit=User(),
            engine=engine,
        )
        return series.sum("kwh", bound=Norm(_NORM)).by(place=_PLACES).plan(epsilon=1.0, delta=DELTA)


def _scaled() -> tuple[AuditCase, ...]:
    sums = Scaled()
    return (
        AuditCase(
            name="whole series scaled to a norm, Gaussian noise",
            mechanism=sums,
            neighbours=NEIGHBOURS,
            claim=sums.claim,
            epsilon=1.0,
            delta=DELTA,
            checks=(Linear(),),
        ),
    )


ENTRIES = (
    Entry(
        name="whole series scaled to a norm",
        covers=(Plan,),
        precision="cells scaled in whole numbers, towards zero; noise as implemented, on its grid",
        cases=_scaled,
    ),
)
