"""Private state estimation: a linear system, the noise its measurements need, and filter and smoother for both."""

from chronodp.state_space.changes import CausedChange, MeasuredChange, impulse_response as impulse_response
from chronodp.state_space.design import FilterDesign as FilterDesign, design_filter
from chronodp.state_space.filter import Belief as Belief, filter_states as filter_states, first_belief as first_belief
from chronodp.state_space.model import StateSpace
from chronodp.state_space.perturb import perturb as perturb
from chronodp.state_space.planning import errors_by_epsilon, plot_errors, rehearse_filter
from chronodp.state_space.private_filter import PrivateFilter, StateAnswer
from chronodp.state_space.smoother import smooth_states as smooth_states
from chronodp.state_space.steady import error_with_gain as error_with_gain, solve_steady as solve_steady

__all__ = [
    "CausedChange",
    "MeasuredChange",
    "PrivateFilter",
    "StateAnswer",
    "StateSpace",
    "design_filter",
    "errors_by_epsilon",
    "plot_errors",
    "rehearse_filter",
]
