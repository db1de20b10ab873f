"""What is read from a release: smoothing by what is surely true or supposed, tiers that add up. All of it is free."""

from chronodp.estimation.columns import Track
from chronodp.estimation.consistency import Tier, add_up
from chronodp.estimation.constraints import clip_at_zero, clipping_bias, project, round_whole
from chronodp.estimation.isotonic import grow, tighten_band
from chronodp.estimation.kalman import kalman_filter, kalman_smoother
from chronodp.estimation.likelihood import likeliest, log_likelihood
from chronodp.estimation.motion import Motion, Trend, Walk
from chronodp.estimation.rehearsal import rehearse
from chronodp.estimation.smoothing import Growing, Method, NonNegative, Smoothed, smooth
from chronodp.estimation.viewing import smooth_view

__all__ = [
    "Growing",
    "Method",
    "Motion",
    "NonNegative",
    "Smoothed",
    "Tier",
    "Track",
    "Trend",
    "Walk",
    "add_up",
    "clip_at_zero",
    "clipping_bias",
    "grow",
    "kalman_filter",
    "kalman_smoother",
    "likeliest",
    "log_likelihood",
    "project",
    "rehearse",
    "round_whole",
    "smooth",
    "smooth_view",
    "tighten_band",
]
