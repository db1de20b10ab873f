"""Sequences that move by each other: what ageing and noise really protect.

A coupling Markov chain (`CouplingMarkovChain`) says how sequences hang together; `leakage` tells what a release of
aged values with noise gives away about the present of any of them.
"""

from chronodp.correlated.budgeted_fit import fit_privately
from chronodp.correlated.chain import CouplingMarkovChain
from chronodp.correlated.fit import fit
from chronodp.correlated.fran import (
    AgedSeries as AgedSeries,
    Fran,
    FranDesign as FranDesign,
    about_the_present as about_the_present,
    design_fran as design_fran,
    release_aged as release_aged,
)
from chronodp.correlated.information import (
    autoregressive_covariance as autoregressive_covariance,
    gaussian_information as gaussian_information,
    snippet_entropy as snippet_entropy,
)
from chronodp.correlated.leakage import Leakage, leakage
from chronodp.correlated.leakage_model import LeakageModel
from chronodp.correlated.model_file import model_to_json as model_to_json, read_model
from chronodp.correlated.published.definitions import Published as Published, compare_definitions as compare_definitions
from chronodp.correlated.published.paper import theorem_1 as theorem_1
from chronodp.correlated.published.quilt import markov_quilt as markov_quilt
from chronodp.correlated.published.sensitivity import (
    correlation_degree as correlation_degree,
    k_sensitivity as k_sensitivity,
)
from chronodp.correlated.published.temporal import temporal_leakage as temporal_leakage
from chronodp.correlated.query import Maximum, Mean, Query as Query, Several, Sum, WeightedSum
from chronodp.correlated.simulate import simulate
from chronodp.correlated.tuning import tune_affine

__all__ = [
    "CouplingMarkovChain",
    "Fran",
    "Leakage",
    "LeakageModel",
    "Maximum",
    "Mean",
    "Several",
    "Sum",
    "WeightedSum",
    "fit",
    "fit_privately",
    "leakage",
    "read_model",
    "simulate",
    "tune_affine",
]
