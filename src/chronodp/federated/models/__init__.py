"""Models for series: what they read, what they predict, and the networks between. Networks need torch."""

from chronodp.federated.models.design import Architecture, Convolution, Linear, ModelDesign, Recurrent
from chronodp.federated.models.inputs import Column, Inputs
from chronodp.federated.models.outcomes import Forecast, Outcome, Risk, loss_of

__all__ = [
    "Architecture",
    "Column",
    "Convolution",
    "Forecast",
    "Inputs",
    "Linear",
    "ModelDesign",
    "Outcome",
    "Recurrent",
    "Risk",
    "loss_of",
]
