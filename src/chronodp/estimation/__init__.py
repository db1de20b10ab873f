"""What is read from a release for free: smoothing by what is surely true or supposed, tiers that add up.

Two folders release something themselves: `state_space`, the state of a system from noisy measurements, and `spectrum`.
"""

from chronodp.estimation import spectrum, state_space
from chronodp.estimation.columns import Track
from chronodp.estimation.consistency import Tier, add_up
from chronodp.estimation.constraints import clip_at_zero, clipping_bias, project, round_whole
from chronodp.estimation.isotonic import grow, tighten_band
from chronodp.estimation.kalman import kalman_filter, kalman_smoother
from chronodp.estimation.likelihood import likeliest, log_likelihood
from chronodp.estimation.motion import Motion, Trend, Walk
from chronodp.estimation.moving_average import (
    AverageError,
    NoiseOnAverages,
    NoiseOnReadings,
    Placement,
    average_error,
    compare_averages,
    plot_averages,
)
from chronodp.estimation.rehearsal import rehearse
from chronodp.estimation.smoothing import Growing, Method, NonNegative, Smoothed, smooth
from chronodp.estimation.viewing import smooth_view

__all__ = [
    "AverageError",
    "Growing",
    "Method",
    "Motion",
    "NoiseOnAverages",
    "NoiseOnReadings",
    "NonNegative",
    "Placement",
    "Smoothed",
    "Tier",
    "Track",
    "Trend",
    "Walk",
    "add_up",
    "average_error",
    "clip_at_zero",
    "clipping_bias",
    "compare_averages",
    "grow",
    "kalman_filter",
    "kalman_smoother",
    "likeliest",
    "log_likelihood",
    "plot_averages",
    "project",
    "rehearse",
    "round_whole",
    "smooth",
    "smooth_view",
    "spectrum",
    "state_space",
    "tighten_band",
]
