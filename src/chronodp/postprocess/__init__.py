"""What is read from released numbers, for free: smoothing by what is surely true or supposed, tiers that add up.

Nothing here can spend or draw: the room imports neither the ledger nor randomness, and `make check` holds it to that.
"""

from chronodp.postprocess.baseline_medians import (
    bonferroni_median_sets as bonferroni_median_sets,
    median_sets as median_sets,
)
from chronodp.postprocess.columns import (
    Estimates as Estimates,
    Floats as Floats,
    NormalEstimates as NormalEstimates,
    as_columns as as_columns,
    as_deviations as as_deviations,
)
from chronodp.postprocess.consistency import Tier, add_up
from chronodp.postprocess.constraints import clip_at_zero, clipping_bias, project as project, round_whole
from chronodp.postprocess.fieller import (
    FiellerSets as FiellerSets,
    Within as Within,
    mixed_sets as mixed_sets,
    quadratic_sets as quadratic_sets,
)
from chronodp.postprocess.isotonic import grow
from chronodp.postprocess.kalman import kalman_filter, kalman_smoother
from chronodp.postprocess.likelihood import likeliest as likeliest, log_likelihood as log_likelihood
from chronodp.postprocess.motion import Motion as Motion, RandomWalk, Trend
from chronodp.postprocess.recursions import chain as chain
from chronodp.postprocess.simultaneous import simultaneous_level as simultaneous_level
from chronodp.postprocess.smoothing import (
    Growing,
    Method as Method,
    NonNegative,
    Smoothed as Smoothed,
    check_method as check_method,
    smooth,
    smooth_within as smooth_within,
)
from chronodp.postprocess.suppression import (
    given_publication as given_publication,
    published_level as published_level,
    reliable_relative as reliable_relative,
)
from chronodp.postprocess.tails import (
    Law as Law,
    deviations as deviations,
    mixed_quantile as mixed_quantile,
    mixed_quantiles as mixed_quantiles,
    quantiles as quantiles,
)

__all__ = [
    "Growing",
    "NonNegative",
    "RandomWalk",
    "Tier",
    "Trend",
    "add_up",
    "clip_at_zero",
    "clipping_bias",
    "grow",
    "kalman_filter",
    "kalman_smoother",
    "round_whole",
    "smooth",
]
