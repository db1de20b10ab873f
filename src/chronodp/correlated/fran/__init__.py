"""FRAN: aged states and Laplace noise, as a stream that is paid for, sealed and resumed."""

from chronodp.correlated.fran.advance import advance
from chronodp.correlated.fran.design import FranDesign
from chronodp.correlated.fran.plan import about_the_present, design_fran, largest_epsilon
from chronodp.correlated.fran.present import AboutThePresent
from chronodp.correlated.fran.series import AgedSeries, release_aged
from chronodp.correlated.fran.state import FranState, begin
from chronodp.correlated.fran.stream import Fran, FranAnswer

__all__ = [
    "AboutThePresent",
    "AgedSeries",
    "Fran",
    "FranAnswer",
    "FranDesign",
    "FranState",
    "about_the_present",
    "advance",
    "begin",
    "design_fran",
    "largest_epsilon",
    "release_aged",
]
