"""Every way to tell quantiles within a price, the one with the least error of ranks first.

All errors are computed from public numbers: edges, quantiles, unit and price.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import Sensitivity, check_delta, check_epsilon
from chronodp.selection import ExponentialMechanism, PermuteAndFlip
from chronodp.series.noise import Noise, calibrated
from chronodp.series.quantiles.block_sums import BlockSums
from chronodp.series.quantiles.choices import ByChoice
from chronodp.series.quantiles.design import QuantileDesign
from chronodp.series.quantiles.histograms import Along, ByHistogram
from chronodp.series.quantiles.moves import Moves, moves_of
from chronodp.series.shapes.toeplitz import SquareRoot, White
from chronodp.series.shaping import LONGEST_FILTER, rounding_bound
from chronodp.series.split import choice_price
from chronodp.series.table import Table
from chronodp.series.workloads import EachPeriod, RunningTotal, Workload

__all__ = ["design_quantiles"]

_TALLEST = 6  # levels of blocks that are worth a look


def design_quantiles(table: Table, *, epsilon: float, delta: float, tuned_for: Workload) -> tuple[QuantileDesign, ...]:
    """Return every way to tell a table's quantiles within (epsilon, delta), the one with the least error first."""
    check_epsilon(epsilon)
    check_delta(delta)
    if not isinstance(tuned_for, EachPeriod):
        allowed = "EachPeriod() for quantiles: of longer periods ask with a longer `every`"
        raise InvalidArgument("tuned_for", str(tuned_for), allowed)
    laws: tuple[Law, ...] = ("laplace", "gaussian") if delta else ("laplace",)
    moves, found, refused = moves_of(table), list[QuantileDesign](), list[InvalidArgument]()
    for law in laws:
        spent = delta if law == "gaussian" else 0.0
        for shape in (None, *_shapes(table.measure.bins, law)):
            try:
                if shape is None:
                    way: ByChoice | ByHistogram = _choices(table, moves, epsilon, spent)
                else:
                    way = ByHistogram(shape, _noise(table, law, shape, moves, epsilon, spent))
            except InvalidArgument as error:
                refused.append(error)
            else:
                found.append(QuantileDesign(table, epsilon, spent, way))
    if not found:
        raise refused[-1]
    return tuple(sorted(found, key=lambda design: design.rank_error))


def _choices(table: Table, moves: Moves, epsilon: float, delta: float) -> ByChoice:
    """Return the drawn bins: permute-and-flip in a pure price, which it uses best; else what has a bounded range."""
    # Where the old and the new share every choice that they move, no utility moves by more than one of their weights.
    in_place = moves.steps == 2 and moves.stays
    weight = moves.weight * (1 if in_place else moves.steps)
    moved = moves.steps * moves.groups
    return ByChoice(
        ExponentialMechanism() if delta else PermuteAndFlip(),
        choice_price(epsilon, delta, moves.periods * len(table.measure.asked_quantiles)),
        moves.periods,
        weight,
        max(1, min(weight, moved) if moves.of_people else moved),
        in_place,
    )


def _shapes(bins: int, law: Law) -> Iterator[Along]:
    yield White()
    if law == "gaussian":
        if 1 < bins <= LONGEST_FILTER:
            yield SquareRoot(RunningTotal())
        return
    for height in range(2, _TALLEST + 1):
        branches = max(2, math.ceil(bins ** (1 / height)))
        while branches > 2 and (branches - 1) ** height >= bins:  # the root of a whole number may be rounded up
            branches -= 1
        shape = BlockSums(branches)
        if shape.levels(bins) == height:
            yield shape


def _noise(table: Table, law: Law, shape: Along, moves: Moves, epsilon: float, delta: float) -> Noise:
    exact = _seen(table, shape, moves)
    (sensitivity, scale), *_ = calibrated(law, [exact], epsilon=epsilon, delta=delta)
    noise = table.measure.on_grid(law, 0, sensitivity, scale, times=1)
    if not noise.drawable:
        allowed = "larger: noise would drown what one person can add, or smaller: it protects nobody"
        raise InvalidArgument("epsilon", epsilon, allowed)
    if not isinstance(shape, SquareRoot):
        return noise
    # Rounding shaped noise moves what C takes from earlier bins by E, for draws twice as wide: the scale grows yet.
    bound = rounding_bound(shape, table.measure.bins, 2 * noise.scale / noise.step)
    rounded = 2 * bound * noise.step * math.sqrt(table.measure.bins * moves.cells(table))
    wider = [Sensitivity(exact.l1, exact.l2 + rounded)]
    (sensitivity, scale), *_ = calibrated(law, wider, epsilon=epsilon, delta=delta)
    return replace(noise, sensitivity=sensitivity, scale=scale)


def _seen(table: Table, shape: Along, moves: Moves) -> Sensitivity:
    """Return how far one unit moves counts, seen through a shape along bins."""
    plain = table.sensitivities()[0]
    match shape:
        case White():
            return plain
        case SquareRoot():
            return Sensitivity(plain.l1, moves.through(shape, table.measure.bins))
        case BlockSums():  # one block of every level holds a bin
            return Sensitivity(plain.l1 * shape.levels(table.measure.bins), plain.l2)
