"""Choosing ages and noise from public parameters: for all sequences, for each, by segments, over time."""

from chronodp.correlated.tuning.ages import tune, tune_affine, tune_each
from chronodp.correlated.tuning.choice import Objective, Tuned, certified_leakage
from chronodp.correlated.tuning.freshness import Freshness, freshness, stacked_covariance, stacked_law
from chronodp.correlated.tuning.over_time import share_over_time
from chronodp.correlated.tuning.screening import Screened, screen
from chronodp.correlated.tuning.segments import Segments, segment

__all__ = [
    "Freshness",
    "Objective",
    "Screened",
    "Segments",
    "Tuned",
    "certified_leakage",
    "freshness",
    "screen",
    "segment",
    "share_over_time",
    "stacked_covariance",
    "stacked_law",
    "tune",
    "tune_affine",
    "tune_each",
]
