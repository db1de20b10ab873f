"""Values exact, times blurred: block shuffle, noisy sort, and the Backward, Forward and Threshold mechanisms."""

from chronodp.temporal.block_shuffle import BlockShuffle
from chronodp.temporal.blurred import Blurred
from chronodp.temporal.damage import Damage, UnitCosts, frequency_counting, moving_average
from chronodp.temporal.grids import resample
from chronodp.temporal.mechanisms import Mechanism
from chronodp.temporal.noisy_sort import NoisySort
from chronodp.temporal.pages import report_times
from chronodp.temporal.published.backward import Backward
from chronodp.temporal.published.dispatch import choose_threshold, derived_budget, dispatch_probabilities
from chronodp.temporal.published.forward import Forward
from chronodp.temporal.published.statement import DispatchStatement
from chronodp.temporal.published.threshold import Threshold
from chronodp.temporal.recommend import Recommendation, recommend
from chronodp.temporal.stream import BlurredStream, Released
from chronodp.temporal.tables import BlurredTable, blur_times, release_times

__all__ = [
    "Backward",
    "BlockShuffle",
    "Blurred",
    "BlurredStream",
    "BlurredTable",
    "Damage",
    "DispatchStatement",
    "Forward",
    "Mechanism",
    "NoisySort",
    "Recommendation",
    "Released",
    "Threshold",
    "UnitCosts",
    "blur_times",
    "choose_threshold",
    "derived_budget",
    "dispatch_probabilities",
    "frequency_counting",
    "moving_average",
    "recommend",
    "release_times",
    "report_times",
    "resample",
]
