"""The planner: computes the error of every candidate from public numbers, and takes the least.

*Which law* of ``docs/explanation/proofs/release.md``: every choice here uses public numbers only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import Sensitivity, check_delta, check_epsilon, periods_held
from chronodp.series.design import Design
from chronodp.series.missing import Missing, design_missing
from chronodp.series.noise import Noise, calibrated
from chronodp.series.place_noise import measured_levels, place_noises
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.buffered_table import buffers_near
from chronodp.series.shapes.candidates import shape_candidates
from chronodp.series.shapes.differenced import Differenced
from chronodp.series.shapes.toeplitz import Banded, SquareRoot, White
from chronodp.series.shapes.tree import Tree
from chronodp.series.shaping import LONGEST_FILTER, ReleasedShape, rounding_bound
from chronodp.series.split import Split
from chronodp.series.table import Table
from chronodp.series.workloads import EachPeriod, Hierarchy, RunningTotal, Workload

__all__ = ["check_drawable", "check_law", "design_release"]

_MOST_FILTERED = 2**20  # cells up to which shapes without a recursion are quick


def design_release(
    table: Table,
    *,
    epsilon: float,
    delta: float,
    tuned_for: Workload,
    split: Split | None = None,
    missing: Missing | None = None,
) -> tuple[Design, ...]:
    """Return every way to release a table within (epsilon, delta), the one with the least error first.

    Where other private steps are paid too, ``split`` says which law noise has and what is left for it.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    if table.measure.block is not None and not isinstance(tuned_for, EachPeriod):
        allowed = f"EachPeriod() for a {table.measure.block.statistic} of blocks; tune the series itself for sums of it"
        raise InvalidArgument("tuned_for", str(tuned_for), allowed)
    if table.measure.asked_quantiles:
        allowed = "asked by series.quantiles(...), alone or by plan_together: no noise of other plans is shaped for it"
        raise InvalidArgument("measure", str(table.measure), allowed)
    if table.presence is not None and isinstance(tuned_for, RunningTotal | Hierarchy):
        allowed = "EachPeriod(), or a mean of periods such as Rolling(7): sums of rolling counts say nothing"
        raise InvalidArgument("tuned_for", str(tuned_for), allowed)
    check_law(table, delta)
    _ = table.scales  # refuses clips of other keys than those that split the answer
    if table.levels is not None and split is not None:
        raise InvalidArgument("places", "beside a private step", "used alone: find bounds or keys in another release")
    laws: tuple[Law, ...] = ("laplace", "gaussian") if delta else ("laplace",)
    if table.measure.norm is not None:
        laws = ("gaussian",)
    within = None
    if split is not None:
        laws, within = (split.law,), split.noise
    designs: list[Design] = []
    refused: list[InvalidArgument] = []
    for way, law in itertools.product(table.ways, laws):
        for shape in _release_shapes(way, law, tuned_for):
            try:
                noises = _noises(way, law, shape, epsilon, delta, within)
            except InvalidArgument as error:
                refused.append(error)
            else:
                spent = delta if law == "gaussian" else _lone(split)
                figure = None
                if missing is not None:
                    figure = design_missing(way, missing, split, way.measure.row_step(noises[0].step))
                measured = None if way.levels is None else measured_levels(way, law)
                designs.append(
                    Design(
                        way, noises, epsilon, spent, tuned_for, shape, split=split, missing=figure, measured=measured
                    )
                )
    if not designs:
        raise refused[-1]
    return tuple(sorted(designs, key=lambda design: design.errors.rmse_mean))


def check_law(table: Table, delta: float) -> None:
    """Refuse a pure budget where a person's whole series is bounded by its l2 norm."""
    if table.measure.norm is not None and not delta:
        raise InvalidArgument("delta", delta, "above 0 with bound=Norm(...), an l2 norm: Laplace noise hides sums (l1)")


def _release_shapes(table: Table, law: Law, tuned_for: Workload) -> Iterator[ReleasedShape]:
    """Yield the shapes of noise that a table may be released with, white noise among them."""
    if table.measure.block is not None or table.measure.norm is not None:
        yield White()  # of a whole series scaled, the length seen through another shape is not bounded
        return
    if table.presence is not None:
        yield from _presence_shapes(table, law)
        return
    part = table.contributions()[0]
    candidates = shape_candidates(
        tuned_for, unit=table.protected, bounds=table.bounds, contribution=part, law=law, opposite=table.opposite(part)
    )
    short = _is_short(table)
    for candidate in candidates:
        shape = candidate.shape
        if isinstance(shape, White | BufferedLinear) or (isinstance(shape, SquareRoot | Banded) and short):
            yield shape
        elif isinstance(shape, Tree) and not table.measure.ratio:
            yield shape  # a mean needs the same few terms in its sum and its count, for its interval


def _presence_shapes(table: Table, law: Law) -> Iterator[ReleasedShape]:
    if table.measure.presence is None or table.measure.presence.max_stays is None:
        yield White()  # whoever stays all the time moves every number, however few stays count
    if law == "laplace" or table.horizon == 1:
        return  # l1 adds up whole columns: filters never pay
    if _is_short(table):
        yield Differenced(SquareRoot(RunningTotal()))
    for shape in buffers_near(table.horizon, 1).values():
        yield Differenced(shape)


def _is_short(table: Table) -> bool:
    return table.horizon <= LONGEST_FILTER and table.horizon * table.places <= _MOST_FILTERED


def _noises(
    table: Table, law: Law, shape: ReleasedShape, epsilon: float, delta: float, within: float | None
) -> tuple[Noise, ...]:
    if table.levels is not None:
        return place_noises(table, law, shape, epsilon=epsilon, delta=delta, within=within)
    scales = calibrated(law, table.sensitivities(shape), epsilon=epsilon, delta=delta, within=within)
    noises = tuple(_on_grid(table, law, index, *scale) for index, scale in enumerate(scales))
    for noise in noises:
        check_drawable(noise, epsilon)
    if isinstance(shape, White | Tree) and not table.measure.finished:
        return noises
    # Finished totals are rounded to the grid, which may add one step to what a unit changes; and so is shaped noise.
    exact = table.sensitivities(shape, rounding=noises[0].step)
    widened = [
        Sensitivity(part.l1, part.l2 + _rounded(table, shape, noise)) for part, noise in zip(exact, noises, strict=True)
    ]
    scales = calibrated(law, widened, epsilon=epsilon, delta=delta, within=within)
    return tuple(
        replace(noise, sensitivity=sensitivity, scale=scale)
        for noise, (sensitivity, scale) in zip(noises, scales, strict=True)
    )


def check_drawable(noise: Noise, epsilon: float) -> None:
    """Refuse noise that the sampler cannot draw."""
    if noise.drawable:
        return
    if noise.scale > noise.step:
        allowed = f"larger: noise of scale {noise.scale:.3g} would drown what one person can add"
        raise InvalidArgument("epsilon", epsilon, allowed)
    raise InvalidArgument("epsilon", epsilon, f"smaller: noise of scale {noise.scale:.3g} protects nobody")


def _lone(split: Split | None) -> float:
    """Return the delta of a guarantee whose noise needs none: that of keys that are found, if any are."""
    return 0.0 if split is None or split.keys is None else split.keys.delta


def _rounded(table: Table, shape: ReleasedShape, noise: Noise) -> float:
    """Return what rounding shaped noise can add to the l2 sensitivity: 2 E in each period of every series touched."""
    # E is taken for draws twice as wide, since the scale is yet to grow by what E adds. A unit that moves leaves so
    # many series and enters as many.
    bound = rounding_bound(shape, table.horizon, 2 * noise.scale / noise.step)
    if table.presence is not None:
        touched = table.presence.places
    else:
        touched = min(table.places, 2 * periods_held(table.unit, table.bounds) * table.places_touched)
    return 2 * bound * noise.step * math.sqrt(table.horizon * touched)


def _on_grid(table: Table, law: Law, index: int, sensitivity: float, scale: float) -> Noise:
    # A total of a block holds a person as often as it has periods.
    times = 1 if table.measure.block is None else int(table.blocks.lengths.max())
    return table.periods.measure.on_grid(law, index, sensitivity, scale, times=times)
