"""Lifetime series by their front door: from rows to stored releases, one person in all issues or in none."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import Linear
from chronodp.dataset import Lifetime, TimeSeries
from chronodp.engines import Record, Reference
from chronodp.privacy import User
from chronodp.randomness import Entropy
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry

__all__ = ["ENTRIES"]

_MIDNIGHT, _DAY = 1_767_225_600_000_000, 86_400_000_000  # of 2026-01-01, in microseconds

Months = tuple[tuple[tuple[str, str, float], ...], ...]
"""Who used how much where, month by month."""


@dataclass(frozen=True)
class Published:
    """A lifetime series by its front door: opened, issued month by month, and read back from the ledger.

    Attributes:
        law: of the noise.
        measure: 'count' or 'sum'.
        raised: the clip of the last issue, if it is another.
        unit: a person, who is there or not, or is replaced.
    """

    law: str
    measure: str
    raised: tuple[float, float] | None = None
    unit: User = field(default_factory=User)

    @property
    def delta(self) -> float:
        """Of the price."""
        return 0.0 if self.law == "laplace" else 0.01

    @property
    def plan(self) -> Any:
        """What all issues cost."""
        return self._planned((), Reference())

    def _planned(self, rows: Any, engine: Reference) -> Any:
        series = TimeSeries(
            rows, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-02", unit=self.unit, engine=engine
        )
        asked = (
            series.count()
            if self.measure == "count"
            else series.sum("used", clip=(-2.0 if self.unit.relation == "replace" else 0.0, 2.0))
        )
        return asked.by(place=["a", "b"], max_groups=1).lifetime(epsilon=1.0, delta=self.delta, max_periods=2)

    def __call__(self, months: Months, *, entropy: Entropy) -> tuple[int, ...]:
        """Return the noisy numbers of every issue, in steps."""
        told: list[int] = []
        with tempfile.TemporaryDirectory() as folder, temporary_ledger(self.unit, delta=0.1) as ledger:
            load = self.plan.open(ledger, dataset="audit", name="load", tally=Path(folder) / "tally")
            for number, rows in enumerate(months):
                raised: dict[str, Any] = {"clip": self.raised} if self.raised and number == len(months) - 1 else {}
                with contextlib.redirect_stderr(io.StringIO()):  # where other terms are told to who asks
                    made = load.issue(
                        _records(rows, number),
                        start=f"2026-01-{number + 1:02}",
                        end=f"2026-01-{number + 2:02}",
                        request=str(number),
                        entropy=entropy,
                        progress=lambda _: None,
                        **raised,
                    )
                told += json.loads(made.text)["noisy"][0]
        return tuple(told)


def _records(rows: tuple[tuple[str, str, float], ...], day: int) -> list[Record]:
    return [Record(who, _MIDNIGHT + day * _DAY, used, (place,)) for who, place, used in rows]


def _series() -> tuple[AuditCase, ...]:
    bo = (("bo", "a", 1.0),)
    always: Months = ((("ann", "a", 2.0), ("ann", "b", 2.0)),) * 4
    moving: Months = ((("ann", "a", 1.0),), (("ann", "b", 2.0),), (("ann", "a", 0.5),), (("ann", "b", 2.0),))
    nobody: Months = (bo, bo, (), bo)
    pairs = tuple(
        (nobody, tuple((*one, *other) for one, other in zip(months, nobody, strict=True)))
        for months in (always, moving)
    )
    other: Months = tuple(tuple((who, place, -used) for who, place, used in month) for month in always)
    replaced = User(relation="replace")
    return (
        _case("people counted, Gaussian noise", Published("gaussian", "count"), pairs),
        _case("people counted, Laplace noise", Published("laplace", "count"), pairs),
        _case("sums, a clip raised midway", Published("gaussian", "sum", raised=(0.0, 3.0)), pairs),
        _case(
            "sums of both signs, one person replaced", Published("gaussian", "sum", unit=replaced), ((always, other),)
        ),
    )


def _case(name: str, published: Published, pairs: tuple[tuple[Months, Months], ...]) -> AuditCase:
    return AuditCase(
        name=f"a lifetime series, {name}",
        mechanism=published,
        neighbours=pairs,
        claim=published.plan.claim,
        epsilon=1.0,
        delta=published.delta,
        checks=(Linear(),),
    )


ENTRIES = (
    Entry(
        name="lifetime series",
        covers=(Lifetime,),
        precision="whole numbers on a grid; noise of exactly the stated law; shares in whole numbers, rounded up",
        cases=_series,
    ),
)
