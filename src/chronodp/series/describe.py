"""A plan in words: what a data owner reads before anything is spent."""

from __future__ import annotations

import math
from functools import lru_cache

from scipy.special import ndtr

from chronodp.accounting import adversary, gaussian
from chronodp.display import amount
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law, deviations, quantiles
from chronodp.privacy import counted, periods_held
from chronodp.series.design import Design
from chronodp.series.missing import MissingDesign
from chronodp.series.shapes.toeplitz import White
from chronodp.series.table import Table
from chronodp.series.usefulness import Expected
from chronodp.series.workloads import EachPeriod, RunningTotal

__all__ = ["counted_ones", "describe", "every_of", "guesses", "half_width", "unit_reach", "useful", "weak"]

_YEAR = 365.25 * 86_400_000_000
_LEAP = 0.05  # of a year: one of 365 or 366 days is a whole one
_UNSAID = Expected()
_SURE = 0.99  # a guess that is right more often is as good as knowing
_LARGE_DELTA = 1e-3
_LAWS = {"laplace": "Laplace", "gaussian": "Gaussian"}


def half_width(design: Design, level: float) -> float:
    """Return how far noise carries what a design is tuned for (of ratios: their sum) at worst, at a level."""
    noise, workload = design.noises[0], design.tuned_for
    alone = isinstance(workload, EachPeriod | RunningTotal) and design.measured is None
    if alone or noise.law == "gaussian":
        return _reach(noise.law, (design.errors.rmse_max / noise.deviation) ** 2, level) * noise.scale
    return deviations("laplace", level) * design.errors.rmse_max


@lru_cache(maxsize=256)  # the same for every price
def _reach(law: Law, terms: float, level: float) -> float:
    return float(quantiles(law, [terms], level)[0])


def describe(design: Design, delta: float, expected: Expected = _UNSAID) -> list[tuple[str, str]]:
    """Return the plan as labelled sentences."""
    table = design.table
    when = str(table.calendar) if table.calendar is not None else counted(table.horizon, "period")
    groups = (
        ""
        if not table.groupings
        else f"; {counted(table.groups, 'group')} by {', '.join(g.column for g in table.groupings)}"
    )
    return [
        ("Releases", f"{table.released}; {when}{groups}"),
        ("Protects", f"{table.claimed}: {_protects(design)}"),
        ("Does not protect", table.unit.does_not_protect),
        *_reaches(design),
        *([] if table.where is None else [("Rows", f"where {table.where}")]),
        *([] if table.columns is None else [("Columns", "; ".join(map(str, table.columns)))]),
        *_made(table),
        *([] if table.reading is None else [("Read", str(table.reading))]),
        ("Noise", _noise(design)),
        ("Error", _error(design)),
        *useful(design, expected),
        *_places(design),
        *([] if design.missing is None else [("Missing", _missing(design.missing))]),
        ("Price", _price(design, delta)),
        ("Adversary", guesses(_right(design))),
        *weak(design.epsilon, design.delta, _right(design)),
    ]


def every_of(table: Table) -> str:
    """Return how long the periods of a table that has dates are."""
    if table.calendar is None:
        raise AssertionError("asked where periods have dates only")
    return table.calendar.every


def _protects(design: Design) -> str:
    table, life = design.table, design.life
    return table.unit.protects if life is None else life.protects(table.unit.called or "person")


def _reaches(design: Design) -> list[tuple[str, str]]:
    """Where one unit counts and how far it moves the numbers: of an issue, in all issues together."""
    table, life = design.table, design.life
    if life is None:
        return [("One unit", unit_reach(table))]
    every, who = every_of(table), table.unit.called or "person"
    norm = "l2" if design.law == "gaussian" else "l1"
    kinds = zip(table.measure.kinds, design.noises, strict=True)
    sizes = [f"{f'the {kind} ' if len(design.noises) > 1 else ''}by {noise.sensitivity:g}" for kind, noise in kinds]
    return [
        ("One unit", f"{life.limit(every, who)}; all issues together move {' and '.join(sizes)} ({norm})"),
        ("Takes", life.price(every)),
        ("Counted", life.counted(every, who)),
        ("Ids", life.told_apart(who)),
    ]


def unit_reach(table: Table) -> str:
    """Return where one unit counts and how far it moves the numbers, in words."""
    kinds = zip(table.measure.kinds, table.sensitivities(), strict=True)
    parts = [(f"the {kind} " if len(table.measure.kinds) > 1 else "", size) for kind, size in kinds]
    sizes = "; ".join(f"{which}all in all by {amount(size.l1)} (l1), {amount(size.l2)} (l2)" for which, size in parts)
    if table.levels is not None:
        named = zip(table.levels.names, table.level_sensitivities(White()), strict=True)
        sizes = "; ".join(f"{name} all in all by {size.l1:g} (l1), {size.l2:g} (l2)" for name, size in named)
    moved = "each" if table.measure.ratio else f"each by at most {_amount(table)}"
    if table.measure.clips is not None:
        sizes += ", with the numbers of every group stretched to the widest clip"
    groups, cut = (f" in {table.max_groups} of {table.groups} groups" if table.groups > 1 else ""), ""
    if table.finds_keys:
        groups = f" in {counted(table.max_groups, 'group')} of each"
    if groups and table.max_groups < table.groups:
        cut = "; what one has in further groups of a period is left out: max_groups lets more count"
    block = table.measure.block
    if block is not None:
        return f"{unit_reach(table.periods).partition(';')[0]}; the {block.statistic}s {sizes}"
    if table.presence is not None:
        return _presence(table)
    if table.measure.norm is not None:
        who = table.unit.called or "person"
        periods = f"{'all ' if table.horizon > 1 else ''}{counted(table.horizon, 'period')}"
        return f"one {who} counts in {periods}{_everywhere(table)}; {sizes}"
    where = table.unit.reach(periods_held(table.unit, table.bounds), horizon=table.horizon)
    return f"{where}; {sizes}" if table.unit.of_rows else f"{where}{groups}, {moved}; {sizes}{cut}"


def _amount(table: Table) -> str:
    """How far one unit moves one number."""
    return f"{table.measure.reach:g}" if table.measure.clips is None else "its group's clip"


def _presence(table: Table) -> str:
    """Where one unit is present: what is cut of a person, and how many numbers one unit moves."""
    who, size = table.unit.called or "person", table.sensitivities()[0]
    if not table.unit.whole_person:
        where = f"one {who}'s part of the data moves who is present in runs of periods"
    elif table.cap:
        where = f"one {who} counts in at most {table.cap}"
    else:
        where = f"one {who} counts wherever present: nobody is cut"
    numbers = f"at most {round(size.l1):,} of {table.horizon * table.places:,} numbers move, each by 1"
    return f"{where}; {numbers}; l2 {size.l2:g} without a shape"


def _everywhere(table: Table) -> str:
    return f" and {table.groups:,} groups" if table.groups > 1 else ""


def _missing(figure: MissingDesign) -> str:
    if not figure.noises:
        return "nothing can be: these limits remove nothing, and no part of the price is spent on it"
    about = f"assuming {figure.assume}" if figure.assume else "on average over all periods"
    return f"what the limits removed of cells up to {figure.top:g} is released too, {about}"


def _made(table: Table) -> list[tuple[str, str]]:
    return [(table.measure.noun.capitalize(), table.measure.note)] if table.measure.note else []


def _noise(design: Design) -> str:
    if design.measured is not None:
        return _place_noise(design, design.measured)
    scales = [f"{'σ' if noise.law == 'gaussian' else 'scale'} {amount(noise.scale)}" for noise in design.noises]
    shape = "independent" if isinstance(design.shape, White) else f"shaped ({design.shape}),"
    if len(scales) == 1:
        return f"{shape} {_LAWS[design.law]}, {scales[0]} on every number{_by_clip(design)}"
    *others, last = (f"{scale} on the {kind}" for scale, kind in zip(scales, design.table.measure.kinds, strict=True))
    return f"{shape} {_LAWS[design.law]}, {', '.join(others)} and {last} of every period{_by_clip(design)}"


def _by_clip(design: Design) -> str:
    """How noise goes with clips, in words; empty where groups have one clip."""
    if design.table.scales is None:
        return ""
    least = min(design.table.scales) * design.noises[0].scale
    what = "" if len(design.noises) == 1 else f"of the {design.table.measure.kinds[0]} "
    return f" with the widest clip; that {what}is less in groups with a smaller one, in proportion, down to {least:.6g}"


def _place_noise(design: Design, measured: tuple[int, ...]) -> str:
    levels = design.table.levels
    if levels is None:
        raise AssertionError("asked of places only")
    mark = "σ" if design.law == "gaussian" else "scale"
    named = zip(measured, design.noises, strict=True)
    parts = [f"{mark} {noise.scale:.6g} on every {levels.names[level]}" for level, noise in named]
    shape = "independent" if isinstance(design.shape, White) else f"shaped ({design.shape}),"
    return f"{shape} {_LAWS[design.law]}, {', '.join(reversed(parts))}"


def _places(design: Design) -> list[tuple[str, str]]:
    levels, covariance = design.table.levels, design.place_covariance
    if levels is None or covariance is None:
        return []
    errors = (
        f"{name} ± {amount(deviations(design.law, 0.95) * math.sqrt(float(of.mean())))}"
        for name, of in zip(levels.names, covariance.variances, strict=True)
    )
    added = "one place is the sum of those under it, to the last digit"
    return [("Places", f"{levels}; {added}; 95 of 100 single periods: {', '.join(errors)}")]


def _error(design: Design) -> str:
    width = half_width(design, 0.95)
    what = "" if isinstance(design.tuned_for, EachPeriod) else f" for {design.tuned_for}, at worst"
    if design.life is not None:
        said = "noise only: whoever has used up their life is not in the number"
        return f"{design.table.measure.error(width)}{what}; {said}"
    measure = design.table.measure
    if measure.clips is not None:
        what += "; with the widest clip, and less in other groups in proportion to theirs"
    return f"{measure.error(width)}{what}; noise only{'' if measure.finished else ', not what the limits removed'}"


def _price(design: Design, delta: float) -> str:
    price = f"({design.epsilon:g}, {design.delta:g})" if design.delta else f"{design.epsilon:g}"
    if design.life is not None:
        said = f"{'(ε, δ)' if design.delta else 'ε'} = {price} for all issues together, the same for ever"
        return f"{said}; paid when the series was opened, and this issue costs nothing further"
    text = f"ε = {price} for this release" if not design.delta else f"(ε, δ) = {price} for this release"
    calendar = design.table.calendar
    if calendar is not None:
        span = int(calendar.edges[-1] - calendar.edges[0])
        times = max(2, math.ceil(_YEAR / span - _LEAP))
        many = f"a year of {times:,}" if span < _YEAR * (1 - _LEAP) else "two"
        found = None if design.split is None else design.split.keys
        if found is not None and times * found.delta >= delta:
            text += f"; {many} such releases take a δ of {times * found.delta:.2g} for finding keys alone"
            text += ", keys of an earlier release take none"
        else:
            text += f"; ε = {design.epsilon_of(times, delta):.3g}" + (f" at δ = {delta:g}" if delta else "")
            who = design.table.unit.called or "people"
            text += f" for {many} such releases about the same {who}"
    return text + "; the price grows with every release, and a budget sets its limit"


def _right(design: Design) -> float:
    """Return how often the best guess whether one unit is in the data is right."""
    if design.law == "gaussian":
        return float(ndtr(gaussian.mu(design.cost) / 2))  # exact: telling N(0, 1) from N(mu, 1)
    return (1 + adversary.total_variation(design.epsilon, design.delta)) / 2


def guesses(right: float) -> str:
    """Return what an adversary gains, in words."""
    return f"a guess whether the unit is in the data is right at most {right:.1%} of the time, instead of 50 %"


def weak(epsilon: float, delta: float, right: float) -> list[tuple[str, str]]:
    """Return a warning where a promise is worth little: by how often a guess is right, or by its delta."""
    if right < _SURE and delta <= _LARGE_DELTA:
        return []
    if delta > _LARGE_DELTA:
        what = f"δ = {delta:g} may give everything of one unit away with a probability of {delta:.1%}"
        mend = "choose a δ far below 1 / the number of people, such as 1e-6"
    else:
        what, mend = f"ε = {epsilon:g} hardly hides anybody", "at ε = 1 it is right 73.1% of the time"
    told = f"{what}: a guess whether the unit is in the data may be right {right:.1%} of the time; {mend}"
    return [("Warning", told)]


def counted_ones(table: Table) -> str:
    """Return who is counted once in a cell, such as people; empty where rows or amounts are added up."""
    once = table.measure.whole and table.measure.reach == 1 and table.measure.row_weight is None
    who = "of them" if table.unit.called else "people"  # a unit is called by one word for one of it
    return who if once and not table.single_rows else ""


def useful(design: Design, expected: Expected = _UNSAID) -> list[tuple[str, str]]:
    """Return whether the numbers will be worth reading; nothing of ratios and places, whose errors say it already."""
    measure = design.table.measure
    if measure.ratio or design.measured is not None or measure.clips is not None:
        if expected.sizes:
            raise InvalidArgument("expect", "a size", f"left out for {measure}: its error says how many it takes")
        return []
    per = measure.divisor or 1
    return [("Useful", expected.words(half_width(design, 0.95) / per, who=counted_ones(design.table)))]
