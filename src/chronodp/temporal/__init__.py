"""Values exact, times blurred: block shuffle, noisy sort, and the Backward, Forward and Threshold mechanisms."""

from chronodp.temporal.block_shuffle import BlockShuffle
from chronodp.temporal.blurred import Blurred
from chronodp.temporal.damage import (
    UnitCosts as UnitCosts,
    frequency_counting as frequency_counting,
    moving_average as moving_average,
)
from chronodp.temporal.grids import resample
from chronodp.temporal.mechanisms import Mechanism as Mechanism, Online as Online
from chronodp.temporal.noisy_sort import NoisySort
from chronodp.temporal.pages import report_times
from chronodp.temporal.published.backward import Backward
from chronodp.temporal.published.dispatch import (
    choose_threshold,
    derived_budget as derived_budget,
    dispatch_probabilities as dispatch_probabilities,
)
from chronodp.temporal.published.forward import Forward
from chronodp.temporal.published.printed_start import expected_warm_up as expected_warm_up
from chronodp.temporal.published.statement import DispatchStatement as DispatchStatement
from chronodp.temporal.published.stirling import LONGEST as LONGEST
from chronodp.temporal.published.threshold import Threshold
from chronodp.temporal.recommend import Recommendation as Recommendation, recommend
from chronodp.temporal.stream import BlurredStream, Released as Released
from chronodp.temporal.tables import (
    BlurredTable as BlurredTable,
    blur_times,
    read_blurred as read_blurred,
    release_times,
)

__all__ = [
    "Backward",
    "BlockShuffle",
    "Blurred",
    "BlurredStream",
    "Forward",
    "NoisySort",
    "Threshold",
    "blur_times",
    "choose_threshold",
    "recommend",
    "release_times",
    "report_times",
    "resample",
]
