"""Quantiles by the error of their ranks: edges that are drawn, or a histogram with noise shaped along values."""

from chronodp.series.quantiles.choices import ByChoice, choice_of, draw_places, edge_utilities
from chronodp.series.quantiles.describe import describe_quantiles
from chronodp.series.quantiles.design import QuantileDesign
from chronodp.series.quantiles.moves import rank_change
from chronodp.series.quantiles.opening import open_release
from chronodp.series.quantiles.order import Step, steps_of
from chronodp.series.quantiles.plan import QuantilePlan, make_quantile_plan
from chronodp.series.quantiles.release import QuantileRelease

__all__ = [
    "ByChoice",
    "QuantileDesign",
    "QuantilePlan",
    "QuantileRelease",
    "Step",
    "choice_of",
    "describe_quantiles",
    "draw_places",
    "edge_utilities",
    "make_quantile_plan",
    "open_release",
    "rank_change",
    "steps_of",
]
