"""A plan whose bounds are found, in words: what a data owner reads before anything is spent."""

from __future__ import annotations

from chronodp.accounting import adversary
from chronodp.display import amount
from chronodp.privacy import counted
from chronodp.series.describe import counted_ones, weak
from chronodp.series.finding.design import FindDesign
from chronodp.series.finding.edges import FARTHEST
from chronodp.series.usefulness import needed
from chronodp.series.voters import voters_of

__all__ = ["describe_find"]

_FEW_PERIODS = 7


def describe_find(design: FindDesign) -> list[tuple[str, str]]:
    """Return the plan as labelled sentences."""
    table = design.table
    words = table.measure.open_words if design.finds_size else table.measure.words
    groups = (
        ""
        if not table.groupings
        else f"; {counted(table.groups, 'group')} by {', '.join(g.column for g in table.groupings)}"
    )
    return [
        ("Releases", f"{words(table.unit.called)}; {table.calendar}{groups}"),
        ("Protects", f"{table.claimed}: {table.unit.protects}"),
        ("Does not protect", table.unit.does_not_protect),
        ("Finds", _finds(design)),
        ("Needs", _needs(design)),
        *([] if table.reading is None else [("Read", str(table.reading))]),
        *([("Rows", table.computed)] if table.computed else []),
        ("Error", _error(design)),
        *_useful(design),
        *([] if design.missing is None else [("Missing", str(design.missing))]),
        ("Price", _price(design)),
        *weak(design.epsilon, design.delta, (1 + adversary.total_variation(design.epsilon, design.delta)) / 2),
    ]


def _finds(design: FindDesign) -> str:
    joint = design.typical
    names = " and ".join(design.finds)
    if design.finds_edges:
        most = "" if design.between is None else f" or beyond {design.between[1]:g}"
        below = "" if design.table.measure.bin_edges[0] < 0 else " or below 0"
        return (
            f"{100 * design.share:.3g} % of the budget picks a typical size of a value among "
            f"{len(design.edges.first):,}, and edges are a public shape about it: values beyond "
            f"{FARTHEST:,g} times it{most}{below} are left out; "
            "which edges these are is published with the release"
        )
    return (
        f"{100 * design.share:.3g} % of the budget picks {names}, of {len(joint.candidates):,} candidates, by what "
        "each would remove and its noise; what is picked is published with the release"
    )


def _needs(design: FindDesign) -> str:
    table = design.table
    few = (
        ""
        if table.horizon >= _FEW_PERIODS or design.finds_edges
        else "; few periods: a bound that is publicly known errs less"
    )
    who = table.unit.called or "people" if voters_of(table).whole_person else "periods of people"
    instead = ", or Find(between=(least, most)) with ends that are publicly known"
    what = "edges" if design.finds_edges else "bounds"
    shorter = "" if design.between or not design.finds_size else instead
    return f"about {design.votes.needed:,} {who} or more{shorter}: with fewer the {what} may be far off{few}"


def _error(design: FindDesign) -> str:
    """Return the noise at a few bounds, in sizes: which of them it will be is not known before."""
    joint = design.typical
    shown = sorted({joint.periods[0], joint.periods[len(joint.periods) // 2], joint.periods[-1]})
    what = "size" if design.table.measure.norm is None else "bound"
    unit = f" times the {what} found" if design.finds_size and not design.finds_edges else ""
    where = "bins" if design.table.measure.bin_edges else "periods"
    # Of a mean, noise hangs on how many are present.
    by, present = (
        (1_000, ", with 1,000 present") if design.table.measure.ratio else (design.table.measure.divisor or 1, "")
    )
    widest = dict(sorted(design.half_widths))  # the most groups of each number of periods
    widths = [f"± {amount(design.half_widths[periods, widest[periods]] / by)}{unit}" for periods in shown]
    if len(shown) == 1:
        return f"{widths[0]}{present} in 95 of 100 {where}, noise only"
    listed = ", ".join(
        f"{width} if {counted(periods, 'period')} count{'s' if periods == 1 else ''}"
        for width, periods in zip(widths, shown, strict=True)
    )
    return f"{listed}{present}, in 95 of 100 {where}, noise only"


def _useful(design: FindDesign) -> list[tuple[str, str]]:
    """Return how large a number must be where most is kept of a person, the widest noise that may come out."""
    if design.table.measure.ratio or design.finds_size or design.finds_edges:
        return []  # in sizes that are not known yet
    measure, joint = design.table.measure, design.typical
    width = design.half_widths[max(design.half_widths)] / (measure.divisor or 1)  # of the most periods and groups
    told = needed(width, who=counted_ones(design.table))
    return [("Useful", f"{told}, if {counted(joint.periods[-1], 'period')} count; less if fewer")]


def _price(design: FindDesign) -> str:
    price = f"(ε, δ) = ({design.epsilon:g}, {design.delta:g})" if design.delta else f"ε = {design.epsilon:g}"
    return f"{price} for finding and releasing together: one debit, the same whatever is found"
