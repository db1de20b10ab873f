"""What is read from released numbers, for free: smoothing by what is surely true or supposed, tiers that add up.

Nothing here can spend or draw: the room imports neither the ledger nor randomness, and `make check` holds it to that.
"""

from chronodp.postprocess.columns import Track
from chronodp.postprocess.consistency import Tier, add_up
from chronodp.postprocess.constraints import clip_at_zero, clipping_bias, project, round_whole
from chronodp.postprocess.isotonic import grow, tighten_band
from chronodp.postprocess.kalman import kalman_filter, kalman_smoother
from chronodp.postprocess.likelihood import likeliest, log_likelihood
from chronodp.postprocess.motion import Motion, Trend, Walk
from chronodp.postprocess.moving_average import (
    AverageError,
    NoiseOnAverages,
    NoiseOnReadings,
    Placement,
    average_error,
    compare_averages,
    plot_averages,
)
from chronodp.postprocess.smoothing import Growing, Method, NonNegative, Smoothed, smooth

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
    "round_whole",
    "smooth",
    "tighten_band",
]
