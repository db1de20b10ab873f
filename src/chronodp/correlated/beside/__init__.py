"""Neighbouring definitions and mechanisms: the paper's baselines, temporal leakage, the Markov quilt."""

from chronodp.correlated.beside.published import (
    Published,
    age_dependent,
    compare_definitions,
    correlated,
    dependent,
    group_ceiling,
    plain_laplace,
)
from chronodp.correlated.beside.quilt import Quilt, markov_quilt
from chronodp.correlated.beside.temporal import TemporalLeakage, temporal_leakage

__all__ = [
    "Published",
    "Quilt",
    "TemporalLeakage",
    "age_dependent",
    "compare_definitions",
    "correlated",
    "dependent",
    "group_ceiling",
    "markov_quilt",
    "plain_laplace",
    "temporal_leakage",
]
