"""A plan of quantiles: price and error of ranks before any data is read; and the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from chronodp.engines import Progress
from chronodp.errors import InvalidArgument
from chronodp.ledger import Fulfilled, Written
from chronodp.privacy import Certificate, Guarantee
from chronodp.randomness import Entropy
from chronodp.series.diagnosis import Diagnosis
from chronodp.series.plan import Origin, Plan, Quanta, Terms
from chronodp.series.quantiles.choices import ByChoice, draw_bins
from chronodp.series.quantiles.describe import describe_quantiles
from chronodp.series.quantiles.design import QuantileDesign
from chronodp.series.quantiles.planner import design_quantiles
from chronodp.series.quantiles.release import QuantileRelease, quantile_text
from chronodp.series.table import Table
from chronodp.series.table_plan import TablePlan
from chronodp.series.workloads import EachPeriod, check_workload

if TYPE_CHECKING:
    import pandas

__all__ = ["QuantilePlan", "make_quantile_plan"]


@dataclass(frozen=True, slots=True, repr=False)
class QuantilePlan(TablePlan[Quanta, QuantileRelease]):
    """Quantiles of every period, priced and with their error known; `release` spends.

    Attributes:
        design: everything public about it.
        others: the ways that were weighed and found to err more.
        delta: the delta that was asked for.
    """

    design: QuantileDesign
    others: tuple[QuantileDesign, ...]
    delta: float
    origin: Origin

    @property
    def cells(self) -> int:
        """How many numbers are stored."""
        return self.design.cells

    @property
    def rank_error(self) -> float:
        """How many ranks a quantile is off on average, beyond what its bins cost; where these lie evenly."""
        return self.design.rank_error

    @property
    def alternatives(self) -> pandas.DataFrame:
        """Every way with the error of ranks that is expected of it, the chosen one first."""
        import pandas

        return pandas.DataFrame(self.candidates)

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The alternatives as plain data for JSON."""
        return [
            {
                "way": str(design.way),
                "rank_error": design.rank_error,
                "intervals": not isinstance(design.way, ByChoice),
                "epsilon": design.epsilon,
                "delta": design.delta,
            }
            for design in (self.design, *self.others)
        ]

    def read(self, *, key: str, progress: Progress) -> Quanta:
        """Return exact counts by bin, which nobody may see; ``key`` decides which periods of a person count."""
        return self.origin.numbers(self.design.reading, key=key, progress=progress)[0]

    def draw(self, numbers: Quanta, entropy: Entropy) -> Written:
        """Return the release as it is stored, drawn afresh; whoever calls has debited the cost before."""
        design = self.design
        counts = numbers.reshape(-1, design.bins)
        if isinstance(design.way, ByChoice):
            drawn = draw_bins(design.way, design.quantiles, counts, round(1 / design.step), entropy)
        else:
            drawn = design.way.draw(counts, entropy)
        return quantile_text(design, drawn)

    def certificate_for(self, *, seeded: bool) -> Certificate:
        """Return what a release by this plan is certified by."""
        design, table = self.design, self.design.table
        read = "".join(f"; {part}" for part in (table.computed, table.reading) if part)
        way = design.way
        if isinstance(way, ByChoice):
            theorem = "choices of bounded range (Gaussian, exact)" if design.delta else "permute-and-flip (pure)"
            precision = "utilities in whole numbers, drawn with exactly the stated law"
        else:
            theorem = way.noise.theorem
            precision = (
                f"whole numbers on a grid of {way.noise.step:g}; the noise has exactly the stated law, and what "
                "rounding its shape adds is in the sensitivity"
            )
        return Certificate(
            mechanism=f"{table.released}{read}; {way}",
            claim=self.claim,
            guarantee=Guarantee(table.claimed, design.epsilon, design.delta),
            theorem=theorem,
            precision=precision,
            seeded=seeded,
        )

    def diagnose(self, *, bounds: bool = False, progress: Progress | None = None) -> Diagnosis:
        """Read the data and say how its cells are read. FOR THE OWNER ONLY: the figures are not private."""
        plain = Plan(self.design.reading, (), self.delta, self.origin)
        return plain.diagnose(bounds=bounds, progress=progress)

    def on(self, data: object, *, start: Any = None, end: Any = None) -> QuantilePlan:
        """Return the same plan for other data, such as next month's: same guarantee, other dates."""
        origin, table = self.origin.moved(data, self.design.table, start=start, end=end)
        return make_quantile_plan(
            table, origin, epsilon=self.design.epsilon, delta=self.delta, tuned_for=EachPeriod(), missing=None
        )

    def content(self, numbers: Quanta) -> tuple[bytes, ...]:
        """Return what identifies the data. Nobody may see it."""
        return (numbers.astype("<i8").tobytes(),)

    def _released(self, fulfilled: Fulfilled) -> QuantileRelease:
        return QuantileRelease(fulfilled.release, fulfilled.signed, parts=fulfilled.parts)

    def __repr__(self) -> str:
        table = self.design.table
        guarantee = Guarantee(table.claimed, self.design.epsilon, self.design.delta)
        return f"QuantilePlan({table.released}; {guarantee})"

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return describe_quantiles(self.design)


def make_quantile_plan(table: Table, origin: Origin, **terms: Unpack[Terms]) -> QuantilePlan:
    """Return the plan of quantiles with the least error."""
    if terms["missing"] is not None:
        raise InvalidArgument("missing", "Missing()", "left out for quantiles: what is left out has no rank")
    if table.finds_keys:
        raise InvalidArgument("by", "Discover()", "public keys for quantiles: find keys with a count, use release.keys")
    if table.levels is not None:
        raise InvalidArgument("by", "Places", "keys of one level for quantiles: those of a place do not add up")
    epsilon, delta = terms["epsilon"], terms["delta"]
    best, *others = design_quantiles(table, epsilon=epsilon, delta=delta, tuned_for=check_workload(terms["tuned_for"]))
    return QuantilePlan(best, tuple(others), delta, origin)
