"""Watching a stream and paying for alarms only: the sparse vector technique, and a comparator for single checks."""

from chronodp.alerts.advance import advance as advance, start as start
from chronodp.alerts.alert import Alert
from chronodp.alerts.answer import AlertAnswer
from chronodp.alerts.comparator import Comparator
from chronodp.alerts.design import AlertDesign, design_alert
from chronodp.alerts.noise import Exponential, Laplace, Noise as Noise
from chronodp.alerts.plan import AlertPlan, plan_alert
from chronodp.alerts.probabilities import (
    AlertProbabilities as AlertProbabilities,
    FreshProbabilities as FreshProbabilities,
)
from chronodp.alerts.split import Split, best_split as best_split
from chronodp.alerts.state import AlertState as AlertState

__all__ = [
    "Alert",
    "AlertAnswer",
    "AlertDesign",
    "AlertPlan",
    "Comparator",
    "Exponential",
    "Laplace",
    "Split",
    "design_alert",
    "plan_alert",
]
