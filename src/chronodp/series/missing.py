"""What bounding took away: a private figure beside a release, and intervals that cover the numbers without bounds.

"What bounding takes away" in ``docs/explanation/proofs/finding.md``: the figure, its two caps, what no figure can show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Estimates, Law, quantiles
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
    "check_missing",
    "design_missing",
    "everyone",
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
    """Asks for a private figure of what bounds took away, from a part of the price.

    Args:
        share: the part of the price.
        assume: 'even loss', that what is missing is spread over periods and groups like what is kept: then every period
            gets an interval for the number without bounds. None for the mean over all periods only, which needs no
            assumption.

    >>> Missing(share=0.1, assume=None)
    Missing(share=0.1, assume=None)
    """

    share: float = 0.05
    assume: Assumed | None = EVEN

    def __post_init__(self) -> None:
        if not check_fraction("share", self.share) <= _LARGEST_SHARE:
            raise InvalidArgument("share", self.share, f"a part of the price above 0 and at most {_LARGEST_SHARE}")
        if self.assume is not None and not (isinstance(self.assume, str) and self.assume == EVEN):
            raise InvalidArgument("assume", self.assume, f"{EVEN!r}, or None for the mean over all periods alone")

    def __str__(self) -> str:
        about = f"assuming {self.assume}" if self.assume else "on average over all periods"
        return f"{100 * self.share:.3g} % of the price releases what bounds took away, {about}"

    def parts(self, table: Table, *, found: bool = False) -> tuple[float, ...]:
        """Return the parts of the whole price: for the figure, and for how many reach beyond it, if any can.

        Where the size is found, rows are counted, whatever size it will be: the price must not hang on it.
        """
        if counts_people(table) and not found:
            return (self.share,)
        return (1 - _PEOPLE_PART) * self.share, _PEOPLE_PART * self.share


@document("missing_design")
@dataclass(frozen=True)
class MissingDesign:
    """The figure as it is designed.

    Attributes:
        assume: what is assumed of periods.
        top: up to which size a cell is seen.
        cap: the most that one voter counts, over all periods.
        lost: noise of the figure, which is over all periods and groups.
        beyond: noise of how many voters reach beyond ``top`` or ``cap``; None where none can.
    """

    assume: Assumed | None
    top: float
    cap: float
    lost: Noise
    beyond: Noise | None

    def draw(self, exact: NDArray[np.int64], entropy: Entropy) -> list[int]:
        """Return the figure with fresh noise, in steps: what is lost, and how many reach beyond."""
        noises = [self.lost, *([] if self.beyond is None else [self.beyond])]
        return [int(number + noise.draws(entropy)((1, 1))[0, 0]) for number, noise in zip(exact, noises, strict=False)]


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


def counts_people(table: Table) -> bool:
    """Return whether each voter counts once a period at most, so that none can reach beyond."""
    return table.measure.whole and table.measure.reach == 1 and not table.single_rows


def design_missing(table: Table, missing: Missing, split: Split, row_step: float) -> MissingDesign:
    """Return the figure for a table with its bounds, given the steps in which its rows are added up."""
    voters, bound = voters_of(table), table.measure.reach
    # By what was paid for, and not by the bound: where that was found to be 1, rows are missing all the same.
    people = len(split.figures) == 1
    top = bound if people else _COARSE * bound
    # A series of length r sums up to at most √T r over T periods.
    times = table.horizon if table.measure.norm is None else math.sqrt(table.horizon)
    own = (bound if people else _OWN * bound) * (times if voters.whole_person else 1)
    # One unit: its voters come or go, each with at most the cap on either side of 0; or they are altered, from one end
    # to the other. A column may hold numbers below 0 whatever its clip is; only counts never do.
    moved = voters.held * own * (2 if voters.altered and not table.measure.whole else 1)
    lost = _noise(split.law, moved, split.figures[0], least_step=row_step)
    beyond = None if people else _noise(split.law, float(voters.held), split.figures[1], least_step=1.0)
    return MissingDesign(missing.assume, top, own, lost, beyond)


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
    """What bounding took away, as it was released. Of every period's number, all groups together.

    Attributes:
        value: the mean over all periods of what is missing.
        lower: the lower end of its interval.
        upper: the upper end of its interval.
        level: of the interval.
        people_beyond: at most so many, at the same level, hold more than the figure can see: what they have beyond is
            in no interval. 0 where nobody can.
        assume: what is assumed of single periods; None if nothing is, and only means over all periods are covered.
    """

    value: float
    lower: float
    upper: float
    level: float
    people_beyond: int
    assume: Assumed | None

    @classmethod
    def read(cls, design: MissingDesign, released: list[int], *, horizon: int, level: float) -> MissingFigure:
        """Return the figure from released steps."""
        lost = design.lost
        value = released[0] * lost.step / horizon
        half = float(quantiles(lost.law, [1.0], level)[0]) * lost.scale / horizon
        beyond = 0
        if design.beyond is not None:
            # One-sided: that the true count lies higher has at most half of what two sides would miss.
            one_sided = float(quantiles(design.beyond.law, [1.0], 2 * level - 1)[0]) if level > 0.5 else 0.0
            beyond = max(0, math.floor(released[1] * design.beyond.step + one_sided * design.beyond.scale))
        return cls(value, value - half, value + half, level, beyond, design.assume)

    def __str__(self) -> str:
        text = f"bounds took away {self.value:.4g} a period on average, {self.lower:.4g} to {self.upper:.4g}"
        if self.people_beyond:
            text += f"; at most {self.people_beyond:,} reach further, and what they have beyond is in no interval"
        return text


def everyone(
    noise: Estimates, figure: MissingFigure, *, mean: float, mean_half: float, choice: float, signed: bool
) -> Estimates:
    """Return estimates of the numbers without bounds, assuming even loss.

    With ρ = missing / kept, each estimate is raised by the factor 1 + ρ, and so is its noise; the figure's own noise
    enters in proportion; and which periods of a person were kept adds at most ``choice`` times the number in variance.

    Args:
        noise: estimates of what was kept, with their intervals.
        figure: what is missing.
        mean: the mean over all periods of what was kept, all groups together.
        mean_half: the half-width of the interval of that mean.
        choice: the largest size of a cell where a choice of periods or groups was made, else 0.
        signed: whether numbers may be below 0.
    """
    # Where hardly anything was kept the ratio would be of noise: its denominator is then what noise could be.
    kept = max(abs(mean), mean_half)
    ratio = figure.value / math.copysign(kept, mean)
    raised = 1 + (ratio if signed else max(0.0, ratio))
    normal = float(quantiles("gaussian", [1.0], figure.level)[0])
    half = (noise.upper - noise.lower) / 2 * raised
    own = (figure.upper - figure.lower) / 2 * noise.value / kept
    chosen = normal**2 * choice * np.maximum(noise.value, 0.0) * raised**2
    value = noise.value * raised
    width = np.sqrt(half**2 + own**2 + chosen)
    return Estimates(value, value - width, value + width)
