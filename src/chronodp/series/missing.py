"""What limits removed: a private figure beside a release, and bands for the numbers without limits.

"What bounding takes away" in ``docs/explanation/proofs/finding.md``: the figure, its two caps, what no figure can show,
and what single periods have only where an even loss is assumed.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Estimates, Law, deviations, quadratic_sets, quantiles
from chronodp.privacy import check_fraction, document
from chronodp.randomness import LARGEST_SCALE, SMALLEST_SCALE, Entropy
from chronodp.series.noise import Noise, with_grid
from chronodp.series.split import Split
from chronodp.series.table import Table
from chronodp.series.voters import voters_of

__all__ = [
    "EVEN",
    "Assumed",
    "Missing",
    "MissingDesign",
    "MissingFigure",
    "Unlimited",
    "check_missing",
    "design_missing",
    "if_even",
]

Assumed: TypeAlias = Literal["even loss"]
EVEN: Assumed = "even loss"

_LARGEST_SHARE = 0.5
_COARSE = 16.0  # how far beyond the bound a cell is still seen
_OWN = 2.0  # how many bounds a person's missing mean may come to
_FINEST_STEPS = 2.0**7  # of a figure's grid in its sensitivity
_PEOPLE_PART = 0.2  # of the figure's price: who reaches beyond the caps is counted


@document("missing")
@dataclass(frozen=True, slots=True)
class Missing:
    """Asks for a private figure of what limits removed, from a part of the price.

    Args:
        share: the part of the price; none is taken where limits can remove nothing.
        assume: 'even loss', that what is missing is spread over periods and groups like what is kept: then every period
            gets a band for the number without limits if that is so, in columns named `_if_even`. None for what is
            missing on average over all periods, which needs no assumption and says nothing of single ones.

    >>> Missing(share=0.1)
    Missing(share=0.1, assume=None)
    """

    share: float = 0.05
    assume: Assumed | None = None

    def __post_init__(self) -> None:
        if not check_fraction("share", self.share) <= _LARGEST_SHARE:
            raise InvalidArgument("share", self.share, f"a part of the price above 0 and at most {_LARGEST_SHARE}")
        if self.assume is not None and not (isinstance(self.assume, str) and self.assume == EVEN):
            raise InvalidArgument("assume", self.assume, f"{EVEN!r}, or None for the mean over all periods alone")

    def __str__(self) -> str:
        about = f"assuming {self.assume}" if self.assume else "on average over all periods"
        return f"{100 * self.share:.3g} % of the price releases what the limits removed, {about}"

    def parts(self, table: Table, finds: Collection[str] = ()) -> tuple[float, ...]:
        """Return the parts of the whole price: for the figure, and for how many reach beyond it, if any can.

        Where the size is found, rows are counted, whatever size it will be, and where a limit is found the figure is
        paid for, whichever limit it will be: the price must not hang on it.
        """
        if not counts_once(table) or table.measure.size_name in finds:
            return (1 - _PEOPLE_PART) * self.share, _PEOPLE_PART * self.share
        return (self.share,) if finds or removable_cells(table) else ()


@document("missing_design")
@dataclass(frozen=True)
class MissingDesign:
    """The figure as it is designed.

    Attributes:
        assume: what is assumed of periods.
        top: up to which size a cell is seen.
        cap: the most that one voter counts, over all periods.
        noises: of the figure, which is over all periods and groups, and of how many voters reach beyond ``top`` or
            ``cap``. Without the second nobody can; without either nothing can be missing.
    """

    assume: Assumed | None
    top: float
    cap: float
    noises: tuple[Noise, ...]

    def draw(self, exact: NDArray[np.int64], entropy: Entropy) -> list[int]:
        """Return the figure with fresh noise, in steps: what is lost, and how many reach beyond."""
        return [
            int(number + noise.draws(entropy)((1, 1))[0, 0]) for number, noise in zip(exact, self.noises, strict=True)
        ]


def check_missing(table: Table, missing: object) -> Missing:
    """Return ``missing`` if the figure can be made for a table."""
    if not isinstance(missing, Missing):
        raise InvalidArgument("missing", missing, "Missing(...), or left out")
    measure = table.measure
    if measure.size_name in ("", "edges") or measure.block is not None or measure.averages:
        raise InvalidArgument("missing", str(measure), "left out: the figure is for counts and sums of periods")
    if measure.clips is not None:
        allowed = "left out where groups have clips of their own: the figure is of all groups together, in one unit"
        raise InvalidArgument("missing", "Missing()", allowed)
    return missing


def counts_once(table: Table) -> bool:
    """Return whether each cell is 0 or 1 for everybody, before bounding and after: a count of people, or single rows.

    Then only limits of periods and of groups remove anything, and nobody reaches beyond what they can.
    """
    return table.measure.whole and table.measure.reach == 1


def removable_cells(table: Table) -> int:
    """Return how many cells of one voter limits of periods and of groups can remove at most, over all its periods.

    A voter with all groups in every period is the worst: one more cell never gives a limit less to remove.
    """
    unlimited = table.unit.of_rows or table.measure.norm is not None
    kept = table.groups if unlimited else min(table.max_groups, table.groups)
    if not voters_of(table).whole_person or table.measure.norm is not None:
        return table.groups - kept
    periods = table.horizon if table.max_periods is None else min(table.max_periods, table.horizon)
    return table.horizon * table.groups - periods * kept


def design_missing(table: Table, missing: Missing, split: Split | None, row_step: float) -> MissingDesign:
    """Return the figure for a table with its bounds, given the steps in which its rows are added up."""
    voters, bound, figures = voters_of(table), table.measure.reach, () if split is None else split.figures
    cells = removable_cells(table)
    # By what was paid for, and not by the bound: where that was found to be 1, rows are missing all the same.
    once = len(figures) < 2
    if split is None or (once and not cells):
        return MissingDesign(missing.assume, bound, 0.0, ())
    periods = table.horizon if voters.whole_person else 1
    if once:
        top, cap = bound, bound * cells
    elif table.measure.norm is None:
        top, cap = _COARSE * bound, _OWN * bound * max(periods, cells)
    else:  # a series of length r sums up to at most √n r over n cells
        top, cap = _COARSE * bound, _OWN * bound * math.sqrt(periods * table.groups)
    # One unit: its voters come or go, each with at most the cap on either side of 0; or they are altered, from one end
    # to the other. A column may hold numbers below 0 whatever its clip is; only counts never do.
    moved = voters.held * cap * (2 if voters.altered and not table.measure.whole else 1)
    lost = _noise(split.law, moved, figures[0], least_step=row_step)
    beyond = [_noise(split.law, float(voters.held), price, least_step=1.0) for price in figures[1:]]
    return MissingDesign(missing.assume, top, cap, (lost, *beyond))


def _noise(law: Law, sensitivity: float, price: float, *, least_step: float) -> Noise:
    """Return noise of one number, on a grid at least as coarse as that of the number."""
    noise = with_grid(law, sensitivity, sensitivity / price, reach=sensitivity, width=sensitivity, whole=False)
    step = max(noise.step, least_step)
    # Rounding down to the grid keeps two numbers within as many steps as reach over their distance.
    exact = math.ceil(sensitivity / step) * step
    # Whatever the bounds are: the grid follows the sensitivity up to its place between two powers of two.
    if not _FINEST_STEPS / LARGEST_SCALE <= price <= 1 / SMALLEST_SCALE:
        allowed = "such that its noise can be drawn: with another share or epsilon"
        raise InvalidArgument("missing", f"a figure at {price:.3g} of the price", allowed)
    return replace(noise, sensitivity=exact, scale=exact / price * (1 + 1e-12), step=step)


@dataclass(frozen=True, slots=True)
class MissingFigure:
    """What limits removed, as it was released. Of every period's number, all groups together.

    Attributes:
        value: the mean over all periods of what is missing.
        lower: the lower end of its interval.
        upper: the upper end of its interval.
        level: of the interval.
        people_beyond: at most so many, at the same level, hold more than the figure can see: what they have beyond is
            in no interval. 0 where nobody can.
        assume: what is assumed of single periods; None if nothing is, and only means over all periods are covered.
        deviation: of the noise of ``value``; 0 where limits can remove nothing, and nothing is uncertain.
    """

    value: float
    lower: float
    upper: float
    level: float
    people_beyond: int
    assume: Assumed | None
    deviation: float

    @classmethod
    def read(
        cls, design: MissingDesign, released: list[int], *, horizon: int, level: float, least: float = -math.inf
    ) -> MissingFigure:
        """Return the figure from released steps; ``least`` is what cannot be undercut: 0 of counts."""
        if not design.noises:
            return cls(0.0, 0.0, 0.0, level, 0, design.assume, 0.0)
        lost, *others = design.noises
        # It was rounded down to a step, and its noise to the nearest: half a step up, and one to either side.
        value = (released[0] + 0.5) * lost.step / horizon
        half = (float(quantiles(lost.law, [1.0], level)[0]) * lost.scale + lost.step) / horizon
        beyond = 0
        for noise, number in zip(others, released[1:], strict=True):
            # One-sided: that the true count lies higher has at most half of what two sides would miss.
            one_sided = float(quantiles(noise.law, [1.0], 2 * level - 1)[0]) if level > 0.5 else 0.0
            beyond = max(0, math.floor(number * noise.step + one_sided * noise.scale))
        spread = (lost.deviation + lost.step) / horizon
        lower, upper = max(least, value - half), max(least, value + half)
        return cls(value, lower, upper, level, beyond, design.assume, spread)

    @property
    def nothing(self) -> bool:
        """Whether limits can remove nothing, whatever the data are: then nothing is uncertain but noise."""
        return not self.deviation

    def share_of(self, kept: float) -> str:
        """Return what part is missing on average, in words, given the mean over all periods of what was kept."""
        if kept + self.upper <= 0:
            return "an unknown part"
        if self.lower <= 0:
            return f"at most {100 * max(0.0, self.upper) / (max(0.0, kept) + self.upper):.2g} %"
        return f"{100 * self.value / (max(0.0, kept) + self.value):.2g} %"

    def __str__(self) -> str:
        if self.nothing:
            return "The limits can remove nothing"
        text = f"The limits removed between {_rounded(self.lower)} and {_rounded(self.upper)} a period on average"
        if self.people_beyond:
            text += f". Up to {self.people_beyond:,} had more than the figure can see; that is in no interval"
        return text


def _rounded(number: float) -> str:
    """Return a number for reading: to four digits, without an exponent where it is large."""
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


@dataclass(frozen=True, slots=True)
class Unlimited:
    """The numbers without any limit, as far as they can be told, and the names of their columns.

    Attributes:
        estimates: values with their bands; NaN where nothing is told of single periods.
        suffix: 'all', for what needs no assumption; 'if_even', for what holds if the loss is even.
    """

    estimates: Estimates
    suffix: Literal["all", "if_even"]

    @property
    def columns(self) -> dict[str, NDArray[np.float64]]:
        """The columns by their names."""
        return {f"{name}_{self.suffix}": getattr(self.estimates, name) for name in ("value", "lower", "upper")}

    @property
    def apart(self) -> bool:
        """Whether they are other numbers than those within limits, and there are any."""
        return self.suffix == "if_even" and not bool(np.all(np.isnan(self.estimates.value)))


def if_even(
    noise: Estimates, figure: MissingFigure, *, mean: float, spread: float, law: Law, choice: float, signed: bool
) -> Estimates:
    """Return estimates of the numbers without limits, if the loss is even; NaN where what was kept may be nothing.

    With ρ = missing / kept each number is 1 + ρ times what is kept of it. ρ is one of Fieller's set, of two means with
    noise of their own; a product of two uncertain factors has the roots of the sums of squares of both distances
    (MOVER); and which periods and groups of a person were kept adds at most ``choice`` · number · min(ρ, 1) in
    variance. "Even loss" in ``docs/explanation/proofs/finding.md``.

    Args:
        noise: estimates of what was kept, with their intervals.
        figure: what is missing.
        mean: the mean over all periods of what was kept, all groups together.
        spread: the deviation of the noise of that mean.
        law: of the noise.
        choice: the largest size of a cell where a choice of periods or groups was made, else 0.
        signed: whether numbers may be below 0.
    """
    found = quadratic_sets(
        figure.value,
        mean,
        aa=figure.deviation**2,
        ab=0.0,
        bb=spread**2,
        multiplier=deviations(law, figure.level),
        within=(-math.inf if signed else 0.0, math.inf),
    )
    if str(found.kind) not in ("interval", "empty"):
        nothing = np.full_like(noise.value, np.nan)
        return Estimates(nothing, nothing, nothing)
    least, most = float(found.lower), float(found.upper)
    ratio = min(max(figure.value / mean, least), most)
    below, above, raised = ratio - least, most - ratio, 1 + ratio
    # Quantiles of unlike laws do not add as roots of squares, deviations do: of these any sum of draws has at most as
    # many as `deviations` says, and a band of one law has at least the fewest that a sum of its draws can.
    normal = float(quantiles("gaussian", [1.0], figure.level)[0])
    fewest = min(normal, float(quantiles(law, [1.0], figure.level)[0]) / (math.sqrt(2) if law == "laplace" else 1.0))
    half = (noise.upper - noise.lower) / 2 * deviations(law, figure.level) / fewest
    size, positive = np.abs(noise.value), noise.value >= 0
    chosen = normal**2 * choice * np.maximum(noise.value, 0.0) * min(max(most, 0.0), 1.0) * raised**2
    # The noise of a number is a part of that of the mean kept, and draws ρ the other way; only where a number and the
    # mean have different signs does it draw the same way, and distances add up.
    together = noise.value * mean * ratio * raised < 0

    def reach(of_ratio: NDArray[np.float64]) -> NDArray[np.float64]:
        own, both = size * of_ratio, 2 * np.abs(raised) * half * size * of_ratio
        squares = (raised * half) ** 2 + own**2 + (half * max(below, above)) ** 2 + chosen
        squares += np.where(together, both, 0.0)
        return np.asarray(np.sqrt(squares))

    value = noise.value * raised
    lower = value - reach(np.where(positive, below, above))
    return Estimates(value, lower, value + reach(np.where(positive, above, below)))
