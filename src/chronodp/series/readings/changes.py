"""The change against a baseline: which ratio it is, and its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from chronodp.series.readings.baselines import Baseline, Match, baseline_rows
from chronodp.series.readings.made import LinearReading, Made, RatioReading
from chronodp.series.readings.medians import MedianReading
from chronodp.series.readings.steps import check_word

__all__ = ["Changed", "changed"]


@dataclass(frozen=True, slots=True, eq=False)
class Changed:
    """A change against a baseline.

    Attributes:
        made: the ratio.
        words: what it is.
        against: what it is compared with, in words.
        label: of its axis.
    """

    made: Made
    words: str
    against: str
    label: str


def changed(
    made: LinearReading,
    baseline: Baseline,
    match: Match,
    *,
    statistic: Literal["mean", "median"],
    scale: Literal["percent", "index"],
) -> Changed:
    """Return each row over the mean or median of the baseline's rows."""
    check_word("statistic", statistic, ("mean", "median"))
    check_word("scale", scale, ("percent", "index"))
    weeks, which = baseline_rows(made.rows, baseline, match)
    within = (0.0, np.inf) if made.nonnegative else None
    offset = -100.0 if scale == "percent" else 0.0
    found: Made
    if statistic == "mean":
        used = [kind for kind, rows in enumerate(weeks) if len(rows)]
        below = made.linear.averaged([weeks[kind] for kind in used]).rows(np.searchsorted(used, which))
        found = RatioReading(made.rows, made.columns, made.linear, below, within, 100.0, offset)
    else:
        found = MedianReading(made, made, weeks, which, within, 100.0, offset)
    against = f"the {statistic} of {baseline[0]} to {baseline[1]}{', weekday by weekday' if match else ''}"
    if scale == "percent":
        return Changed(found, "change in percent", against, "% change")
    return Changed(found, "index", against, "index, baseline = 100")
