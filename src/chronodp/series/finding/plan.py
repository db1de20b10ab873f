"""A plan whose bounds are found when it is released: one debit, then a scale, then all bounds, then the numbers.

*Order of events* in ``docs/explanation/proofs/finding.md``: each choice is on disk before what follows from it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Unpack

from chronodp.engines import Progress, Sizes
from chronodp.errors import InvalidArgument
from chronodp.ledger import Fulfilled, Produce, Staged
from chronodp.privacy import Guarantee, check_delta, check_epsilon, check_flag, check_kind
from chronodp.randomness import Entropy
from chronodp.report import watched
from chronodp.series.diagnosis import Diagnosis
from chronodp.series.finding.describe import describe_find
from chronodp.series.finding.design import FindDesign, checked_design, design_find
from chronodp.series.finding.edges import Typical
from chronodp.series.finding.joint import Joint
from chronodp.series.finding.scale import Scale
from chronodp.series.found import Find, Found
from chronodp.series.plan import Origin, Plan, Terms, make_plan
from chronodp.series.release import Release
from chronodp.series.table import Table
from chronodp.series.table_plan import StagedPlan
from chronodp.series.workloads import check_workload

if TYPE_CHECKING:
    import pandas

__all__ = ["FindPlan", "FindingOrigin", "choices_of", "found_by", "identity_of", "make_find_plan"]

Chosen: TypeAlias = tuple[str, ...]
Choose: TypeAlias = Callable[[Chosen], Callable[[], str]]


class FindingOrigin(Origin, Protocol):
    """Where numbers come from that bounds can be found for."""

    def sizes(self, scale: Scale | Typical) -> Sizes:
        """Return how much voters hold, counted by the sizes of a scale, which nobody may see."""
        ...

    def losses(self, joint: Joint) -> tuple[int, ...]:
        """Return what each candidate would take away, which nobody may see."""
        ...

    def moved(self, data: object, table: Table, *, start: Any, end: Any) -> tuple[FindingOrigin, Table]:
        """Return the same question about other data and another stretch of time."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class FindPlan(StagedPlan[Sizes, Release]):
    """One release whose bounds are found first; `release` pays for both at once, and `release.found` says which.

    Attributes:
        design: everything public about it.
    """

    design: FindDesign
    origin: FindingOrigin

    @property
    def cells(self) -> int:
        """How many numbers are stored."""
        return self.design.table.cells

    def read(self, *, key: str, progress: Progress) -> Sizes:
        """Return how much voters hold, counted by sizes, which nobody may see."""
        del key  # no periods of a person are left out here
        counts = self.origin.sizes(self.design.votes)
        progress(1.0)
        return counts

    @property
    def alternatives(self) -> pandas.DataFrame:
        """Every number of periods and groups that may be found, with how far noise then carries what it is tuned for.

        Where the size is found too, half-widths are of a size of 1: the noise is that many times the size found.
        """
        import pandas

        return pandas.DataFrame(self.candidates)

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The alternatives as plain data for JSON."""
        pairs = self.design.half_widths.items()
        return [{"max_periods": one, "max_groups": other, "half_width": width} for (one, other), width in pairs]

    def diagnose(self, *, bounds: bool = False, progress: Progress | None = None) -> Diagnosis:
        """Read the data and say how its cells are read. FOR THE OWNER ONLY: the figures are not private.

        What bounds take away is not told: none are known before the release, whose `Missing()` tells it privately.
        """
        if check_flag("bounds", bounds):
            raise InvalidArgument("bounds", True, "left out: bounds are found by the release")
        # At the reference: how cells are read hangs on no bound.
        one = 1.0 if self.design.finds_size else None
        reference = self.design.table.measure.bin_edges
        design = self.design.release_design(Found(scale=1.0, size=one, norm=one, edges=reference))
        return Plan(design, (), self.design.delta, self.origin, self.design.missing).diagnose(progress=progress)

    def on(self, data: object, *, start: Any = None, end: Any = None, found: Found | None = None) -> FindPlan | Plan:
        """Return the same plan for other data, such as next month's: same guarantee, other dates.

        Args:
            data: the other data.
            start: when its first period begins; as before if not given.
            end: when its last period ends.
            found: bounds that an earlier release found, ``release.found``. They are public by then: nothing is spent on
                finding, and all of the price goes into the numbers.
        """
        origin, table = self.origin.moved(data, self.design.table, start=start, end=end)
        design = self.design
        if found is None:
            # A reference of all periods means all of the new ones.
            periods = table.horizon if "max_periods" in design.finds else table.max_periods
            return FindPlan(checked_design(replace(design, table=replace(table, max_periods=periods))), origin)
        check_kind("found", found, Found, "release.found of an earlier release")
        bounds = replace(design, table=table).bounded(found)
        limit = None if bounds.max_periods is None else min(bounds.max_periods, bounds.horizon)
        return make_plan(
            replace(bounds, max_periods=limit),
            origin,
            epsilon=design.epsilon,
            delta=design.delta,
            tuned_for=design.tuned_for,
            missing=design.missing,
        )

    def content(self, numbers: Sizes) -> tuple[bytes, ...]:
        """Return what identifies the data. Nobody may see it."""
        return (identity_of(numbers),)

    def _released(self, fulfilled: Fulfilled) -> Release:
        return Release(fulfilled.release, fulfilled.signed, parts=fulfilled.parts)

    def making(self, exact: Sizes, entropy: Entropy, *, key: str, progress: Progress | None) -> Staged:
        """Return the choices and the release that follow from them, which are drawn after the debit."""
        design = self.design

        def release(chosen: Chosen) -> Produce:
            found = found_by(design, chosen)
            plan = Plan(design.release_design(found), (), design.delta, self.origin, design.missing)
            with watched(progress, self._reading) as tell:
                numbers = plan.read(key=key, progress=tell)
            return lambda: (plan.draw(numbers, entropy), plan.certificate_for(seeded=entropy.seeded))

        return Staged(choices_of(design, self.origin, exact, entropy, progress=progress), release)

    def __repr__(self) -> str:
        table = self.design.table
        finds = " and ".join(self.design.finds)
        guarantee = Guarantee(table.claimed, self.design.epsilon, self.design.delta)
        return f"FindPlan({table.measure.label_for(table.unit.called)}, {finds} found; {guarantee})"

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return describe_find(self.design)


def choices_of(
    design: FindDesign, origin: FindingOrigin, sizes: Sizes, entropy: Entropy, *, progress: Progress | None
) -> tuple[Choose, ...]:
    """Return the private choices, each of which is stored before what follows from it is read."""

    def choose_typical(_: Chosen) -> Callable[[], str]:
        return lambda: str(design.edges.pick(sizes, entropy))

    def choose_scale(_: Chosen) -> Callable[[], str]:
        return lambda: "{} {}".format(*design.scale.pick(sizes, entropy))

    def choose_bounds(chosen: Chosen) -> Callable[[], str]:
        joint = design.joint(*map(int, chosen[0].split()))
        with watched(progress, f"Finding bounds in {origin}") as tell:
            losses = origin.losses(joint)
            tell(1.0)
        return lambda: str(joint.pick(losses, entropy))

    return (choose_typical,) if design.finds_edges else (choose_scale, choose_bounds)


def identity_of(sizes: Sizes) -> bytes:
    """Return what identifies the data that bounds are found for. Nobody may see it."""
    return " ".join(map(str, (*sizes.above, sizes.voters))).encode()


def found_by(design: FindDesign, chosen: Chosen) -> Found:
    """Return the bounds that the choices of a design stand for."""
    if design.finds_edges:
        return design.edges.found(int(chosen[0]))
    return design.found(design.joint(*map(int, chosen[0].split())), int(chosen[1]))


def make_find_plan(table: Table, finds: Mapping[str, Find], origin: FindingOrigin, **terms: Unpack[Terms]) -> FindPlan:
    """Return the plan that finds these bounds first."""
    check_epsilon(terms["epsilon"])
    check_delta(terms["delta"])
    check_workload(terms["tuned_for"])
    return FindPlan(design_find(table, finds, **terms), origin)
