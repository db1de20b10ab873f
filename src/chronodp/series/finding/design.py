"""A release whose bounds are found first, as it is designed: everything public about it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from chronodp.errors import InvalidArgument
from chronodp.postprocess import deviations
from chronodp.privacy import LATER, Claim, Cost, document
from chronodp.randomness import LARGEST_SCALE, SMALLEST_SCALE
from chronodp.series.design import Design
from chronodp.series.finding.edges import Typical
from chronodp.series.finding.joint import Drawn, Joint, bounded_table, group_candidates, period_candidates
from chronodp.series.finding.scale import Scale
from chronodp.series.found import Find, Found
from chronodp.series.missing import Missing, check_missing
from chronodp.series.planner import check_drawable, check_law, design_release
from chronodp.series.split import Split, split_price
from chronodp.series.table import Table
from chronodp.series.workloads import Workload

__all__ = ["FindDesign", "checked_design", "design_find", "parts_of"]

_PARTS = (0.08, 0.44, 0.48)  # of what finding costs: for the median, the upper end and the bounds
_ARGUMENT = "docs/explanation/proofs/finding.md"
RULE = "1"
"""Which rule finds bounds. A change of grids, caps or parts is a new one, and another plan."""


def parts_of(finds: Container[str]) -> tuple[float, ...]:
    """Return the part that each choice has of what finding costs."""
    return (1.0,) if "edges" in finds else _PARTS


@document("find_design")
@dataclass(frozen=True)
class FindDesign:
    """What is released, and which of its bounds are found.

    Attributes:
        table: at the reference bounds: sizes of 1 where they are found, all periods and groups where these are; edges
            for a typical size of 1, where these are.
        finds: the bounds to find, by the arguments that they are.
        share: the part of the price that finds them.
        between: public ends of the search for a size.
        epsilon: of the guarantee, of everything together.
        delta: of the guarantee.
        tuned_for: what the error is made small for.
        rule: which rule finds bounds.
        missing: the figure of what they take away, if it is asked for.
        priced: what each step costs, where several queries have one price; else it follows from epsilon and delta.
        others: queries with the same price that take what is found, each at its own reference.
    """

    table: Table
    finds: tuple[str, ...]
    share: float
    between: tuple[float, float] | None
    epsilon: float
    delta: float
    tuned_for: Workload
    rule: str = RULE
    missing: Missing | None = field(default=None, metadata=LATER)
    priced: Split | None = field(default=None, metadata=LATER)
    others: tuple[FindDesign, ...] = field(default=(), metadata=LATER)

    @property
    def finds_size(self) -> bool:
        """Whether the largest size is found, or edges."""
        return self.table.measure.size_name in self.finds

    @property
    def finds_edges(self) -> bool:
        """Whether edges of bins are found, and so nothing else: one choice in place of three."""
        return "edges" in self.finds

    @property
    def stages(self) -> int:
        """How many times something chosen is stored before the numbers are read."""
        return 1 if self.finds_edges else 2

    @cached_property
    def split(self) -> Split:
        """The price of each step."""
        if self.priced is not None:
            return self.priced
        figures = () if self.missing is None else self.missing.parts(self.table, self.finds)
        choices = [part * self.share for part in parts_of(self.finds)]
        return split_price(self.epsilon, self.delta, choices=choices, figures=figures)

    @property
    def cost(self) -> Cost:
        """What everything costs, whatever is found."""
        return self.split.cost

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return Claim(self.table.claimed, self.cost, _ARGUMENT)

    @cached_property
    def scale(self) -> Scale:
        """The choice of a median and an upper end."""
        median, tail, _ = self.split.choices
        if self.finds_size:
            return Scale(self.table, self.split.law, median, tail, between=self.between)
        return Scale(self.table, self.split.law, median, tail, reach=self.table.measure.reach)

    @cached_property
    def edges(self) -> Typical:
        """The choice of a typical size, where edges are found."""
        return Typical(self.table, self.split.law, self.split.choices[0], self.between)

    @property
    def votes(self) -> Scale | Typical:
        """The choices that are drawn first, by what voters hold."""
        return self.edges if self.finds_edges else self.scale

    @cached_property
    def noise(self) -> dict[tuple[int, int], Drawn]:
        """What noise does with each candidate number of periods and of groups; those whose noise can be drawn."""
        pairs = itertools.product(period_candidates(self.table, self.finds), group_candidates(self.table, self.finds))
        found: dict[tuple[int, int], Drawn] = {}
        refused: list[InvalidArgument] = []
        for periods, groups in pairs:
            try:
                own, *others = (one.drawn(periods, groups) for one in (self, *self.others))
            except InvalidArgument as error:
                refused.append(error)
            else:
                found[periods, groups] = Drawn(own.error, min(one.largest for one in (own, *others)))
        if not found:
            raise refused[-1]
        return found

    def drawn(self, periods: int, groups: int) -> Drawn:
        """Return what noise does with so many periods and groups; refuse what cannot be drawn whatever the size is."""
        limited = periods if "max_periods" in self.finds else None
        limit = groups if "max_groups" in self.finds else None
        best, *_ = design_release(
            bounded_table(self.table, size=None, max_periods=limited, max_groups=limit),
            epsilon=self.epsilon,
            delta=self.delta,
            tuned_for=self.tuned_for,
            split=self.split,
            missing=self.missing,
        )
        reach = 1.0 if self.finds_size else self.table.measure.reach
        error = best.errors.rmse_mean * self.table.measure.noise_in_all / reach
        if not self.finds_size or self.finds_edges:  # as these will be; bins hang on no edge
            return Drawn(error, math.inf)
        # "What can be drawn" of the proof: counts lie on steps of at most 1, so that their noise outgrows the sampler;
        # all other grids follow the size, up to its place between two powers of two.
        counts = self.table.periods.measure.whole
        for noise in best.noises:
            check_drawable(replace(noise, scale=noise.scale * 2), self.epsilon)
            coarsest = 1.0 if counts else noise.step
            check_drawable(replace(noise, scale=noise.scale / 2, step=coarsest), self.epsilon)
        widest = max(noise.scale for noise in best.noises)
        return Drawn(error, float(math.floor(LARGEST_SCALE / max(1.0, 2 * widest))) if counts else math.inf)

    def joint(self, median: int, upper: int) -> Joint:
        """Return the choice of bounds, given a median and an upper end."""
        between = self.between if self.finds_size else None
        price = self.split.choices[-1]
        return Joint(self.table, self.finds, self.noise, self.split.law, price, median, upper, between)

    @cached_property
    def half_widths(self) -> dict[tuple[int, int], float]:
        """How far noise carries what it is tuned for, at 95 %, by the periods and groups that may be found.

        Where the size is found too, of a size of 1.
        """
        reach = 1.0 if self.finds_size else self.table.measure.reach
        times = deviations(self.split.law, 0.95) * reach
        return {pair: times * drawn.error for pair, drawn in self.noise.items()}

    @cached_property
    def typical(self) -> Joint:
        """The choice of bounds at one scale: their noise hangs on no scale."""
        return self.joint(0, 0)

    def found(self, joint: Joint, place: int) -> Found:
        """Return the bounds at a place of a choice."""
        periods, groups, size = joint.candidates[place]
        if self.table.measure.norm is not None:
            return Found(scale=joint.end, norm=joint.size_of(size))
        return Found(
            scale=joint.end,
            size=joint.size_of(size) if self.finds_size else None,
            max_periods=periods if "max_periods" in self.finds else None,
            max_groups=groups if "max_groups" in self.finds else None,
        )

    def bounded(self, found: Found) -> Table:
        """Return the table with bounds that were found."""
        name = self.table.measure.size_name
        size = found.sized(name)
        if self.finds_size and size is None:
            what = name if self.finds_edges else f"a {name}"
            raise InvalidArgument(
                "found", "other bounds", f"release.found of a release that found {what}, as this plan"
            )
        size = size if self.finds_size else None  # what is declared stays
        return bounded_table(self.table, size=size, max_periods=found.max_periods, max_groups=found.max_groups)

    def release_design(self, found: Found) -> Design:
        """Return the design of the release itself."""
        best, *_ = design_release(
            self.bounded(found),
            epsilon=self.epsilon,
            delta=self.delta,
            tuned_for=self.tuned_for,
            split=self.split,
            missing=self.missing,
        )
        return replace(best, found=found)


def design_find(
    table: Table,
    finds: Mapping[str, Find],
    *,
    epsilon: float,
    delta: float,
    tuned_for: Workload,
    missing: Missing | None = None,
) -> FindDesign:
    """Return the design in which these bounds are found; refuse what cannot be."""
    if table.measure.block is not None:
        allowed = "given for totals, peaks and troughs: find it for the series itself, then use .bounded(release.found)"
        raise InvalidArgument(next(iter(finds)), "Find()", allowed)
    known = () if table.presence is not None else (table.measure.size_name, "max_periods", "max_groups")
    for name in finds:
        if name not in known:
            raise InvalidArgument(name, "Find()", f"a number: it cannot be found for {table.measure}")
    if "edges" in finds and len(finds) > 1:
        other = next(name for name in finds if name != "edges")
        allowed = "a number where edges are found: find it by count() first, then use .bounded(release.found)"
        raise InvalidArgument(other, "Find()", allowed)
    if "max_periods" in finds and not table.unit.whole_person:
        raise InvalidArgument("max_periods", "Find()", f"left out for {table.unit}: no periods of a person are chosen")
    if table.measure.size_name in finds:
        _check_mean(table)
    check_law(table, delta)
    share = max(find.share for find in finds.values())
    between = next((find.between for name, find in finds.items() if name == table.measure.size_name), None)
    if missing is not None:
        check_missing(table, missing)
    return checked_design(FindDesign(table, tuple(finds), share, between, epsilon, delta, tuned_for, missing=missing))


def checked_design(design: FindDesign) -> FindDesign:
    """Return a design all of whose outcomes can be drawn; refuse another, before anything is paid."""
    choices = [design.votes.median]
    if design.finds_edges:
        for one in (design, *design.others):  # the noise of bins hangs on no edge
            _ = one.release_design(Found(scale=1.0, edges=one.table.periods.measure.bin_edges))
    else:
        low, high = design.typical.ends
        if low > high:
            allowed = f"with a smaller first end: noise can be drawn for at most {high:,.0f} rows of one person"
            raise InvalidArgument("between", design.between, allowed)
        choices += [design.scale.tail, design.typical.choice]
    for choice in choices:
        # That of bounds follows a public change, whose place between two powers of two is known at the end only.
        if not 2 * SMALLEST_SCALE <= choice.scale <= LARGEST_SCALE / 2:
            allowed = "such that its part for finding bounds is a choice that can be drawn: neither tiny nor huge"
            raise InvalidArgument("epsilon", design.epsilon, allowed)
    return design


def _check_mean(table: Table) -> None:
    """Refuse a search for a mean's clip whose middle would have to be found too, or that weighs several rows."""
    measure = table.measure
    if measure.ratio and measure.negative:
        allowed = "found from 0 on, as (0, Find()), or a pair of numbers: no step finds the middle of a mean's clip"
        raise InvalidArgument("clip", "Find()", allowed)
    if measure.ratio and measure.row_weight not in (None, 1):
        raise InvalidArgument("at_most", measure.row_weight, "1 or left out where the clip of rows is found")
