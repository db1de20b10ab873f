"""Private state estimation: a linear system, the noise its measurements need, and filter and smoother for both."""

from chronodp.state_space.changes import CausedChange, Change, MeasuredChange, impulse_response
from chronodp.state_space.design import FilterDesign, design_filter
from chronodp.state_space.filter import filter_states
from chronodp.state_space.model import StateSpace
from chronodp.state_space.planning import Rehearsed, errors_by_epsilon, plot_errors, rehearse_filter
from chronodp.state_space.private_filter import PrivateFilter, StateAnswer
from chronodp.state_space.smoother import smooth_states
from chronodp.state_space.steady import SteadyState, error_with_gain, solve_steady

__all__ = [
    "CausedChange",
    "Change",
    "FilterDesign",
    "MeasuredChange",
    "PrivateFilter",
    "Rehearsed",
    "StateAnswer",
    "StateSpace",
    "SteadyState",
    "design_filter",
    "error_with_gain",
    "errors_by_epsilon",
    "filter_states",
    "impulse_response",
    "plot_errors",
    "rehearse_filter",
    "smooth_states",
    "solve_steady",
]
