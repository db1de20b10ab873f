"""What a fleet's reports say: frequencies or means for each slot, with intervals, changes and trends.

Everything here is computed from reports, so it costs nothing more. Intervals cover the noise of the answers, and
the choice of devices where only a random part of them reports; they are normal ones, right from about a thousand
reports a slot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.local.longitudinal import Memoised
from chronodp.local.mechanism import NumberMechanism
from chronodp.local.numbers import Number
from chronodp.local.plan import LocalPlan
from chronodp.local.report_counts import ReportCounts
from chronodp.local.simplex import project_rows
from chronodp.privacy import check_fraction, check_kind, check_listed, check_whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Estimates", "best_window", "estimate"]

Floats = NDArray[np.float64]
_MEANS = ("mean",)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates for each slot (rows) and value (columns; one for means), with their deviations.

    Attributes:
        slots: the number of each slot.
        labels: the value that each column counts; ("mean",) for means.
        values: unbiased estimates; NaN where nobody reported.
        deviations: standard deviations of their errors, infinite where nobody reported.
        reports: how many reports each slot has.
        kept: whether devices keep answers over slots, so that errors of slots go together. Kept answers of devices with
            more values than the protocol keeps lean towards even shares, which no deviation tells.
        whole: whether the columns are all values that there are, whose frequencies add up to 1.
    """

    slots: NDArray[np.int64]
    labels: tuple[Any, ...]
    values: Floats
    deviations: Floats
    reports: NDArray[np.int64]
    kept: bool
    whole: bool

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return lower and upper ends that hold each true number with the given probability."""
        reach = NormalDist().inv_cdf(0.5 + check_fraction("level", level) / 2) * self.deviations
        with np.errstate(invalid="ignore"):
            lower, upper = self.values - reach, self.values + reach
        empty = np.isnan(self.values)
        return np.where(empty, -np.inf, lower), np.where(empty, np.inf, upper)

    def changes(self, lag: int = 1) -> Estimates:
        """Return how much each slot differs from the one ``lag`` slots before.

        Where devices keep answers, errors of two slots partly cancel; the deviations given are then too large, never
        too small.
        """
        check_whole("lag", lag, most=max(len(self.slots) - 1, 1))
        return replace(
            self,
            slots=self.slots[lag:],
            values=self.values[lag:] - self.values[:-lag],
            deviations=np.hypot(self.deviations[lag:], self.deviations[:-lag]),
            reports=np.minimum(self.reports[lag:], self.reports[:-lag]),
        )

    def smoothed(self, window: int) -> Estimates:
        """Return means over ``window`` slots around each, weighted by how much each slot knows.

        The deviations are those of the noise; what a mean over time takes off peaks is bias, and not in them. Errors of
        slots are independent if answers are fresh; if they are kept, deviations assume that they go together.
        """
        check_whole("window", window)
        if window % 2 == 0:
            raise InvalidArgument("window", window, "an odd number, so that it has a middle")
        values, deviations = np.full_like(self.values, np.nan), np.full_like(self.deviations, np.inf)
        for place in range(len(self.slots)):
            near = slice(max(place - window // 2, 0), place + window // 2 + 1)
            known = np.isfinite(self.deviations[near])
            weights = np.where(known, 1.0, 0.0) * self.reports[near, None]
            total = weights.sum(axis=0)
            if not total.all():
                continue
            weights = weights / total
            values[place] = (weights * np.where(known, self.values[near], 0.0)).sum(axis=0)
            spread = weights * np.where(known, self.deviations[near], 0.0)
            deviations[place] = spread.sum(axis=0) if self.kept else np.sqrt((spread**2).sum(axis=0))
        return replace(self, values=values, deviations=deviations)

    def projected(self) -> Estimates:
        """Return the nearest frequencies that are at least 0 and add up to 1.

        Nearer to the truth in all, but no longer unbiased: intervals around them keep their width, not their coverage.
        """
        if not self.whole:
            raise InvalidArgument("estimates", "means or some values only", "frequencies of all values that there are")
        return replace(self, values=project_rows(self.values))

    def to_pandas(self, *, level: float = 0.95) -> pd.DataFrame:
        """Return a long table: slot, label, value, lower, upper, reports."""
        import pandas as pd

        lower, upper = self.interval(level)
        wide = len(self.labels)
        columns: dict[str, Any] = {
            "slot": np.repeat(self.slots, wide),
            "label": list(self.labels) * len(self.slots),
            "value": self.values.ravel(),
            "lower": lower.ravel(),
            "upper": upper.ravel(),
            "reports": np.repeat(self.reports, wide),
        }
        return pd.DataFrame(columns)


def estimate(plan: LocalPlan, tally: ReportCounts, *, labels: tuple[Any, ...] | None = None) -> Estimates:
    """Return frequencies or means for each slot of a tally.

    >>> from chronodp.local import Collector, LocalPlan, RandomizedResponse, Slots, simulate
    >>> from chronodp.randomness import seeded
    >>> plan = LocalPlan("colour", RandomizedResponse(epsilon=2.0, choices=3), Slots(horizon=4, reports=1))
    >>> collector = Collector(plan)
    >>> collector.add(simulate(plan, np.full((40_000, 4), 2), entropy=seeded(1)))
    >>> made = estimate(plan, collector.tally)
    >>> np.abs(made.values).round(1).tolist()[0], bool(np.all(made.deviations < 0.02))
    ([0.0, 0.0, 1.0], True)
    """
    check_kind("plan", plan, LocalPlan, "a LocalPlan")
    check_kind("tally", tally, ReportCounts, "a ReportCounts")
    if labels is not None:
        check_listed("labels", labels, object, "a name for each value")
    if tally.plan != plan.digest:
        raise InvalidArgument("tally", tally.plan, f"of this plan, {plan.digest}")
    slots = tally.first + np.arange(len(tally.reports))
    if isinstance(plan.mechanism, NumberMechanism):
        values, deviations = _means(plan, tally)
        names: tuple[Any, ...] = _MEANS
    else:
        values, deviations = _frequencies(plan, tally)
        names = tuple(tally.counted.tolist()) if labels is None else labels
    if len(names) != values.shape[1]:
        raise InvalidArgument("labels", names, f"{values.shape[1]} of them")
    kept = isinstance(plan.protocol, Memoised)
    whole = not isinstance(plan.mechanism, NumberMechanism) and values.shape[1] == plan.mechanism.choices
    return Estimates(slots, names, values, deviations, tally.reports, kept, whole)


def best_window(estimates: Estimates, *, most: int = 31) -> int:
    """Return the odd window up to ``most`` with the least expected squared error of `Estimates.smoothed`.

    The noise is known, so the error can be estimated without knowing the truth: the mean squared distance to the
    unsmoothed values, plus twice the covariance of both, less the noise (Stein 1981). With kept answers the covariance
    is not known, and no smoothing is advised.
    """
    check_whole("most", most)
    if check_kind("estimates", estimates, Estimates, "Estimates").kept:
        return 1
    noise = estimates.deviations**2
    known = np.isfinite(noise)
    best, least = 1, float(noise[known].mean()) if known.any() else math.inf
    for window in range(3, min(most, 2 * len(estimates.slots)) + 1, 2):
        smooth = estimates.smoothed(window)
        own = np.empty_like(noise)
        for place in range(len(own)):
            near = slice(max(place - window // 2, 0), place + window // 2 + 1)
            own[place] = estimates.reports[place] / max(int(estimates.reports[near].sum()), 1)
        risk = (smooth.values - estimates.values) ** 2 + (2 * own - 1) * noise
        found = float(risk[known].mean()) if known.any() else math.inf
        if found < least:
            best, least = window, found
    return best


def _frequencies(plan: LocalPlan, tally: ReportCounts) -> tuple[Floats, Floats]:
    law, counts = plan.law, tally.reports[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = law.frequencies(tally.sums, counts)
        plausible = np.clip(values, 0.0, 1.0)
        variance = law.sampled_variance if plan.sampled else law.variance
        deviations = np.sqrt(variance(plausible, counts))
    return values, np.where(counts > 0, deviations, np.inf)


def _means(plan: LocalPlan, tally: ReportCounts) -> tuple[Floats, Floats]:
    mechanism = plan.mechanism
    if not isinstance(mechanism, Number):
        raise AssertionError("means are of numbers")
    counts = tally.reports.astype(np.float64)
    lower, upper = mechanism.clip
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        means = tally.sums[:, 0] / counts
        distance = np.clip(means - middle, -half, half) ** 2
        squares = tally.sums[:, 1] / counts
        if plan.sampled:
            variance = np.maximum(squares - (means - middle) ** 2, mechanism.variance(middle))
        else:
            variance = _noise(mechanism, distance, squares, half, middle)
        deviations = np.sqrt(variance / counts)
    return means[:, None], np.where(counts > 0, deviations, np.inf)[:, None]


def _noise(mechanism: Number, distance: Floats, squares: Floats, half: float, middle: float) -> Floats:
    """The mean variance of the answers' noise, A + B m, where m is the mean squared distance of values to the middle.

    Noise and values together have mean square A + (1 + B) m, from which m is read; where B is negative, the noise is
    largest at the least m there can be, the squared distance of the mean.
    """
    least = mechanism.variance(middle)
    growth = (mechanism.variance(mechanism.clip[1]) - least) / half**2
    if growth <= 0:
        return np.maximum(least + growth * distance, 0.0)
    spread = np.clip((squares - least) / (1 + growth), distance, half**2)
    made: Floats = least + growth * spread
    return made
