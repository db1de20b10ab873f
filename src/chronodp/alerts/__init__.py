"""Watching a stream and paying for alarms only: the sparse vector technique, and a comparator for single checks."""

from chronodp.alerts.advance import Alarms, advance, start
from chronodp.alerts.alert import Alert
from chronodp.alerts.answer import AlertAnswer
from chronodp.alerts.comparator import Comparator
from chronodp.alerts.design import AlertDesign, design_alert
from chronodp.alerts.noise import Exponential, Laplace, Noise
from chronodp.alerts.odds import FreshOdds, Odds
from chronodp.alerts.plan import AlertPlan, plan_alert
from chronodp.alerts.split import Split, best_split
from chronodp.alerts.state import AlertState

__all__ = [
    "Alarms",
    "Alert",
    "AlertAnswer",
    "AlertDesign",
    "AlertPlan",
    "AlertState",
    "Comparator",
    "Exponential",
    "FreshOdds",
    "Laplace",
    "Noise",
    "Odds",
    "Split",
    "advance",
    "best_split",
    "design_alert",
    "plan_alert",
    "start",
]
