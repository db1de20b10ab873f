"""A plan: the price and the error of a release, before any data is read; and the release itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

from chronodp.display import facts_html, scrolled
from chronodp.engines import BoundsReport, Progress, ReadingCheck
from chronodp.errors import InvalidArgument
from chronodp.ledger import Fulfilled, Written
from chronodp.privacy import Certificate, Guarantee, check_delta, check_epsilon, check_flag, check_fraction
from chronodp.randomness import Entropy
from chronodp.report import watched
from chronodp.series.describe import describe, half_width, useful
from chronodp.series.design import Design
from chronodp.series.diagnosis import Diagnosis
from chronodp.series.drawing import Quanta, certificate_of, draw_release
from chronodp.series.missing import Missing, check_missing
from chronodp.series.planner import design_release
from chronodp.series.release import Release
from chronodp.series.split import split_price
from chronodp.series.table import Table
from chronodp.series.table_plan import TablePlan
from chronodp.series.usefulness import Expected, expected_of
from chronodp.series.workloads import Workload, check_workload

if TYPE_CHECKING:
    import pandas

__all__ = ["Origin", "Plan", "Quanta", "Terms", "make_plan"]


class Terms(TypedDict):
    """What a plan is asked for beside its table."""

    epsilon: float
    delta: float
    tuned_for: Workload
    missing: Missing | None


class Origin(Protocol):
    """Where a plan's numbers come from: read only when something is released."""

    def numbers(self, design: Design, *, key: str, progress: Progress) -> tuple[Quanta, ...]:
        """Return the exact numbers of each kind, in steps of their noise's grid, period by period."""
        ...

    def missing(self, design: Design, *, key: str) -> Quanta:
        """Return what bounds take away, in steps of its noise's grid, and how many reach beyond; as far as asked."""
        ...

    def look(self, design: Design) -> ReadingCheck:
        """Return how the data is read and what is left out, for the owner only."""
        ...

    def tally(self, design: Design, *, key: str, progress: Progress) -> BoundsReport:
        """Return what the bounds take away, for the owner only."""
        ...

    def moved(self, data: object, table: Table, *, start: Any, end: Any) -> tuple[Origin, Table]:
        """Return the same question about other data and another stretch of time."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Plan(TablePlan[tuple[Quanta, ...], Release]):
    """One release, priced and with its error known; `release` spends.

    Attributes:
        design: everything public about it.
        others: the designs that were weighed and found to have more error.
        delta: the delta that was asked for.
        missing: the figure of what bounds take away, if it was asked for.
        asked: the table that was asked for, where the design's is one of several ways to it.
        expected: about how large the numbers will be, for what it says of itself.
    """

    design: Design
    others: tuple[Design, ...]
    delta: float
    origin: Origin
    missing: Missing | None = None
    asked: Table | None = None
    expected: Expected = Expected()  # noqa: RUF009 (frozen, and no design hangs on it)

    @property
    def cells(self) -> int:
        """How many numbers are stored."""
        return self.design.table.cells

    @property
    def alternatives(self) -> pandas.DataFrame:
        """Every candidate with its error, the chosen one first."""
        import pandas

        return pandas.DataFrame(self.candidates)

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The alternatives as plain data for JSON."""
        rows = []
        for design in (self.design, *self.others):
            noise = design.noises[0]
            capped = {} if design.table.presence is None else {"cap": design.table.cap or "nobody cut"}
            rows.append(
                {
                    **capped,
                    "shape": str(design.shape),
                    "noise": noise.law,
                    "scale": noise.scale,
                    "rmse_mean": design.errors.rmse_mean,
                    "rmse_max": design.errors.rmse_max,
                    "half_width": half_width(design, 0.95),
                    "epsilon": design.epsilon,
                    "delta": design.delta,
                }
            )
        return rows

    def half_width(self, level: float = 0.95) -> float:
        """Return how far noise carries what the plan is tuned for (of a mean: its sum) at worst, at a level."""
        return half_width(self.design, check_fraction("level", level))

    def read(self, *, key: str, progress: Progress) -> tuple[Quanta, ...]:
        """Return the exact numbers, which nobody may see; ``key`` decides which periods of a person count.

        What bounds take away comes last, where it is asked for.
        """
        numbers = self.origin.numbers(self.design, key=key, progress=progress)
        return numbers if self.design.missing is None else (*numbers, self.origin.missing(self.design, key=key))

    def draw(self, numbers: tuple[Quanta, ...], entropy: Entropy) -> Written:
        """Return the release as it is stored, with fresh noise; whoever calls has debited the cost before."""
        return draw_release(self.design, numbers, entropy)

    def content(self, numbers: tuple[Quanta, ...]) -> tuple[bytes, ...]:
        """Return what identifies the data. Nobody may see it."""
        return tuple(part.astype("<i8", copy=False).tobytes() for part in numbers)

    def on(self, data: object, *, start: Any = None, end: Any = None) -> Plan:
        """Return the same plan for other data, such as next month's: same guarantee, other dates."""
        origin, table = self.origin.moved(data, self.asked or self.design.table, start=start, end=end)
        return make_plan(
            table,
            origin,
            epsilon=self.design.epsilon,
            delta=self.delta,
            tuned_for=self.design.tuned_for,
            missing=self.missing,
        )

    def diagnose(self, *, bounds: bool = False, progress: Progress | None = None) -> Diagnosis:
        """Read the data and say how its cells are read. FOR THE OWNER ONLY: the figures are not private.

        Nothing of it is released, and nothing of it changes a release.

        Args:
            bounds: whether to say also what the bounds take away. A bound that was chosen by looking at that is not
                private: choose bounds by what is publicly known.
            progress: told which fraction is done; a bar on the terminal if not given.
        """
        if check_flag("bounds", bounds) and self.design.table.scales is not None:
            allowed = "False where groups have clips of their own: where(...) with one clip tells it of a group"
            raise InvalidArgument("bounds", bounds, allowed)
        with watched(progress, f"Reading {self.origin}") as tell:
            check = self.origin.look(self.design)
            taken = self.origin.tally(self.design, key="", progress=tell) if bounds else None
            tell(1.0)
        calendar = self.design.table.calendar
        zone, called = "UTC" if calendar is None else calendar.timezone, self.design.table.unit.called
        return Diagnosis(check, taken, zone, called)

    def certificate_for(self, *, seeded: bool) -> Certificate:
        """Return what a release by this plan is certified by."""
        return certificate_of(self.design, seeded=seeded)

    def _released(self, fulfilled: Fulfilled) -> Release:
        return Release(fulfilled.release, fulfilled.signed, parts=fulfilled.parts)

    def __repr__(self) -> str:
        table = self.design.table
        return f"Plan({table.released}; {Guarantee(table.claimed, self.design.epsilon, self.design.delta)})"

    def expecting(self, expect: object) -> Plan:
        """Return the same plan, which says how far off numbers of that size will be."""
        plan = replace(self, expected=expected_of(expect))
        useful(plan.design, plan.expected)  # refuses what has no such size
        return plan

    @property
    def _may_ask_missing(self) -> bool:
        table = self.design.table
        if self.missing is not None or table.levels or table.presence is not None or table.measure.finished:
            return False
        try:
            check_missing(table, Missing())
        except InvalidArgument:
            return False
        return True

    @property
    def _facts(self) -> list[tuple[str, str]]:
        facts = describe(self.design, self.delta, self.expected)
        asks = "plan(missing=Missing()) also releases what the limits remove; " if self._may_ask_missing else ""
        return [*facts, ("Before paying", f"{asks}plan.diagnose() shows you, the owner, how the table is read")]

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the same, and the candidates with their errors."""
        table = self.alternatives.to_html(index=False, escape=True, border=0, float_format="{:.4g}".format)
        return f"<div>{facts_html(self._facts)}<p>Candidates, the chosen one first:</p>{scrolled(table)}</div>"


def make_plan(
    table: Table, origin: Origin, *, epsilon: float, delta: float, tuned_for: Workload, missing: Missing | None = None
) -> Plan:
    """Return the plan with the least error."""
    split = None
    if missing is not None and table.levels is not None:
        raise InvalidArgument("missing", "Missing()", "left out with Places; ask for it in a release without them")
    if missing is not None and (parts := check_missing(table, missing).parts(table)):
        split = split_price(check_epsilon(epsilon), check_delta(delta), figures=parts)
    best, *others = design_release(
        table, epsilon=epsilon, delta=delta, tuned_for=check_workload(tuned_for), split=split, missing=missing
    )
    return Plan(best, tuple(others), check_delta(delta), origin, missing, table)
