"""Sequences that move by each other: what ageing and noise really protect.

A coupling Markov chain (`CouplingMarkovChain`) says how sequences hang together; `leakage` tells what a release of
aged values with noise gives away about the present of any of them.
"""

from chronodp.correlated.chain import CouplingMarkovChain
from chronodp.correlated.fran import Fran
from chronodp.correlated.gauge import Gauge
from chronodp.correlated.leakage import Leakage, leakage
from chronodp.correlated.query import Maximum, Mean, Query, Several, Sum, WeightedSum
from chronodp.correlated.simulate import simulate

__all__ = [
    "CouplingMarkovChain",
    "Fran",
    "Gauge",
    "Leakage",
    "Maximum",
    "Mean",
    "Query",
    "Several",
    "Sum",
    "WeightedSum",
    "leakage",
    "simulate",
]
