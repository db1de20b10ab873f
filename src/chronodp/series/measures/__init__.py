"""What is released of each period: a count, sum, mean, variance, histogram or peak, or totals that others bounded.

One file a family; each measure knows what one unit can do to the numbers it is made of, their grid, how they are read
out, and its words.
"""

from chronodp.series.measures.active import Active
from chronodp.series.measures.asking import Argument, Asking
from chronodp.series.measures.base import Clip, Floats, Measure, Statistic
from chronodp.series.measures.blocks import Blocks
from chronodp.series.measures.counts import Count
from chronodp.series.measures.group_clips import GroupClips
from chronodp.series.measures.histograms import MOST_BINS, Histogram, RowHistogram
from chronodp.series.measures.quantiles import MOST_QUANTILES, Quantiles, RowQuantiles, quantiles_of
from chronodp.series.measures.rows import RowMean
from chronodp.series.measures.scaled import ScaledSum
from chronodp.series.measures.sums import Mean, PanelMean, Sum
from chronodp.series.measures.totals import Total
from chronodp.series.measures.variance import Variance

__all__ = [
    "MOST_BINS",
    "MOST_QUANTILES",
    "Active",
    "Argument",
    "Asking",
    "Blocks",
    "Clip",
    "Count",
    "Floats",
    "GroupClips",
    "Histogram",
    "Mean",
    "Measure",
    "PanelMean",
    "Quantiles",
    "RowHistogram",
    "RowMean",
    "RowQuantiles",
    "ScaledSum",
    "Statistic",
    "Sum",
    "Total",
    "Variance",
    "quantiles_of",
]
