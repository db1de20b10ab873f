"""Quantiles by the error of their ranks: bins that are drawn, or a histogram with noise shaped along values."""

from chronodp.series.quantiles.choices import ByChoice, bin_utilities, choice_of, draw_bins, few_allowance
from chronodp.series.quantiles.describe import describe_quantiles
from chronodp.series.quantiles.design import QuantileDesign
from chronodp.series.quantiles.moves import rank_change
from chronodp.series.quantiles.opening import open_release
from chronodp.series.quantiles.plan import QuantilePlan, make_quantile_plan
from chronodp.series.quantiles.release import QuantileRelease

__all__ = [
    "ByChoice",
    "QuantileDesign",
    "QuantilePlan",
    "QuantileRelease",
    "bin_utilities",
    "choice_of",
    "describe_quantiles",
    "draw_bins",
    "few_allowance",
    "make_quantile_plan",
    "open_release",
    "rank_change",
]
