"""Choosing privately: exponential mechanism, permute-and-flip, noisy maximum; and the order of a model."""

from chronodp.selection.arima import (
    Blocks,
    LeastSquares,
    MaximumLikelihood,
    Order,
    Panel,
    Validation,
    choose_order,
    losses_of,
    orders_up_to,
)
from chronodp.selection.ballots import ClippedRegret, Scoring, Votes, tally
from chronodp.selection.choice import Choice
from chronodp.selection.choose import choose
from chronodp.selection.design import ChoiceDesign, design_choice
from chronodp.selection.mechanisms import ChoiceMechanism, ExponentialMechanism, NoisyMax, PermuteAndFlip
from chronodp.selection.pick import pick
from chronodp.selection.probabilities import probabilities
from chronodp.selection.utilities import MonotoneUtilities, Utilities

__all__ = [
    "Blocks",
    "Choice",
    "ChoiceDesign",
    "ChoiceMechanism",
    "ClippedRegret",
    "ExponentialMechanism",
    "LeastSquares",
    "MaximumLikelihood",
    "MonotoneUtilities",
    "NoisyMax",
    "Order",
    "Panel",
    "PermuteAndFlip",
    "Scoring",
    "Utilities",
    "Validation",
    "Votes",
    "choose",
    "choose_order",
    "design_choice",
    "losses_of",
    "orders_up_to",
    "pick",
    "probabilities",
    "tally",
]
