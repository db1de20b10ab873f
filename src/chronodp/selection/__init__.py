"""Choosing privately: exponential mechanism, permute-and-flip, noisy maximum; and the order of a model."""

from chronodp.selection.choice import Choice
from chronodp.selection.choose import choose
from chronodp.selection.design import ChoiceDesign, design_choice
from chronodp.selection.mechanisms import ChoiceMechanism, ExponentialMechanism, NoisyMax, PermuteAndFlip
from chronodp.selection.pick import pick
from chronodp.selection.probabilities import probabilities
from chronodp.selection.utilities import MonotoneUtilities, Utilities

__all__ = [
    "Choice",
    "ChoiceDesign",
    "ChoiceMechanism",
    "ExponentialMechanism",
    "MonotoneUtilities",
    "NoisyMax",
    "PermuteAndFlip",
    "Utilities",
    "choose",
    "design_choice",
    "pick",
    "probabilities",
]
