"""Choosing privately: exponential mechanism, permute-and-flip, noisy maximum; and the order of a model."""

from chronodp.selection.arima import (
    Blocks as Blocks,
    LeastSquares,
    MaximumLikelihood,
    Order,
    Panel,
    Validation as Validation,
    choose_order,
    losses_of as losses_of,
    orders_up_to,
)
from chronodp.selection.ballots import ClippedRegret, Scoring as Scoring, Votes, tally as tally
from chronodp.selection.choice import Choice
from chronodp.selection.choose import choose
from chronodp.selection.design import ChoiceDesign as ChoiceDesign, design_choice as design_choice
from chronodp.selection.exponential import attempt_exponential as attempt_exponential
from chronodp.selection.mechanisms import (
    ChoiceMechanism as ChoiceMechanism,
    ExponentialMechanism,
    NoisyMax,
    PermuteAndFlip,
)
from chronodp.selection.pick import (
    exponents_of as exponents_of,
    pick as pick,
    pick_runs as pick_runs,
    pick_whole as pick_whole,
)
from chronodp.selection.probabilities import probabilities as probabilities
from chronodp.selection.score_gaps import score_gaps as score_gaps, whole_gaps as whole_gaps
from chronodp.selection.utilities import MonotoneUtilities, Utilities

__all__ = [
    "Choice",
    "ClippedRegret",
    "ExponentialMechanism",
    "LeastSquares",
    "MaximumLikelihood",
    "MonotoneUtilities",
    "NoisyMax",
    "Order",
    "Panel",
    "PermuteAndFlip",
    "Utilities",
    "Votes",
    "choose",
    "choose_order",
    "orders_up_to",
]
