"""A plan of quantiles in words."""

from __future__ import annotations

from scipy.special import ndtr

from chronodp.accounting import adversary, gaussian
from chronodp.privacy import counted
from chronodp.series.describe import guesses, unit_reach, weak
from chronodp.series.quantiles.choices import ByChoice
from chronodp.series.quantiles.design import QuantileDesign

__all__ = ["describe_quantiles", "rank_words"]


def describe_quantiles(design: QuantileDesign) -> list[tuple[str, str]]:
    """Return the plan as labelled sentences."""
    table = design.table
    when = str(table.calendar) if table.calendar is not None else counted(table.horizon, "period")
    columns = ", ".join(one.column for one in table.groupings)
    groups = f"; {counted(table.groups, 'group')} by {columns}" if columns else ""
    return [
        ("Releases", f"{table.released}; {when}{groups}"),
        ("Protects", f"{table.claimed}: {table.unit.protects}"),
        ("Does not protect", table.unit.does_not_protect),
        ("One unit", unit_reach(table)),
        *([] if table.where is None else [("Rows", f"where {table.where}")]),
        *([] if table.columns is None else [("Columns", "; ".join(map(str, table.columns)))]),
        *([] if table.reading is None else [("Read", str(table.reading))]),
        ("Way", str(design.way)),
        ("Error", f"about {design.rank_error:.3g} ranks on average, beyond the width of bins; {rank_words(design)}"),
        *_too_few(design),
        ("Price", _price(design)),
        ("Adversary", guesses(_right(design))),
        *weak(design.epsilon, design.delta, _right(design)),
    ]


def rank_words(design: QuantileDesign, level: float = 0.95) -> str:
    """Return what is known of every value's error in words."""
    way = design.way
    if not isinstance(way, ByChoice):
        return f"intervals of edges cover noise in {100 * level:g} of 100 cases"
    # All of a cell keep to their bounds together: putting them in order makes the farthest no farther.
    each = 1 - (1 - level) / len(design.quantiles)
    most = max(way.shortfall(q, design.bins, each) for q in design.quantiles)
    away = f"{most:,.4g} {_who(design)} away from the true quantile"
    return f"in {100 * level:g} of 100 cases the bin shown is at most {away}"


def _who(design: QuantileDesign) -> str:
    return "people" if design.table.measure.row_weight is None else "rows"


def _too_few(design: QuantileDesign) -> list[tuple[str, str]]:
    """Say how many people a cell needs before it shows anything."""
    way, who = design.way, _who(design)
    if not isinstance(way, ByChoice):
        return []
    needed = ", ".join(f"{way.needed(q, design.bins):,} {who} for quantile {q:g}" for q in design.quantiles[:_SHOWN])
    more = ", …" if len(design.quantiles) > _SHOWN else ""
    return [
        (
            "Too few",
            f"half of the draws show a bin from about {needed}{more}; with fewer more of them say 'too few', with "
            "nobody at least 95 of 100 do",
        )
    ]


_SHOWN = 9


def _price(design: QuantileDesign) -> str:
    if design.delta:
        return f"(ε, δ) = ({design.epsilon:g}, {design.delta:g}) for this release; only a budget stops repetitions"
    return f"ε = {design.epsilon:g} for this release; only a budget stops repetitions"


def _right(design: QuantileDesign) -> float:
    right = (1 + adversary.total_variation(design.epsilon, design.delta)) / 2
    if design.delta:
        right = min(right, float(ndtr(gaussian.mu(design.cost) / 2)))
    return right
